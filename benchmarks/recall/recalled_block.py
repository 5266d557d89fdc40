"""How often the words of an event bring back the evidence by themselves (`<Recalled>`), so that no query is needed."""

import asyncio
import re
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.context.recollection import LINES, Recalled
from agent.context.tokens import TokenCounter
from agent.event import ASR_TRANSCRIPT, Event
from benchmarks.figure import Figure, Series, run
from benchmarks.recall.corpus import REPORT, UNANSWERABLE, Household, Question, sampled
from benchmarks.recall.feeding import Place
from benchmarks.recall.finders import NakariFinder, opened
from benchmarks.recall.weaving import NAMES, own_households

NAME: Final = "Evidence that a question's words bring back by themselves (more is better)"

SECONDS: Final = 5.0
"""In place of the 50 ms that a spoken turn waits: what is measured is what is found."""

ORDINARY: Final = 200
"""Turns of a household that are asked as they were said: the last ones."""

_ID: Final = re.compile(r"\(id ([0-9a-f]{32})\)")


class Brought(Struct, frozen=True):
    """What a household's questions brought back."""

    saved: float
    """Share of the questions with evidence whose block has some of it."""
    queried: float
    """The same of the first hits of `recall`, as many as a block has lines."""
    absent: float
    """Share of the questions about what nobody said whose block has anything."""
    ordinary: float
    """Share of everyday turns whose block has anything."""
    tokens: tuple[int, ...]
    """Of each block that there is."""


def measure(*, quick: bool = False) -> Figure:
    """Return the shares by household, in percent."""
    households = [sampled(each, REPORT) for each in own_households(NAMES[-1:] if quick else NAMES)]
    found = [asyncio.run(_brought(each)) for each in households]
    absent, ordinary = (statistics.mean(getattr(each, name) for each in found) for name in ("absent", "ordinary"))
    tokens = [count for each in found for count in each.tokens]
    return Figure(
        NAME,
        Series("in <Recalled>, before the model is asked", "%", tuple(100 * each.saved for each in found)),
        Series(f"the first {LINES} hits of recall", "%", tuple(100 * each.queried for each in found)),
        (
            f"Something stands there beside {ordinary:.0%} of everyday turns and {absent:.0%} of questions about what "
            f"nobody said; {statistics.median(tokens):.0f} tokens in the median.",
        ),
    )


async def _brought(household: Household) -> Brought:
    tokens = TokenCounter()
    tokens.load()
    with tempfile.TemporaryDirectory() as folder:
        async with opened(household, Path(folder)) as finder:
            recalled = Recalled(finder.recall, tokens, SECONDS)
            asked = [each for each in household.questions if each.category != UNANSWERABLE]
            absent = [each for each in household.questions if each.category == UNANSWERABLE]
            blocks = {each.id: await _block(recalled, household, each.words) for each in household.questions}
            said = [await _block(recalled, household, turn.words) for turn in household.turns[-ORDINARY:]]
            return Brought(
                _share([bool(_turns(finder, blocks[each.id]) & {*each.evidence}) for each in asked]),
                _share([await _is_queried(finder, each) for each in asked]),
                _share([bool(blocks[each.id]) for each in absent]),
                _share([bool(block) for block in said]),
                tuple(tokens.count(block) for block in (*blocks.values(), *said) if block),
            )


async def _block(recalled: Recalled, household: Household, words: str) -> str:
    return await recalled.lines(Event(ASR_TRANSCRIPT, words, owner_key=household.name), [], ())


async def _is_queried(finder: NakariFinder, question: Question) -> bool:
    return bool({*(await finder.find(question)).hits[:LINES]} & {*question.evidence})


def _turns(finder: NakariFinder, block: str) -> set[str]:
    """Return the turns of the corpus that a block names."""
    ids = _ID.findall(block)
    return {finder.places.get(Place(id_, is_reply), "") for id_ in ids for is_reply in (False, True)}


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / max(1, len(hits))


if __name__ == "__main__":
    run(measure)
