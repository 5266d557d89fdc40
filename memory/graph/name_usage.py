"""Which names of a graph queries named or returned: memory_schema tells those that nobody ever asked for."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

import structlog

from memory.errors import StateUnusable
from memory.graph.cypher import Statement
from memory.json_value import Json
from memory.state.database import Database

MOST_NAMES: Final = 20_000
"""Names that are kept of a graph; past them the newest stay."""

PAUSE: Final = 60.0
"""Seconds that what was seen waits, so that a turn's queries cost no commit."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS graph_asked (
    graph     TEXT NOT NULL,
    owner_key TEXT NOT NULL,
    digest    TEXT NOT NULL,
    day       TEXT NOT NULL,
    PRIMARY KEY (graph, owner_key, digest)
) WITHOUT ROWID;
"""
"""For `Database.open`. The row without owner and digest has the moment when counting began in place of a day."""

log = structlog.get_logger()


class NameUsage:
    """The names that were asked for in one graph, with the day of the last time; nothing of it is in the graph.

    By name and not by node, because a store's ids change; as digests, so that no word is kept of what is erased.
    Written down some time later, and a name once a day: a kill may lose the last minute. Without a database it is
    forgotten with the process.
    """

    def __init__(
        self, database: Database | None = None, graph: str = "", now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`graph` is whose it is, "" the household's; `now` gives aware UTC."""
        self._database = database
        self._graph = graph
        self._now = now
        self._began = now().isoformat(timespec="seconds")
        self._days: dict[tuple[str, str], str] = {}
        """ISO date by owner and digest, of what this process saw."""
        self._unsaved = set[tuple[str, str]]()
        self._seen = asyncio.Event()

    def saw(self, owner_key: str, statement: Statement, records: Iterable[Json]) -> None:
        """Take note of a query that was answered."""
        day = self._now().date().isoformat()
        for name in statement.names.union(*(_names_in(record) for record in records)):
            key = (owner_key, _digest(name))
            if self._days.get(key) != day:
                if len(self._days) >= MOST_NAMES:
                    self._days = {key: self._days[key] for key in self._unsaved} if self._database else {}
                self._days[key] = day
                self._unsaved.add(key)
                self._seen.set()

    async def never(self, names: Iterable[str]) -> tuple[list[str], str]:
        """Return those of the names that no query named or returned, and since when that was counted (ISO 8601)."""
        asked, since = {digest for _, digest in self._days}, self._began
        if self._database is not None:
            try:
                rows = await self._database.read(self._read)
            except StateUnusable as error:
                log.warning("name_usage_not_read", reason=str(error))
                rows = []
            asked |= {digest for digest, _ in rows}
            since = min([since, *(day for digest, day in rows if not digest)])
        return sorted(name for name in names if _digest(name) not in asked), since

    async def run(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Write down what is new, some time after it was seen, until cancelled."""
        while True:
            await self._seen.wait()
            await pause(PAUSE)
            await self.save()

    async def save(self) -> None:
        """Write down what is new; told in the log when the disk takes nothing, and tried again with the next names."""
        self._seen.clear()
        if self._database is None or not self._unsaved:
            return
        written = {key: self._days[key] for key in self._unsaved}
        try:
            await self._database.write(lambda connection: self._put(connection, written), durable=False)
        except StateUnusable as error:
            log.warning("name_usage_not_written", reason=str(error))
            return
        self._unsaved -= {key for key, day in written.items() if self._days.get(key) == day}

    async def forget(self, owner_key: str) -> None:
        """Forget what an owner asked for, here and in a graph of their own. Raises `StateUnusable`."""
        self._days = {key: day for key, day in self._days.items() if key[0] != owner_key}
        self._unsaved &= self._days.keys()
        if self._database is not None:
            statement = "DELETE FROM graph_asked WHERE owner_key = ? OR graph = ?"
            await self._database.write(lambda connection: connection.execute(statement, (owner_key, owner_key)))

    def _read(self, connection: sqlite3.Connection) -> list[tuple[str, str]]:
        rows = connection.execute("SELECT digest, day FROM graph_asked WHERE graph = ?", (self._graph,))
        return [(row["digest"], row["day"]) for row in rows]

    def _put(self, connection: sqlite3.Connection, days: dict[tuple[str, str], str]) -> None:
        connection.execute("INSERT OR IGNORE INTO graph_asked VALUES (?, '', '', ?)", (self._graph, self._began))
        rows = [(self._graph, *key, day) for key, day in days.items()]
        connection.executemany("INSERT OR REPLACE INTO graph_asked VALUES (?, ?, ?, ?)", rows)
        connection.execute(
            "DELETE FROM graph_asked WHERE graph = :graph AND digest <> '' AND (owner_key, digest) NOT IN "
            "(SELECT owner_key, digest FROM graph_asked WHERE graph = :graph AND digest <> '' "
            "ORDER BY day DESC LIMIT :most)",
            {"graph": self._graph, "most": MOST_NAMES},
        )


def _digest(name: str) -> str:
    return blake2b(name.encode(errors="replace"), digest_size=8).hexdigest()


def _names_in(value: Json) -> Iterable[str]:
    """Yield labels, type and property keys of every node and relationship in a record, and its columns."""
    match value:
        case {"elementId": _, "properties": dict() as properties, **rest}:
            yield from properties
            labels = rest.get("labels", [])
            yield from (str(label) for label in (labels if isinstance(labels, list) else []))
            if "type" in rest:
                yield str(rest["type"])
        case dict():
            for item in value.values():
                yield from _names_in(item)
        case list():
            for item in value:
                yield from _names_in(item)
