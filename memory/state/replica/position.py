"""How far a copy of the household's state follows the log: kept in the file itself, in the transaction it tells of."""

import sqlite3
from typing import Final

from msgspec import Struct

TABLE: Final = "log_position"

_SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS {TABLE} (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    household TEXT NOT NULL,
    position  INTEGER NOT NULL,
    digest    TEXT NOT NULL,
    epoch     INTEGER NOT NULL,
    machine   TEXT NOT NULL
)
"""


class Position(Struct, frozen=True):
    """The last record that a file holds."""

    household: str
    """Whose log it is."""
    position: int = 0
    """In the log; 0 is before the first record."""
    digest: str = ""
    """Of that record (`memory.state.replica.copying.digest_of`), "" before the first."""
    epoch: int = 0
    """The writer's, 0 before the first."""
    machine: str = ""
    """The writer's name."""


def is_copy(connection: sqlite3.Connection) -> bool:
    """Whether the file follows a log."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)).fetchone() is not None


def is_blank(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever kept in the file."""
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def position_in(connection: sqlite3.Connection) -> Position | None:
    """Return how far the file follows a log, None when it follows none."""
    if not is_copy(connection):
        return None
    row = connection.execute(f"SELECT household, position, digest, epoch, machine FROM {TABLE}").fetchone()
    return None if row is None else Position(*row)


def note(connection: sqlite3.Connection, at: Position) -> None:
    """Keep how far the file follows the log, in the transaction under way."""
    connection.execute(_SCHEMA)
    values = (at.household, at.position, at.digest, at.epoch, at.machine)
    connection.execute(f"INSERT OR REPLACE INTO {TABLE} VALUES (1, ?, ?, ?, ?, ?)", values)


def leave(connection: sqlite3.Connection) -> None:
    """Make a copy a file of its own, which follows no log any more."""
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
