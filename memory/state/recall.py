"""Tier L4: important things of any age, found by meaning."""

import asyncio
import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING, Final

import structlog

from memory.errors import EmbeddingUnavailable, StateUnusable
from memory.state.database import Database
from memory.state.importance import IMPORTANT
from memory.state.tiers import SHORT, Remembered, Tiers, remembered
from memory.vectors.embedding import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = structlog.get_logger()

BATCH: Final = 16
"""Summaries made into vectors at a time; between two batches others have the model."""

PROBE: Final = "tea"
"""A text that every model makes a vector of, to tell one that is away from a text that it refuses."""

PAGE: Final = 4096
"""Vectors compared in one read of the database: some milliseconds, so that no write waits for a whole search."""

AGAIN_SECONDS: Final = 600.0
"""Between two tries while no model makes vectors."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Something found by its meaning."""

    item: Remembered
    similarity: float
    """Cosine, -1 to 1."""


class Recall:
    """Makes vectors of the summaries of important things, and finds them by cosine, exactly.

    The vectors lie beside the summaries in the state database: what is erased there is gone here, with one backup and
    one transaction for both. A change of the model makes them all anew; until then the old ones are not compared.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._unfit: set[int] = set()
        """Places of summaries that the model makes no vector of; they are tried again by the next process."""

    async def fill(self) -> int:
        """Make the vectors that are missing, and return how many. Raises `EmbeddingUnavailable`.

        A summary that the model refuses is passed over, so that it holds up no other.
        """
        made = 0
        while waiting := await self._database.read(
            partial(_without_vector, model=self._embedder.name, besides=self._unfit)
        ):
            vectors = await self._vectors([summary for _, summary in waiting])
            pairs = zip(waiting, vectors, strict=True)
            rows = [(seq, summary, _packed(vector)) for (seq, summary), vector in pairs if vector]
            self._unfit.update(seq for (seq, _), vector in zip(waiting, vectors, strict=True) if not vector)
            await self._database.write(partial(_keep, model=self._embedder.name, rows=rows))
            made += len(rows)
        return made

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector a text, an empty one of those that are refused; raises where the model takes none."""
        try:
            return await self._embedder.embed(texts)
        except EmbeddingUnavailable:
            await self._embedder.embed([PROBE])
            return [await self._vector(text) for text in texts]

    async def _vector(self, text: str) -> list[float]:
        try:
            [vector] = await self._embedder.embed([text])
        except EmbeddingUnavailable as error:
            log.warning("vector_refused", reason=str(error))
            return []
        return vector

    async def find(self, about: str, owner_key: str, limit: int = 10) -> list[Recalled]:
        """Return what this owner's memory holds of a meaning, the nearest first. Raises `EmbeddingUnavailable`."""
        [vector] = await self._embedder.embed([about])
        scored: list[tuple[float, int]] = []
        after = 0
        while page := await self._database.read(
            partial(_page, model=self._embedder.name, owner_key=owner_key, after=after)
        ):
            scored = nlargest(limit, [*scored, *_nearest(page, vector, limit)])
            after = page[-1][0]
        items = await self._database.read(partial(_items, places=[seq for _, seq in scored], owner_key=owner_key))
        return [Recalled(items[seq], similarity) for similarity, seq in scored if seq in items]


async def keep_filled(tiers: Tiers, recall: Recall, again: float = AGAIN_SECONDS) -> None:
    """Take over what happens and make vectors of what matters, until cancelled; nothing else calls for it.

    At start it takes over what happened before. Without a model for vectors the tiers fill all the same, and it looks
    again later; so it does while the disk is full.
    """
    while True:
        tiers.changed.clear()
        wait = None
        try:
            await tiers.fill()
            await recall.fill()
        except StateUnusable as error:
            log.warning("tiers_not_filled", reason=str(error))
            wait = again
        except EmbeddingUnavailable as error:
            log.debug("vectors_missing", reason=str(error))
            wait = again
        try:
            async with asyncio.timeout(wait):
                await tiers.changed.wait()
        except TimeoutError:
            continue


def _packed(vector: Sequence[float]) -> bytes:
    """Return a vector as float32 of length 1, little-endian."""
    import numpy as np

    numbers = np.asarray(vector, "<f4")
    length = float(np.linalg.norm(numbers))
    return (numbers / length if length else numbers).tobytes()


def _nearest(page: Sequence[tuple[int, bytes]], vector: Sequence[float], limit: int) -> list[tuple[float, int]]:
    """Return cosine and place of the nearest vectors of a page; those of another length are none."""
    import numpy as np

    asked: NDArray[np.float32] = np.frombuffer(_packed(vector), "<f4")
    fitting = [(seq, blob) for seq, blob in page if len(blob) == asked.nbytes]
    matrix = np.frombuffer(b"".join(blob for _, blob in fitting), "<f4").reshape(len(fitting), len(asked))
    cosines = matrix @ asked
    return [(float(cosines[place]), fitting[place][0]) for place in np.argsort(-cosines)[:limit]]


def _without_vector(connection: sqlite3.Connection, model: str, besides: Collection[int]) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT tier_item.seq, summary FROM tier_item LEFT JOIN tier_vector "
        "ON tier_vector.seq = tier_item.seq AND model = :model "
        f"WHERE importance > {IMPORTANT} AND tier_vector.seq IS NULL "
        "AND tier_item.seq NOT IN (SELECT value FROM json_each(:besides)) "
        f"ORDER BY tier_item.seq DESC LIMIT {BATCH}",
        {"model": model, "besides": json.dumps([*besides])},
    )
    return [(row["seq"], row["summary"]) for row in rows]


def _keep(connection: sqlite3.Connection, model: str, rows: Sequence[tuple[int, str, bytes]]) -> None:
    """Keep vectors of the summaries that still are what the vectors were made of."""
    connection.executemany(
        "INSERT OR REPLACE INTO tier_vector (seq, model, vector) "
        "SELECT seq, ?, ? FROM tier_item WHERE seq = ? AND summary = ?",
        [(model, vector, seq, summary) for seq, summary, vector in rows],
    )


def _page(connection: sqlite3.Connection, model: str, owner_key: str, after: int) -> list[tuple[int, bytes]]:
    rows = connection.execute(
        # CROSS: vectors in their order, each with its item; SQLite would rather sort all items of an owner, each time.
        "SELECT tier_vector.seq, vector FROM tier_vector CROSS JOIN tier_item USING (seq) "
        f"WHERE tier_vector.seq > :after AND owner_key = :owner AND model = :model AND importance > {IMPORTANT} "
        f"ORDER BY tier_vector.seq LIMIT {PAGE}",
        {"after": after, "owner": owner_key, "model": model},
    )
    return [(row["seq"], row["vector"]) for row in rows]


def _items(connection: sqlite3.Connection, places: Sequence[int], owner_key: str) -> dict[int, Remembered]:
    marks = ", ".join("?" * len(places))
    rows = connection.execute(
        f"{SHORT}WHERE tier_item.owner_key = ? AND tier_item.seq IN ({marks})", (owner_key, *places)
    )
    return {row["seq"]: remembered(row) for row in rows}
