"""Everything of an owner taken out of the journal, some entries at a time; digests stay."""

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Final

from memory.state.database import Database
from memory.state.journal import ERASED, erase_body, merge_index

PAGE: Final = 200
"""Entries erased in one transaction: everybody else waits for it, some milliseconds."""


async def erase_entries(database: Database, owner_key: str, progress: Callable[[int, int], None]) -> int:
    """Erase every entry of an owner as `Journal.erase` does, and the names of their sessions; return how many.

    The tiers let go of them in the same transactions. Broken off, it is gone on with by calling it again;
    `Database.rewrite` then leaves nothing of them in the file. Raises `StateUnusable`, and what `progress` raises.
    """
    last = await database.read(lambda c: c.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0])
    erased = after = 0
    while True:
        found, after = await database.write(partial(_erase_page, owner_key=owner_key, after=after))
        if not found:
            break
        erased += found
        progress(after, last)
    if erased:
        await database.write(merge_index)
    return erased


def _erase_page(connection: sqlite3.Connection, owner_key: str, after: int) -> tuple[int, int]:
    """Erase some entries behind a place; return how many, and the place of the last."""
    rows = connection.execute(
        f"SELECT seq, body FROM journal WHERE owner_key = ? AND seq > ? AND body ->> '{ERASED}' IS NULL "
        "ORDER BY seq LIMIT ?",
        (owner_key, after, PAGE),
    ).fetchall()
    for row in rows:
        erase_body(connection, row)
        connection.execute("UPDATE journal SET session_id = '' WHERE seq = ?", (row["seq"],))
    return len(rows), rows[-1]["seq"] if rows else after
