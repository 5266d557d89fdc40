"""Every kind of store that something of hers lasts in, behind one interface, each with a way to go and to come back."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.state.database import Database

THINGS = "CREATE TABLE IF NOT EXISTS things (n INTEGER PRIMARY KEY)"


class Kept(Protocol):
    """A store as the contract sees it: it keeps numbers."""

    async def keep(self, *numbers: int) -> None:
        """Keep them in one change. Raises `MemoryFailure` when it is away."""

    async def kept(self) -> list[int]:
        """Return them, ascending. Raises `MemoryFailure` when it is away."""

    async def break_in(self, number: int) -> None:
        """Try to keep one through the door for reading. Raises whatever that gives."""

    async def fail_after(self, number: int) -> None:
        """Keep one and make a mistake in the same change. Raises whatever that gives."""

    async def leave(self) -> None:
        """Let go of the store."""

    async def come_back(self) -> None:
        """Open it again, as the next process would."""


class InTheDatabase:
    """The state database: journal, mailbox, timers, identities' settings."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "nakari.db"
        self._database = Database(self._path)

    async def come_back(self) -> None:
        self._database = Database(self._path)
        await self._database.open(THINGS)

    async def leave(self) -> None:
        await self._database.close()

    async def keep(self, *numbers: int) -> None:
        await self._database.write(lambda connection: _insert(connection, *numbers))

    async def kept(self) -> list[int]:
        def look(connection: sqlite3.Connection) -> list[int]:
            return [row["n"] for row in connection.execute("SELECT n FROM things ORDER BY n")]

        return await self._database.read(look)

    async def break_in(self, number: int) -> None:
        await self._database.read(lambda connection: _insert(connection, number))

    async def fail_after(self, number: int) -> None:
        def change(connection: sqlite3.Connection) -> None:
            _insert(connection, number)
            connection.execute("INSERT INTO nothing VALUES (1)")

        await self._database.write(change)


def _insert(connection: sqlite3.Connection, *numbers: int) -> None:
    connection.executemany("INSERT INTO things (n) VALUES (?)", [(number,) for number in numbers])


class InAGraph:
    """Her graph, wherever it is."""

    def __init__(self, store: EmbeddedStore | Neo4jServer) -> None:
        self._store = store
        self._graph = Graph(store)

    async def come_back(self) -> None:
        if isinstance(self._store, EmbeddedStore):
            await self._store.start()
        self._graph = Graph(self._store)

    async def leave(self) -> None:
        await self._graph.close()
        if isinstance(self._store, EmbeddedStore):
            await self._store.stop()

    async def keep(self, *numbers: int) -> None:
        await self._graph.write("UNWIND $numbers AS n CREATE (:Thing {n: n})", {"numbers": [*numbers]})

    async def kept(self) -> list[int]:
        found = await self._graph.read("MATCH (t:Thing) RETURN t.n AS n ORDER BY n")
        return [int(str(row["n"])) for row in found.records]

    async def break_in(self, number: int) -> None:
        await self._graph.read("CREATE (:Thing {n: $n})", {"n": number})

    async def fail_after(self, number: int) -> None:
        await self._graph.write("CREATE (t:Thing {n: $n}) WITH t UNWIND [1, 0] AS d RETURN 1 / d", {"n": number})

    async def empty(self) -> None:
        await self._graph.write("MATCH (t:Thing) DETACH DELETE t")


@asynccontextmanager
async def database(folder: Path, uri: Callable[[], str]) -> AsyncIterator[Kept]:
    kept = InTheDatabase(folder)
    await kept.come_back()
    yield kept
    await kept.leave()


@asynccontextmanager
async def embedded(folder: Path, uri: Callable[[], str]) -> AsyncIterator[Kept]:
    async with EmbeddedStore(folder / "graph") as store:
        kept = InAGraph(store)
        yield kept
        await kept.leave()


@asynccontextmanager
async def neo4j(folder: Path, uri: Callable[[], str]) -> AsyncIterator[Kept]:
    kept = InAGraph(Neo4jServer(uri()))
    await kept.empty()
    yield kept
    await kept.leave()


Opened: TypeAlias = Callable[[Path, Callable[[], str]], AbstractAsyncContextManager[Kept]]

KINDS: dict[str, Opened] = {"database": database, "embedded": embedded, "neo4j": neo4j}
"""Each keeps what the contract asks; one more is one more entry. The callable tells where a Neo4j server is."""
