"""Every kind of store that there is, asked in its own words to keep numbers, with a way to go and to come back."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.kept import Kept
from memory.state.database import Database

THINGS = "CREATE TABLE IF NOT EXISTS things (n INTEGER PRIMARY KEY)"

Ask = TypeVar("Ask")
Look: TypeAlias = Callable[[sqlite3.Connection], object]


class Words(Struct, Generic[Ask], frozen=True):
    """What a kind of store is asked."""

    keep: Callable[[Sequence[int]], Ask]
    """To keep numbers, in one change."""
    kept: Ask
    """For them all, ascending."""
    numbers: Callable[[Any], list[int]]
    """What it returned, as numbers."""
    fail_after: Callable[[int], Ask]
    """To keep one and make a mistake in the same change."""


def _insert(numbers: Sequence[int]) -> Look:
    rows = [(number,) for number in numbers]
    return lambda connection: connection.executemany("INSERT INTO things (n) VALUES (?)", rows).rowcount


def _insert_wrongly(number: int) -> Look:
    return lambda connection: (_insert([number])(connection), connection.execute("INSERT INTO nothing VALUES (1)"))


SQL = Words[Look](
    keep=_insert,
    kept=lambda connection: [row["n"] for row in connection.execute("SELECT n FROM things ORDER BY n")],
    numbers=list,
    fail_after=_insert_wrongly,
)
CYPHER = Words[str](
    keep=lambda numbers: f"UNWIND {[*numbers]} AS n CREATE (:Thing {{n: n}})",
    kept="MATCH (t:Thing) RETURN t.n AS n ORDER BY n",
    numbers=lambda found: [row["n"] for row in found.records],
    fail_after=lambda number: f"CREATE (t:Thing {{n: {number}}}) WITH t UNWIND [1, 0] AS d RETURN 1 / d",
)


class Trial(Generic[Ask]):
    """A store on trial: all that is asked of it goes through `Kept`."""

    def __init__(
        self,
        words: Words[Ask],
        store: Kept[Ask, object, object],
        come_back: Callable[[], Awaitable[None]],
        leave: Callable[[], Awaitable[None]],
    ) -> None:
        """`leave` lets go of what is behind the store, `come_back` opens it again, as the next process would."""
        self._words = words
        self._store = store
        self.come_back = come_back
        self._leave = leave

    async def keep(self, *numbers: int) -> None:
        await self._store.write(self._words.keep(numbers))

    async def kept(self) -> list[int]:
        return self._words.numbers(await self._store.read(self._words.kept))

    async def break_in(self, number: int) -> None:
        await self._store.read(self._words.keep([number]))

    async def fail_after(self, number: int) -> None:
        await self._store.write(self._words.fail_after(number))

    async def leave(self) -> None:
        await self._store.close()
        await self._leave()


@asynccontextmanager
async def database(folder: Path, uri: Callable[[], str]) -> AsyncIterator[Trial[Look]]:
    database = Database(folder / "nakari.db")
    trial = Trial(SQL, database, partial(database.open, THINGS), database.close)
    await trial.come_back()
    yield trial
    await trial.leave()


@asynccontextmanager
async def embedded(folder: Path, uri: Callable[[], str]) -> AsyncIterator[Trial[str]]:
    async with EmbeddedStore(folder / "graph") as store:
        trial = Trial(CYPHER, Graph(store), store.start, store.stop)
        yield trial
        await trial.leave()


@asynccontextmanager
async def neo4j(folder: Path, uri: Callable[[], str]) -> AsyncIterator[Trial[str]]:
    async def stays() -> None:
        """A server comes and goes with nobody; the graph connects by itself."""

    graph = Graph(Neo4jServer(uri()))
    await graph.write("MATCH (t:Thing) DETACH DELETE t")
    yield Trial(CYPHER, graph, stays, stays)
    await graph.close()


Opened: TypeAlias = Callable[[Path, Callable[[], str]], AbstractAsyncContextManager[Trial[Any]]]

KINDS: dict[str, Opened] = {"database": database, "embedded": embedded, "neo4j": neo4j}
"""Each keeps what `Kept` promises; one more is one more entry. The callable tells where a Neo4j server is."""
