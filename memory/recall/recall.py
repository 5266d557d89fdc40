"""Recall over the journal: filled by itself, asked by one question."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING, Final

import structlog

from memory.chinese import has_chinese
from memory.clock import within
from memory.errors import EmbeddingUnavailable, StateUnusable
from memory.recall.index import Index
from memory.recall.question import AGENT, Found, Hit, Question
from memory.recall.search import bring_back, page, rank, with_meaning
from memory.recall.terms import is_common
from memory.state.database import Database
from memory.state.journal import Journal
from memory.state.reader import Reader
from memory.state.tiers import Tiers
from memory.vectors.embedding import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH: Final = 16
"""Texts made into vectors at a time; between two batches others have the model."""

PROBE: Final = "tea"
"""A text that every model makes a vector of, to tell one that is away from a text that it refuses."""

LONGEST: Final = 1_000
"""Characters of a text that its vector is made of; a model reads no more of it."""

PAGE: Final = 4096
"""Vectors compared at a time: 1.6 MB at 384 numbers, whatever the length of the journal."""

NEAR: Final = 1.5
"""Standard deviations above the mean of all cosines from which something is near."""

MOST_NEAR: Final = 50
MOST_FILTERED: Final = 1_000
"""Places that are near; with a speaker or a time asked for, of which those leave some, more of them."""

RECENT: Final = 50
"""Newest items looked at again each time: a reply grows while it is spoken, and loses its vector."""

_SAME: Final = 1e-3
"""Cosines that differ by less are the same: of a single text there is no telling whether it is near."""

_LAST: Final = 2**63 - 1
"""SQLite's largest rowid."""

_NEWEST: Final = "SELECT coalesce(max(id), 0) FROM recall_item"

_SCALE: Final = 127.0
"""A number of a vector, -1 to 1, is kept as one byte: a quarter of the disk, and the same order of neighbours."""


