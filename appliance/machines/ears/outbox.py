"""What the ears owe the mind, in order: on the disk from the moment it is said until the engine has it."""

import sqlite3
from collections.abc import Collection
from typing import Final, Literal

from msgspec import Struct

from memory.state.database import Database

State = Literal["kept", "tried", "here"]
"""kept: nobody was given it. tried: the engine was, and may have it. here: this machine's own agent was given it."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS outbox (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id    TEXT NOT NULL UNIQUE,
    kind  TEXT NOT NULL,
    body  TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'kept' CHECK (state IN ('kept', 'tried', 'here'))
);
CREATE TABLE IF NOT EXISTS outbox_timers (
    id           TEXT PRIMARY KEY,
    is_confirmed INTEGER NOT NULL          -- the mind has told of it itself
) WITHOUT ROWID;
"""


class Owed(Struct, frozen=True):
    """One thing that waits for the mind."""

    id: str
    """Of the event, or of its own."""
    kind: str
    """Of message."""
    body: str
    """JSON."""
    state: State


class Outbox:
    """A durable first-in first-out queue with one reader, in the state database of the ears.

    Order: as added. Loss: none that `add` returned for. Every method raises `StateUnusable`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self) -> None:
        """Make the tables where they are missing."""

        def make(connection: sqlite3.Connection) -> None:
            for statement in filter(str.strip, SCHEMA.split(";")):
                connection.execute(statement)

        await self._database.write(make)

    async def add(self, id_: str, kind: str, body: str) -> bool:
        """Keep one more at the end; False when one of this id waits already."""

        def put(connection: sqlite3.Connection) -> bool:
            return _put(connection, id_, kind, body)

        return await self._database.write(put)

    async def oldest(self) -> Owed | None:
        """Return what is to go next."""
        waiting = await self.waiting(1)
        return waiting[0] if waiting else None

    async def waiting(self, limit: int = -1) -> list[Owed]:
        """Return what waits, the oldest first; all where no limit is given."""
        query = "SELECT id, kind, body, state FROM outbox ORDER BY place LIMIT ?"
        return await self._database.read(lambda c: [Owed(*row) for row in c.execute(query, (limit,))])

    async def move(self, id_: str, state: State, *, durable: bool = True) -> None:
        """Take that another one was given it; not `durable` it outlives a kill, and not a cut of the power."""
        order = "UPDATE outbox SET state = ? WHERE id = ?"
        await self._database.write(lambda c: c.execute(order, (state, id_)), durable=durable)

    async def remove(self, *ids: str) -> None:
        """Take that the engine has these, or that they are to be forgotten."""
        await self._database.write(lambda c: c.executemany("DELETE FROM outbox WHERE id = ?", [(id_,) for id_ in ids]))

    async def known_timers(self, *, confirmed: bool = False) -> set[str]:
        """Return the ids of the timers that the mind is told of; `confirmed` those that it told of itself."""
        query = f"SELECT id FROM outbox_timers{' WHERE is_confirmed' if confirmed else ''}"
        return await self._database.read(lambda c: {str(row[0]) for row in c.execute(query)})

    async def confirm_timers(self, ids: Collection[str]) -> None:
        """Take that the mind told of these timers."""
        order = "INSERT INTO outbox_timers VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET is_confirmed = 1"
        await self._database.write(lambda c: c.executemany(order, [(id_,) for id_ in ids]))

    async def forget_timer(self, id_: str) -> None:
        """Take that a timer is over."""
        await self._database.write(lambda c: c.execute("DELETE FROM outbox_timers WHERE id = ?", (id_,)))

    async def add_timer(self, id_: str, kind: str, body: str) -> None:
        """Keep a timer for the mind that was set here; in one transaction with that it will know of it."""

        def put(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR IGNORE INTO outbox_timers VALUES (?, 0)", (id_,))
            _put(connection, id_, kind, body)

        await self._database.write(put)


def _put(connection: sqlite3.Connection, id_: str, kind: str, body: str) -> bool:
    order = "INSERT INTO outbox (id, kind, body) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"
    return connection.execute(order, (id_, kind, body)).rowcount > 0
