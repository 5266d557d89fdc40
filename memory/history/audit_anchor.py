"""What the state database has of the audit log: an anchor, which is its last hash; or all lines, where it is shared."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from memory.history.audit_record import Record
from memory.state.database import Database
from memory.state.reader import read_only

if TYPE_CHECKING:
    from memory.state.replicated import ReplicatedDatabase

EACH: Final = 100
"""Of so many anchors one stays: a log that was written anew is known to be so from within as many records."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS audit_anchors (
    graph TEXT NOT NULL,
    seq   INTEGER NOT NULL,
    hash  TEXT NOT NULL,
    PRIMARY KEY (graph, seq)
) WITHOUT ROWID;
"""
"""For `Database.open`."""

_LINES: Final = """
CREATE TABLE IF NOT EXISTS audit_lines (
    graph   TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    machine TEXT NOT NULL,
    line    BLOB NOT NULL,
    PRIMARY KEY (graph, seq)
) WITHOUT ROWID
"""

AT_ONCE: Final = 500
"""Lines that are put there in one transaction where a log is shared for the first time."""


class Anchor(Struct, frozen=True):
    """What a record of the log is known to be from elsewhere."""

    seq: int
    hash: str


class AuditAnchors:
    """The anchors of one graph's audit log, the newest being its head.

    Order: a record is on the disk before its anchor is written, and the anchor need not last: after a kill or a cut of
    the power it is behind the log, never ahead of it. A log that ends before its anchor was cut off.
    """

    def __init__(self, database: Database, graph: str = "") -> None:
        """`graph` is whose it is, "" the household's."""
        self._database = database
        self._graph = graph

    async def all(self) -> list[Anchor]:
        """Return those there are, in order, the head last. Raises `StateUnusable`."""
        return await self._database.read(lambda connection: _anchors(connection, self._graph))

    async def add(self, anchor: Anchor) -> None:
        """Make it the head, in whatever order they come. Raises `StateUnusable`."""

        def change(connection: sqlite3.Connection) -> None:
            row = {"graph": self._graph, "seq": anchor.seq, "hash": anchor.hash, "each": EACH}
            connection.execute("INSERT OR REPLACE INTO audit_anchors VALUES (:graph, :seq, :hash)", row)
            connection.execute("DELETE FROM audit_anchors WHERE graph = :graph AND seq < :seq AND seq % :each", row)

        await self._database.write(change, durable=False)


class SharedLine(Struct, frozen=True):
    """A line of the log, and who wrote it."""

    machine: str
    line: bytes


class AuditLines:
    """The lines of one graph's audit log, in the order written, with their contents until these are erased.

    A line is here, and so on the engine's disk, before it is in the log's file, and so before what it tells of happens:
    of a machine that no longer leads it is refused.
    """

    def __init__(self, database: "ReplicatedDatabase", graph: str = "") -> None:
        """`graph` is whose log it is, "" the household's."""
        self._database = database
        self._graph = graph

    @property
    def machine(self) -> str:
        """The name of the machine that writes."""
        return self._database.position.machine

    async def after(self, seq: int) -> Sequence[SharedLine]:
        """Return the lines behind that number, in order. Raises `StateUnusable`."""

        def look(connection: sqlite3.Connection) -> list[SharedLine]:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit_lines'").fetchone():
                return []
            rows = connection.execute(
                "SELECT machine, line FROM audit_lines WHERE graph = ? AND seq > ? ORDER BY seq", (self._graph, seq)
            )
            return [SharedLine(row["machine"], bytes(row["line"])) for row in rows]

        return await self._database.read(look)

    async def add(self, record: Record) -> None:
        """Add a record behind those there are. Raises `StateUnusable`; an `Unconfirmed` one may come all the same."""
        await self._insert("INSERT INTO", [record])

    async def share(self, records: Sequence[Record]) -> None:
        """Put there what the log has that is shared from now on, but what is there. Raises `StateUnusable`."""
        for first in range(0, len(records), AT_ONCE):
            await self._insert("INSERT OR IGNORE INTO", records[first : first + AT_ONCE])

    async def _insert(self, how: str, records: Sequence[Record]) -> None:
        rows = [(self._graph, each.seq, self.machine, each.to_line()) for each in records]

        def change(connection: sqlite3.Connection) -> None:
            connection.execute(_LINES)
            connection.executemany(f"{how} audit_lines VALUES (?, ?, ?, ?)", rows)

        await self._database.write(change)

    async def erase(self, without: Mapping[int, bytes]) -> None:
        """Put lines without their contents in the place of those of these numbers. Raises `StateUnusable`."""
        rows = [(line, self._graph, seq) for seq, line in without.items()]

        def change(connection: sqlite3.Connection) -> None:
            connection.executemany("UPDATE audit_lines SET line = ? WHERE graph = ? AND seq = ?", rows)

        if rows:
            await self._database.write(change)


async def forget_anchors(database: Database, graph: str) -> None:
    """Forget those of a graph that is no more. Raises `StateUnusable`."""
    await database.write(lambda connection: connection.execute("DELETE FROM audit_anchors WHERE graph = ?", (graph,)))


def anchors_in(path: Path, graph: str = "") -> list[Anchor]:
    """Return the anchors in a state database that another process may be writing: read before the log. Blocking.

    None where there is no database, or none of this version yet. Raises `StateUnreadable`.
    """
    if not path.exists():
        return []
    with read_only(path) as connection:
        there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit_anchors'").fetchone()
        return _anchors(connection, graph) if there else []


def _anchors(connection: sqlite3.Connection, graph: str) -> list[Anchor]:
    rows = connection.execute("SELECT seq, hash FROM audit_anchors WHERE graph = ? ORDER BY seq", (graph,))
    return [Anchor(row["seq"], row["hash"]) for row in rows]
