"""What a question costs at 60,000 utterances, beside a bare full-text query, and what it costs the journal's writes.

`python -m benchmarks.recall.speed [UTTERANCES]`: each question is an utterance word for word. The floor is SQLite's
own FTS5 over the same words, ranked by BM25, in the same run.
"""

import asyncio
import logging
import random
import sqlite3
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Final

import structlog

from appliance.wiring.memory.state import open_state
from benchmarks.recall.weaving import own_households
from benchmarks.table import conditions
from memory.recall import Question, Recall
from memory.state.journal import Entry, Journal
from memory.state.tiers import TASK
from memory.vectors.embedding import NoEmbedder

UTTERANCES: Final = 60_000
QUESTIONS: Final = 200
WRITES: Final = 200
PAGE: Final = 1_000

BARE: Final = "SELECT rowid FROM journal_words WHERE journal_words MATCH ? ORDER BY rank LIMIT 10"


def utterances(count: int) -> Iterator[str]:
    """Yield sentences put together from what the households of the corpus say: their words, as often as they do."""
    said = [turn.words for household in own_households() for turn in household.turns]
    spaced = [words.split() for words in said if " " in words]
    chance = random.Random(7)
    for _ in range(count):
        first, second = chance.choice(spaced), chance.choice(spaced)
        yield " ".join((*first[: len(first) // 2 + 1], *second[len(second) // 2 :]))


async def main() -> None:
    """Measure and print."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    count = int(sys.argv[1]) if len(sys.argv) > 1 else UTTERANCES
    with tempfile.TemporaryDirectory(prefix="nakari-speed-") as folder:
        async with open_state(Path(folder)) as state:
            said = list(utterances(count))
            await _journal(state.journal, said)
            recall = Recall(state.journal, NoEmbedder())
            began = perf_counter()
            await recall.fill()
            filled = perf_counter() - began
            asked = random.Random(8).sample(said, QUESTIONS)
            print(conditions())
            print(f"{count} utterances, indexed in {filled:.1f} s")
            own = await _timed(asked, lambda words: recall.find(Question(words), "household"))
            with closing(sqlite3.connect(state.journal.database.path)) as connection:
                bare = await _timed(asked, lambda words: _bare(connection, words))
            _tell("recall", own)
            _tell("bare FTS5", bare)
            print(f"ratio of the medians: {median(own) / median(bare):.2f}")
            alone = await _writes(state.journal)
            async with asyncio.TaskGroup() as group:
                searching = group.create_task(_searching(recall, asked))
                beside = await _writes(state.journal)
                searching.cancel()
            _tell("a write alone", alone)
            _tell("a write beside searches", beside)


async def _journal(journal: Journal, said: list[str]) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for first in range(0, len(said), PAGE):
        entries = [
            Entry(TASK, {"source": "mic", "words": words}, f"e{n}", "", "room", "household", at=start + timedelta(0, n))
            for n, words in enumerate(said[first : first + PAGE], first)
        ]
        await journal.append(*entries, durable=False)


async def _bare(connection: sqlite3.Connection, words: str) -> None:
    terms = " OR ".join(f'"{each}"' for each in words.replace('"', " ").split())
    connection.execute(BARE, (terms,)).fetchall()


async def _timed(asked: list[str], find: Callable[[str], Awaitable[object]]) -> list[float]:
    times = []
    for words in asked:
        began = perf_counter()
        await find(words)
        times.append((perf_counter() - began) * 1000)
    return times


async def _writes(journal: Journal) -> list[float]:
    times = []
    for n in range(WRITES):
        await asyncio.sleep(0.005)
        began = perf_counter()
        await journal.append(Entry("speech.sentence_ended", {"number": n}))
        times.append((perf_counter() - began) * 1000)
    return times


async def _searching(recall: Recall, asked: list[str]) -> None:
    with suppress(asyncio.CancelledError):
        while True:
            for words in asked:
                await recall.find(Question(words), "household")


def _tell(name: str, times: list[float]) -> None:
    print(f"{name}: {median(times):.1f} ms in the median, p95 {quantiles(times, n=20)[-1]:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
