"""One machine's file as a copy of the log: records applied in order, once; filled from a snapshot where it is blank."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError as Abandoned
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from memory.engine.interface import DEADLINE, Engine, LogRecord
from memory.errors import EngineUnreachable, LogDropped, LogLost, OutcomeUnknown, StateUnusable
from memory.state.replica import snapshots
from memory.state.replica.log_record import Record, decode, digest_of
from memory.state.replica.position import Position, is_blank, note, position_in

T = TypeVar("T")

ANSWER_SECONDS: Final = DEADLINE + 2.0
"""For which the database's thread waits for one call of the engine: the event loop may be held up beside it."""

FILE_SECONDS: Final = 600.0
"""For which it waits for a snapshot."""

_MISFITS: Final = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)
"""SQLite's primary codes for a statement that does not fit the file; the others are of the file or its disk."""


class Copy:
    """Brings a file up to the log. Runs in the database's thread; what it asks the engine runs on the event loop."""

    def __init__(
        self,
        path: Path,
        engine: Engine,
        household: str,
        check_version: Callable[[sqlite3.Connection], object],
        heed: Callable[[sqlite3.Connection, Record], None],
    ) -> None:
        """`check_version` raises `StateUnusable` for a file of a newer nakari; `heed` is told each applied record."""
        self.at = Position(household)
        """The last record that the file holds."""
        self._path = path
        self._engine = engine
        self._check_version = check_version
        self._heed = heed

    def begin(self, connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Take up where an opened file is, without the engine, whose calls will run on this loop."""
        self._loop = loop
        found, new = position_in(connection), Position(self.at.household)
        self.at = found if found is not None and found.household == new.household else new

    def asked(self, call: Coroutine[Any, Any, T], seconds: float = ANSWER_SECONDS) -> T:
        """Return what the engine answers to a call from the writer thread. Raises `EngineFailure`."""
        future = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return future.result(seconds)
        except (TimeoutError, Abandoned) as error:
            future.cancel()
            raise OutcomeUnknown("the engine's answer did not come in time; try again") from error

    def catch_up(self, connection: sqlite3.Connection, *, may_begin: bool = False) -> None:
        """Bring the file to the end of the log. Raises `EngineFailure`, `StateUnusable`."""
        if position_in(connection) != self.at:
            self._join(connection, may_begin=may_begin)
        while True:
            try:
                records = self.asked(self._engine.log.read(self.at.position))
            except LogDropped:
                before = self.at.position
                if not self._restore(connection) or self.at.position <= before:
                    raise self._unfit(before + 1) from None
                continue
            except LogLost as error:
                raise self.lost(error) from error
            if not records:
                break
            for each in records:
                self.apply(connection, each)

    def _join(self, connection: sqlite3.Connection, *, may_begin: bool) -> None:
        """Make a file a copy of this log: a blank one from the newest snapshot, any other by beginning the log."""
        is_begun = self.asked(self._engine.log.end()) > 0
        if not (is_begun or may_begin):
            raise EngineUnreachable("no machine has begun the household's log yet")
        if is_blank(connection):
            self._restore(connection)
        elif is_begun:
            raise StateUnusable(
                f"the state database {self._path} is no copy of this household's, and the household has a state on its "
                "engine already; move the file away to have it filled from there, or set another [machines] household"
            )
        else:
            self._seed()
        if position_in(connection) != self.at:
            connection.execute("BEGIN IMMEDIATE")
            self.commit_at(connection, self.at)

    def apply(self, connection: sqlite3.Connection, each: LogRecord) -> None:
        """Do what a record says, once. Raises `StateUnusable` when it is none for this file, sqlite3.Error of it."""
        if each.position <= self.at.position:
            return
        record = decode(each.record, each.position)
        if record.previous != self.at.digest or not self._is_in_epoch(record):
            raise self._unfit(each.position)
        at = replace(
            self.at,
            position=each.position,
            digest=digest_of(each.record),
            epoch=record.epoch,
            machine=record.machine,
        )
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not all(change.apply(connection) for change in record.changes):
                raise self._unfit(each.position)
            self._check_version(connection)
            self.commit_at(connection, at)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _MISFITS:
                raise self._unfit(each.position) from error
            raise
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        self._heed(connection, record)

    def _is_in_epoch(self, record: Record) -> bool:
        return record.epoch >= self.at.epoch if record.kind == "epoch" else record.epoch == self.at.epoch

    def _restore(self, connection: sqlite3.Connection) -> bool:
        """Fill the file from the newest snapshot; False where there is none."""
        names = self.asked(snapshots.snapshots(self._engine.blobs))
        if not names:
            return False
        packed = self._path.with_name("snapshot.coming")
        try:
            self.asked(self._engine.blobs.get(names[-1], packed), FILE_SECONDS)
            snapshots.put_into(connection, packed)
        except OSError as error:
            raise StateUnusable(f"a snapshot cannot be kept beside {self._path} ({error.strerror})") from error
        finally:
            packed.unlink(missing_ok=True)
        self._check_version(connection)
        found = position_in(connection)
        if found is not None and found.household == self.at.household:
            self.at = found
        return True

    def _seed(self) -> None:
        """Put what the file holds on the engine, as what the log begins from."""
        packed = self._path.with_name("snapshot.new")
        try:
            snapshots.make(self._path, packed)
            self.asked(self._engine.blobs.put(snapshots.name_of(0), packed), FILE_SECONDS)
        finally:
            packed.unlink(missing_ok=True)

    def commit_at(self, connection: sqlite3.Connection, at: Position) -> None:
        """Commit the transaction under way as what the file is at a position. Raises sqlite3.Error."""
        note(connection, at)
        connection.execute("COMMIT")
        self.at = at

    def _unfit(self, position: int) -> StateUnusable:
        return StateUnusable(
            f"record {position} of the household's log does not go on from {self._path}, which is no copy of it any "
            "more; move that file away, and it is filled anew from the engine"
        )

    def lost(self, error: Exception) -> StateUnusable:
        """Return what a log that ends before the file means, as a sentence."""
        return StateUnusable(
            f"{error}; {self._path} holds {self.at.position} records of it: restore the engine's files, or set another "
            "[machines] household to begin a new log from this file"
        )
