"""One machine's file as a copy of the log: records applied in order, once; filled from a snapshot where it is blank."""

import asyncio
import base64
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError as Abandoned
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from memory.engine.interface import DEADLINE, Engine, LogRecord
from memory.errors import EngineUnreachable, LogDropped, LogLost, OutcomeUnknown, StateUnusable
from memory.state.replica import snapshots
from memory.state.replica.position import Position, is_blank, note, position_in
from memory.state.replica.recording import Change, Parameter, Parameters

VERSION: Final = 1
"""Of the format. A record of a newer one is refused whole."""

COMPRESSED_FROM: Final = 512
"""Bytes; shorter records are kept as they are."""

LEVEL: Final = 1
"""Of zlib (RFC 1950): the text of a statement comes again and again, which the fastest level finds too."""

_PLAIN, _COMPRESSED = b"J", b"Z"
_UNPACK: Final[Mapping[bytes, Callable[[bytes], bytes]]] = {_PLAIN: bytes, _COMPRESSED: zlib.decompress}
"""By the first byte of a record."""

Kind: TypeAlias = Literal["change", "epoch", "rewrite"]
"""`change`: a transaction. `epoch`: a machine becomes the writer, with what it changes in the schema. `rewrite`: every
copy is written anew, so that nothing is left of what was deleted."""


class Record(Struct, frozen=True):
    """One record. Each names the digest of the one before it, so that a gap or another log's record is seen."""

    kind: Kind
    epoch: int
    """Of the writer: rises with each machine that becomes it."""
    machine: str
    """The writer's name."""
    previous: str
    """`digest_of` the record before it, "" for the first."""
    changes: tuple[Change, ...] = ()
    log_only: bool = False
    """Of a `rewrite`: the file stays, its write-ahead log is emptied."""

    def encode(self) -> bytes:
        """Return it as bytes: JSON, compressed where large; blobs in base64 (RFC 4648)."""
        statements = list(dict.fromkeys(change.statement for change in self.changes))
        places = {statement: place for place, statement in enumerate(statements)}
        content = {
            "version": VERSION,
            "kind": self.kind,
            "epoch": self.epoch,
            "machine": self.machine,
            "previous": self.previous,
            "statements": statements,
            "changes": [[places[each.statement], each.rows, *map(_written, each.parameters)] for each in self.changes],
            **({"log_only": True} if self.log_only else {}),
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        return _PLAIN + text if len(text) < COMPRESSED_FROM else _COMPRESSED + zlib.compress(text, LEVEL)


def digest_of(record: bytes) -> str:
    """Return what the next record names this one by: half of its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(record).hexdigest()[:32]


def decode(record: bytes, position: int) -> Record:
    """Return a record from its bytes. Raises `StateUnusable` where it is torn, no record, or of a newer version."""
    try:
        content = json.loads(_UNPACK[record[:1]](record[1:]).decode(errors="surrogatepass"))
        if content["version"] > VERSION:
            raise StateUnusable(
                f"record {position} of the household's log was written by a newer nakari (version "
                f"{content['version']}, this one knows {VERSION}); update nakari on this machine"
            )
        return _record(content)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, zlib.error) as error:
        what = f"record {position} of the household's log is torn, or none of nakari's"
        raise StateUnusable(f"{what}; restore the engine's files from a backup, or begin another household") from error


def _record(content: Mapping[str, Any]) -> Record:
    statements, kind = content["statements"], content["kind"]
    if kind not in ("change", "epoch", "rewrite"):
        raise ValueError(kind)
    changes = tuple(
        Change(statements[place], tuple(map(_read, sets)), rows) for place, rows, *sets in content["changes"]
    )
    return Record(
        kind,
        int(content["epoch"]),
        str(content["machine"]),
        str(content["previous"]),
        changes,
        bool(content.get("log_only")),
    )


def _written(parameters: Parameters) -> object:
    if isinstance(parameters, Mapping):
        return {name: _value(value) for name, value in parameters.items()}
    return [_value(value) for value in parameters]


def _value(value: Parameter) -> object:
    return [base64.b64encode(value).decode("ascii")] if isinstance(value, bytes) else value


def _read(parameters: Mapping[str, object] | Sequence[object]) -> Parameters:
    if isinstance(parameters, Mapping):
        return {name: _parameter(value) for name, value in parameters.items()}
    return tuple(map(_parameter, parameters))


def _parameter(value: object) -> Parameter:
    if isinstance(value, list):
        return base64.b64decode(value[0], validate=True)
    if value is None or isinstance(value, int | float | str):
        return value
    raise TypeError(type(value))


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
            self.at, position=each.position, digest=digest_of(each.record), epoch=record.epoch, machine=record.machine
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
