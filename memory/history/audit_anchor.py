"""The audit log's anchor: how long it is and the hash it ends with, kept beside it in the state database."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.errors import StateUnreadable
from memory.state.database import Database

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


@dataclass(frozen=True, slots=True)
class Anchor:
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


async def forget_anchors(database: Database, graph: str) -> None:
    """Forget those of a graph that is no more. Raises `StateUnusable`."""
    await database.write(lambda connection: connection.execute("DELETE FROM audit_anchors WHERE graph = ?", (graph,)))


def anchors_in(path: Path, graph: str = "") -> list[Anchor]:
    """Return the anchors in a state database that another process may be writing: read before the log. Blocking.

    None where there is no database, or none of this version yet. Raises `StateUnreadable`.
    """
    if not path.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)) as connection:
            connection.row_factory = sqlite3.Row
            there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit_anchors'").fetchone()
            return _anchors(connection, graph) if there else []
    except sqlite3.Error as error:
        raise StateUnreadable(f"the audit log's anchor in {path} cannot be read ({error})") from error


def _anchors(connection: sqlite3.Connection, graph: str) -> list[Anchor]:
    rows = connection.execute("SELECT seq, hash FROM audit_anchors WHERE graph = ? ORDER BY seq", (graph,))
    return [Anchor(row["seq"], row["hash"]) for row in rows]
