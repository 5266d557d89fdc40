"""Names of a graph that queries named or returned, by owner and day: what nobody asks for is told by memory_schema."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

import structlog

from memory.errors import StateUnusable
from memory.graph.cypher import tokens
from memory.json_value import Json
from memory.state.database import Database

MOST_NAMES: Final = 20_000
"""Names that are kept of a graph; past them, and at a start, the newest half stays, so that there is room again."""

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
"""For `Database.open`. The row without owner and digest has the moment when counting began, as its day."""

_BEGAN: Final = ("", "")

log = structlog.get_logger()


class Asked:
    """The names asked for in one graph, with the day of the last time; nothing of it is in the graph.

    By name and not by node, because a store's ids change; as digests, so that no word is kept of what is erased.
    Written down some time later, and only what is new or was seen on another day: a kill may lose the last minute.
    Without a database it is forgotten with the process.
    """

    def __init__(
        self, database: Database | None = None, graph: str = "", now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`graph` is whose it is, "" the household's; `now` gives aware UTC."""
        self._database = database
        self._graph = graph
        self._now = now
        self._days = {_BEGAN: now().isoformat(timespec="seconds")}
        """ISO dates, by owner and digest."""
        self._unsaved = {_BEGAN}
        self._is_thinned = False
        """Whether names were dropped that are written down yet."""
        self._is_loaded = database is None
        self._seen = asyncio.Event()

    @property
    def since(self) -> str:
        """When counting began, ISO 8601 in UTC."""
        return self._days[_BEGAN]

    def saw(self, owner_key: str, cypher: str, records: Iterable[Json]) -> None:
        """Take note of a query that was answered. Raises `GraphRefused` for a statement that is none."""
        day = self._now().date().isoformat()
        for name in _names_of(cypher, records):
            key = (owner_key, _digest(name))
            if self._days.get(key) != day:
                if len(self._days) >= MOST_NAMES and key not in self._days:
                    self._drop_oldest()
                self._days[key] = day
                self._unsaved.add(key)
                self._seen.set()

    def never(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that no query named or returned."""
        asked = {digest for _, digest in self._days}
        return sorted(name for name in names if _digest(name) not in asked)

    async def load(self) -> None:
        """Take up what was written down; once, and told in the log when it cannot be read."""
        if self._database is not None and not self._is_loaded:
            try:
                kept = await self._database.write(self._newest, durable=False)
            except StateUnusable as error:
                log.warning("asked_names_not_read", reason=str(error))
                return
            self._is_loaded = True
            self._unsaved -= {_BEGAN} & kept.keys()
            self._days |= {key: day for key, day in kept.items() if key not in self._days or key == _BEGAN}

    async def keep(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Write down what is new, some time after it was seen, until cancelled."""
        while True:
            await self._seen.wait()
            await pause(PAUSE)
            await self.save()

    async def save(self) -> None:
        """Write down what is new; told in the log when the disk takes nothing, and tried again with the next names."""
        self._seen.clear()
        await self.load()
        if self._database is None or not self._is_loaded or len(self._days) == 1:
            return
        days, is_whole = self._days, self._is_thinned
        written = {key: days[key] for key in (days if is_whole else self._unsaved)}
        try:
            await self._database.write(lambda c: self._put(c, written, is_whole=is_whole), durable=False)
        except StateUnusable as error:
            log.warning("asked_names_not_written", reason=str(error))
            return
        self._unsaved -= {key for key, day in written.items() if self._days.get(key) == day}
        self._is_thinned &= self._days is not days  # they were dropped again meanwhile

    async def forget(self, owner_key: str) -> None:
        """Forget what an owner asked for, here and in a graph of their own. Raises `StateUnusable`."""
        self._days = {key: day for key, day in self._days.items() if key[0] != owner_key}
        self._unsaved &= self._days.keys()
        if self._database is not None:
            statement = "DELETE FROM graph_asked WHERE owner_key = ? OR graph = ?"
            await self._database.write(lambda c: c.execute(statement, (owner_key, owner_key)))

    def _drop_oldest(self) -> None:
        """Make room: the newest half stays."""
        by_age = sorted(self._days, key=lambda key: (key == _BEGAN, self._days[key]))
        self._days = {key: self._days[key] for key in by_age[len(by_age) // 2 :]}
        self._unsaved &= self._days.keys()
        self._is_thinned = True

    def _put(self, connection: sqlite3.Connection, days: dict[tuple[str, str], str], *, is_whole: bool) -> None:
        """Write these down, with `is_whole` in the place of all that was."""
        if is_whole:
            connection.execute("DELETE FROM graph_asked WHERE graph = ?", (self._graph,))
        rows = [(self._graph, *key, day) for key, day in days.items()]
        connection.executemany("INSERT OR REPLACE INTO graph_asked VALUES (?, ?, ?, ?)", rows)

    def _newest(self, connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
        """Return the newest half of what may be kept; the rest goes."""
        found = connection.execute(
            "SELECT owner_key, digest, day FROM graph_asked WHERE graph = ? ORDER BY digest <> '', day DESC",
            (self._graph,),
        ).fetchall()
        most = MOST_NAMES // 2
        gone = [(self._graph, row["owner_key"], row["digest"]) for row in found[most:]]
        connection.executemany("DELETE FROM graph_asked WHERE graph = ? AND owner_key = ? AND digest = ?", gone)
        return {(row["owner_key"], row["digest"]): row["day"] for row in found[:most]}


def _names_of(cypher: str, records: Iterable[Json]) -> set[str]:
    """Return the names that a statement may name, variables too, and those in what it returned."""
    named = {token.text.strip("`").replace("``", "`") for token in tokens(cypher) if token.kind in ("word", "name")}
    return named | {name for record in records for name in _names_in(record)}


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