class Meaning:
    """Makes the missing vectors, the newest first, and finds the nearest of a text.

    They lie beside the index, one byte a number. A change of the model makes them all anew; until then the old ones
    are not compared. What was made stays made after a kill.
    """

    def __init__(self, database: Database, reader: Reader, embedder: Embedder) -> None:
        self._database = database
        self._reader = reader
        self._embedder = embedder
        self._whole_up_to = 0
        """Of the index: none is missing there, but what was refused."""
        self._unfit: set[int] = set()
        """Texts that the model makes no vector of; they are tried again by the next process."""

    async def near(self, question: Question, owner_key: str) -> list[int]:
        """Return the places in the index of what is near a question, the nearest first; none where no model is."""
        try:
            [vector] = await self._embedder.embed([question.words[:LONGEST]], "query")
        except EmbeddingUnavailable:
            return []
        is_filtered = question.speaker or question.since or question.until or question.session
        most = MOST_FILTERED if is_filtered else MOST_NEAR
        asked = partial(nearest, vector=vector, model=self._embedder.name, owner_key=owner_key, most=most)
        return await self._reader.look(asked)

    async def fill(self) -> int:
        """Make the vectors that are missing, and return how many. Raises `EmbeddingUnavailable`.

        A text that the model refuses is passed over, so that it holds up no other.
        """
        made, before = 0, _LAST
        newest = await self._reader.look(lambda c: c.execute(_NEWEST).fetchone()[0])
        while waiting := await self._reader.look(
            partial(_without_vector, model=self._embedder.name, after=self._whole_up_to - RECENT, before=before)
        ):
            before = waiting[-1][0]
            fresh = [each for each in waiting if each[0] not in self._unfit]
            vectors = await self._vectors([words for _, words in fresh])
            pairs = list(zip(fresh, vectors, strict=True))
            rows = [(id_, words, packed(vector)) for (id_, words), vector in pairs if vector]
            self._unfit.update(id_ for (id_, _), vector in pairs if not vector)
            await self._database.write(partial(_keep, model=self._embedder.name, rows=rows))
            made += len(rows)
        self._whole_up_to = newest
        return made

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector a text, an empty one of those that are refused; raises where the model takes none."""
        try:
            return await self._embedder.embed(texts, "passage") if texts else []
        except EmbeddingUnavailable:
            await self._embedder.embed([PROBE])
            return [await self._one(text) for text in texts]

    async def _one(self, text: str) -> list[float]:
        try:
            [vector] = await self._embedder.embed([text], "passage")
        except EmbeddingUnavailable as error:
            log.warning("vector_refused", reason=str(error))
            return []
        return vector


def packed(vector: Sequence[float]) -> bytes:
    """Return a vector of length 1 as signed bytes."""
    import numpy as np

    numbers = np.asarray(vector, "<f4")
    length = float(np.linalg.norm(numbers))
    return np.rint(numbers / (length or 1.0) * _SCALE).astype(np.int8).tobytes()


def nearest(
    connection: sqlite3.Connection, vector: Sequence[float], model: str, owner_key: str, most: int
) -> list[int]:
    """Return the places in the index of what is near, the nearest first.

    All vectors of the model are compared, a page at a time. What is near stands out by `NEAR` standard deviations: each
    model has cosines of its own for what has nothing in common.
    """
    import numpy as np

    asked: NDArray[np.float32] = np.frombuffer(packed(vector), np.int8).astype(np.float32)
    asked /= float(np.linalg.norm(asked)) or 1.0
    scored: list[tuple[float, int]] = []
    after = count = 0
    total = squares = 0.0
    while page := connection.execute(
        "SELECT recall_vector.id, vector FROM recall_vector CROSS JOIN recall_item USING (id) "
        f"WHERE recall_vector.id > ? AND owner_key = ? AND model = ? ORDER BY recall_vector.id LIMIT {PAGE}",
        (after, owner_key, model),
    ).fetchall():
        after = page[-1]["id"]
        fitting = [row for row in page if len(row["vector"]) == len(asked)]
        matrix = np.frombuffer(b"".join(row["vector"] for row in fitting), np.int8).reshape(-1, len(asked))
        numbers = matrix.astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
        cosines = (numbers @ asked) / np.maximum(lengths, 1e-9)
        count, total, squares = count + len(page), total + float(cosines.sum()), squares + float(cosines @ cosines)
        best = np.argsort(-cosines)[:most]
        scored = nlargest(most, [*scored, *((float(cosines[n]), int(fitting[n]["id"])) for n in best)])
    mean = total / max(1, count)
    least = mean + NEAR * max(0.0, squares / max(1, count) - mean**2) ** 0.5
    return [id_ for cosine, id_ in scored if cosine > least + _SAME]


def _without_vector(connection: sqlite3.Connection, model: str, after: int, before: int) -> list[tuple[int, str]]:
    """Return the newest texts that have no vector, of those in a range of the index."""
    rows = connection.execute(
        "SELECT recall_item.id, words FROM recall_item LEFT JOIN recall_vector "
        "ON recall_vector.id = recall_item.id AND model = ? WHERE recall_vector.id IS NULL "
        f"AND recall_item.id > ? AND recall_item.id < ? ORDER BY recall_item.id DESC LIMIT {BATCH}",
        (model, after, before),
    )
    return [(row["id"], row["words"][:LONGEST]) for row in rows]


def _keep(connection: sqlite3.Connection, model: str, rows: Sequence[tuple[int, str, bytes]]) -> None:
    """Keep vectors of the texts that still are what the vectors were made of."""
    connection.executemany(
        "INSERT OR REPLACE INTO recall_vector (id, model, vector) "
        f"SELECT id, ?, ? FROM recall_item WHERE id = ? AND substr(words, 1, {LONGEST}) = ?",
        [(model, vector, id_, words) for id_, words, vector in rows],
    )


log = structlog.get_logger()

CATCHES_UP: Final = 3
"""Pages of the journal taken over before a search, so that what was just said or noted is found; more is idle work."""

ANYTHING: Final = "the weather 天气"
"""What needs both stems and characters to be looked for."""

AGAIN_SECONDS: Final = 600.0
"""Between two tries while no model makes vectors."""


class Recall:
    """Finds what was said by either side, and what the agent noted: by words, speaker, time and session.

    Everything comes from the journal by a cursor, and what is erased there is gone here in the same transaction.
    Searches run in a thread and over a connection of their own.
    """

    def __init__(self, journal: Journal, embedder: Embedder) -> None:
        self._index = Index(journal)
        self._reader = Reader(journal.database.path)
        self._embedder = embedder
        self._meaning = Meaning(journal.database, self._reader, embedder)

    async def find(self, question: Question, owner_key: str) -> Found:
        """Return what an owner's memory holds of a question. Raises `StateUnusable`."""
        await self._index.fill(CATCHES_UP)
        ranking = await self._reader.look(partial(rank, question=question, owner_key=owner_key))
        if question.words.strip() and ranking.sureness != "sure":
            near = await self._meaning.near(question, owner_key)
            both = partial(with_meaning, by_words=ranking, near=near, fuses=self._embedder.is_for_search)
            if near:
                ranking = await self._reader.look(partial(both, question=question, owner_key=owner_key))
        return await self._reader.look(partial(page, ranking=ranking, question=question))

    async def all_with(self, words: str, owner_key: str) -> set[str]:
        """Return the ids of the events in which either side said, or the agent noted, all of these words in one breath.

        A word counts within a longer one, whatever its capitals, and however common it is; one of one or two letters
        of an alphabet stands alone. Raises `StateUnusable`.
        """
        await self._index.fill()
        return await self._reader.look(partial(ids_with, words=words, owner_key=owner_key))

    async def brought_back(self, words: str, owner_key: str) -> tuple[Hit, ...]:
        """Return what was said or noted with the rare ones of these words, the best first; at once, without meaning.

        Raises `StateUnusable`.
        """
        return await self._reader.look(partial(bring_back, words=words, owner_key=owner_key))

    async def warm(self) -> None:
        """Load what a search needs, so that the first words of a person bring back what they should. Never raises.

        For that nobody waits long (`agent.context.recollection.SECONDS`).
        """
        with suppress(StateUnusable):
            await self.brought_back(ANYTHING, "")

    async def fill(self, pages: int = -1) -> int:
        """Take over all that the journal has got since the last time; return how many entries.

        Raises `StateUnusable`.
        """
        return await self._index.fill(pages)

    async def embed(self) -> int:
        """Make the vectors that are missing; return how many. Raises `EmbeddingUnavailable`, `StateUnusable`."""
        return await self._meaning.fill()


