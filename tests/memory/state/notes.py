"""A small schema for tests of the state database: notes, their words in an index, and a trigger that counts them."""

import sqlite3
from collections.abc import Callable
from typing import Final

NOTES: Final = """
CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT UNIQUE);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text);
CREATE TABLE IF NOT EXISTS count (notes INTEGER);
CREATE TRIGGER IF NOT EXISTS counts AFTER INSERT ON notes
BEGIN
    UPDATE count SET notes = notes + 1;
    INSERT INTO words (rowid, text) VALUES (new.id, new.text);
END;
"""


def note(text: object) -> Callable[[sqlite3.Connection], object]:
    """Return a change that adds a note, unless it is there."""
    return lambda connection: (
        connection.execute("INSERT INTO notes (text) VALUES (?) ON CONFLICT (text) DO NOTHING", (text,)).rowcount
    )


def notes(connection: sqlite3.Connection) -> list[object]:
    """Return all notes in their order."""
    return [row["text"] for row in connection.execute("SELECT text FROM notes ORDER BY id")]
