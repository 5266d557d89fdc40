"""Snapshots of the state on the engine: a whole copy of the file at one position, so that the log before it may go."""

import asyncio
import gzip
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from memory.engine.interface import Blobs, Engine
from memory.errors import StateUnusable
from memory.state.reader import read_only
from memory.state.replica.position import position_in

PREFIX: Final = "state."
"""What the name of every snapshot begins with; its position follows, with zeros before it, so that names sort."""

LEVEL: Final = 1
"""Of gzip (RFC 1952)."""

BYTES: Final = 32 * 1024 * 1024
"""Of the log, after which a snapshot is due in any case."""


def name_of(position: int) -> str:
    """Return the name of the snapshot at a position."""
    return f"{PREFIX}{position:015d}"


def position_of(name: str) -> int:
    """Return the position of a snapshot."""
    return int(name.removeprefix(PREFIX))


async def snapshots(blobs: Blobs) -> Sequence[str]:
    """Return the names of all snapshots, the newest last. Raises `EngineUnreachable`."""
    return [name for name in await blobs.names() if name.startswith(PREFIX)]


async def drop_before(engine: Engine, position: int, *, most: int) -> None:
    """Leave so many snapshots up to a position, the newest, and the log behind the oldest of them.

    Raises `EngineUnreachable`, `OutcomeUnknown`.
    """
    names = [name for name in await snapshots(engine.blobs) if name <= name_of(position)]
    for name in names[:-most]:
        await engine.blobs.delete(name)
    if len(names) >= most:
        await engine.log.drop_through(position_of(names[-most]))


def make(path: Path, packed: Path) -> int:
    """Write a copy of the state database, compressed; return its position. Blocking; holds up no write.

    The copy is compact: nothing is in it of what was deleted. Raises `StateUnreadable`, OSError.
    """
    plain = packed.with_suffix(".plain")
    plain.unlink(missing_ok=True)
    try:
        with read_only(path) as connection:
            connection.execute("VACUUM INTO ?", (str(plain),))
        with read_only(plain) as copy:
            at = position_in(copy)
        with plain.open("rb") as source, gzip.open(packed, "wb", LEVEL) as target:
            shutil.copyfileobj(source, target)
    finally:
        plain.unlink(missing_ok=True)
    return at.position if at else 0


def put_into(connection: sqlite3.Connection, packed: Path) -> None:
    """Replace all that a database holds by a snapshot, also while others read it. Blocking.

    Raises `StateUnusable` when the snapshot is torn, OSError, sqlite3.Error.
    """
    plain = packed.with_suffix(".plain")
    try:
        with gzip.open(packed, "rb") as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target)
        with closing(sqlite3.connect(plain)) as copy:
            copy.backup(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a reader may hold it up; later ones take it along
    except (EOFError, gzip.BadGzipFile) as error:
        raise StateUnusable("the newest snapshot on the engine is torn; restart nakari where the mind is") from error
    finally:
        plain.unlink(missing_ok=True)


class Growth:
    """How far the log grew since the last snapshot."""

    def __init__(self, records: int) -> None:
        """Count up to so many records."""
        self._most = records
        self._records = self._bytes = 0
        self.due = asyncio.Event()
        """Set when it is; on the event loop, which `by` is not."""

    def begin(self, records: int) -> None:
        """Count from here, with so many records behind the newest snapshot already."""
        self.due.clear()
        self._records, self._bytes = records, 0
        if records >= self._most:
            self.due.set()

    def by(self, size: int) -> bool:
        """Count a record of so many bytes; True when a snapshot is due."""
        self._records += 1
        self._bytes += size
        return self._records >= self._most or self._bytes >= BYTES