async def keep_filled(tiers: Tiers, recall: Recall, again: float = AGAIN_SECONDS) -> None:
    """Take over what happens, and make vectors of it, until cancelled; nothing else calls for it.

    At start it takes over what happened before. Without a model for vectors the rest fills all the same, and it looks
    again later; so it does while the disk is full.
    """
    while True:
        tiers.changed.clear()
        wait = None
        try:
            await tiers.fill()
            await recall.fill()
            await recall.embed()
        except StateUnusable as error:
            log.warning("tiers_not_filled", reason=str(error))
            wait = again
        except EmbeddingUnavailable as error:
            log.debug("vectors_missing", reason=str(error))
            wait = again
        await within(wait, tiers.changed)


def holding(words: str) -> Callable[[str], bool]:
    """Return what tells whether a text holds all of these words, whatever their capitals; of no words none does.

    A word counts within a longer one, but for one of one or two letters of an alphabet: that has to stand alone.
    """
    found = [re.compile(_standing(word)) for word in words.casefold().split()]
    return lambda text: bool(found) and all(each.search(text.casefold()) for each in found)


def _standing(word: str) -> str:
    is_short = len(word) <= 2 and word.isalnum() and not has_chinese(word)
    return rf"(?<!\w){re.escape(word)}(?!\w)" if is_short else re.escape(word)


def ids_with(connection: sqlite3.Connection, words: str, owner_key: str) -> set[str]:
    """Return the ids of the events of which one item holds all of these words, common ones too.

    What the agent said itself is looked at for words that tell something only: "I will keep that" is about nobody.
    """
    is_held, tells = holding(words), not is_common(words)
    rows = connection.execute("SELECT event_id, speaker, words FROM recall_item WHERE owner_key = ?", (owner_key,))
    return {row["event_id"] for row in rows if (tells or row["speaker"] != AGENT) and is_held(row["words"])}
