"""All that a state database holds, for comparing two copies of it."""

import sqlite3
from typing import Final

_OWN: Final = ("%_data", "%_idx", "%_config")
"""Tables in which FTS5 keeps how it stores its index: that may differ where what is found does not."""


def content(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table by its name, and the statements of the schema."""
    tables = [
        row["name"]
        for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        if not row["name"].endswith(tuple(name.removeprefix("%") for name in _OWN))
    ]
    found = {
        table: [tuple(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
        for table in tables
        if _has_two(connection, table)
    }
    found |= {
        table: [tuple(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1")]
        for table in tables
        if table not in found
    }
    found["schema"] = [
        tuple(row) for row in connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name")
    ]
    found["version"] = [tuple(connection.execute("PRAGMA user_version").fetchone())]
    return found


def _has_two(connection: sqlite3.Connection, table: str) -> bool:
    return len(connection.execute(f"PRAGMA table_info({table})").fetchall()) > 1


def turn(connection: sqlite3.Connection) -> None:
    """Wait for one's turn in the database's thread, in which records are applied."""
