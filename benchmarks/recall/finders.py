"""Who is asked: nakari's recall over a journal in a file, and two peers over the bare words, BM25 and cosine."""

import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from appliance.wiring.memory.state import open_state
from benchmarks.recall.corpus import AGENT, Household, Question
from benchmarks.recall.feeding import Place, feed
from memory.recall import Hit, Line, Recall
from memory.recall import Question as Asking
from memory.state.words import segmented
from memory.vectors.embedding import Embedder, NoEmbedder

MOST: Final = 20
"""Hits that are looked at."""


class Answer(Struct, frozen=True):
    """What a finder gives to a question."""

    hits: tuple[str, ...]
    """Ids of turns, the best first, each once."""
    shown: tuple[frozenset[str], ...]
    """With each hit the ids that are shown with it: its own and its neighbours'."""
    sureness: str = ""
    """As `Recall` words it; "" where the finder does not say. No hit at all is "nothing" with every finder."""


class Finder(Protocol):
    """Finds turns of the household that it was opened for."""

    @property
    def name(self) -> str:
        """Its name in the table."""

    async def find(self, question: Question) -> Answer:
        """Return at most `MOST` hits."""


class NakariFinder(Struct, frozen=True):
    """nakari's recall, over a journal that has everything at its date."""

    recall: Recall
    owner: str
    places: Mapping[Place, str]
    size: int
    """Bytes of the state database after everything was taken in."""
    has_filters: bool
    """Whether speaker and time of a question are asked for too, as a model would."""
    name: str = "nakari"

    async def find(self, question: Question) -> Answer:
        """Return what recall finds, as turns of the corpus."""
        asked = Asking(question.words, limit=MOST)
        if self.has_filters:
            asked = replace(asked, speaker=question.speaker, since=question.since, until=question.until)
        found = await self.recall.find(asked, self.owner)
        shown = tuple(frozenset(map(self._turn, hit.before + hit.after)) | {self._turn(hit)} for hit in found.hits)
        return Answer(tuple(map(self._turn, found.hits)), shown, found.sureness)

    def _turn(self, line: Hit | Line) -> str:
        return self.places.get(Place(line.id, line.speaker == AGENT), "")


@asynccontextmanager
async def opened(
    household: Household, folder: Path, embedder: Embedder | None = None, *, has_filters: bool = True
) -> AsyncIterator[NakariFinder]:
    """Feed a household into a journal of its own in an empty folder, and give what finds in it."""
    async with open_state(folder) as state:
        places = await feed(household, state.journal)
        recall = Recall(state.journal, embedder or NoEmbedder())
        await recall.fill()
        if embedder is not None:
            await recall.embed()
        size = await state.journal.database.read(_size)
        yield NakariFinder(recall, household.name, places, size, has_filters)


class Bm25Finder:
    """SQLite's BM25 over the words of the turns: any word of the question, no stems; of Chinese each character."""

    name = "BM25"

    def __init__(self, household: Household) -> None:
        self._ids = [turn.id for turn in household.turns]
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE turn USING fts5 (words)")
        rows = [(place, segmented(turn.words)) for place, turn in enumerate(household.turns)]
        self._connection.executemany("INSERT INTO turn (rowid, words) VALUES (?, ?)", rows)

    def close(self) -> None:
        """Let go of the table."""
        self._connection.close()

    async def find(self, question: Question) -> Answer:
        """Return the turns with any of the words, by rank."""
        letters = "".join(each if each.isalnum() else " " for each in segmented(question.words))
        terms = " OR ".join(f'"{term}"' for term in dict.fromkeys(letters.split()))
        rows = (
            self._connection.execute(f"SELECT rowid FROM turn (?) ORDER BY rank LIMIT {MOST}", (terms,))
            if terms
            else ()
        )
        return ranked(self._ids[place] for (place,) in rows)


class CosineFinder:
    """An embedder's vectors of every turn, compared with the question's exactly."""

    name = "cosine"

    def __init__(self, household: Household, embedder: Embedder) -> None:
        self._turns = household.turns
        self._embedder = embedder
        self._matrix: NDArray[np.float32] | None = None

    async def find(self, question: Question) -> Answer:
        """Return the nearest turns; the first call makes the vectors of all."""
        if self._matrix is None:
            self._matrix = np.array(
                await self._embedder.embed([turn.words for turn in self._turns], "passage"), np.float32
            )
        [vector] = await self._embedder.embed([question.words], "query")
        nearest = np.argsort(-(self._matrix @ np.array(vector, np.float32)), kind="stable")[:MOST]
        return ranked(self._turns[place].id for place in nearest)


def ranked(ids: Iterable[str]) -> Answer:
    """Return an answer of turns without neighbours; "" stands for a hit that is no turn of the corpus."""
    hits = tuple(dict.fromkeys(ids))[:MOST]
    return Answer(hits, tuple(frozenset({hit}) for hit in hits))


def _size(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute(
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    ).fetchone()
    return int(size)
