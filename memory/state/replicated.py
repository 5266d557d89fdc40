"""The state database as a copy of the household's log: what is in the log has happened, and nothing else has."""

import asyncio
import sqlite3
import uuid
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog
from msgspec.structs import replace

from memory.backoff import Backoff
from memory.engine.interface import Engine
from memory.errors import (
    DiskFull,
    EngineFailure,
    EngineUnreachable,
    LogDropped,
    LogLost,
    LogMoved,
    OutcomeUnknown,
    StateUnusable,
    Superseded,
    Unconfirmed,
)
from memory.state.database import MIGRATIONS, Database
from memory.state.replica import snapshots
from memory.state.replica.copying import Copy, Kind, Record, digest_of
from memory.state.replica.position import Position
from memory.state.replica.recording import RecordingConnection
from memory.state.replica.snapshots import Growth

T = TypeVar("T")

log = structlog.get_logger()

RECORDS: Final = 5_000
"""After which a snapshot is due, or after `snapshots.BYTES`: what a new machine has to read behind the newest one."""

TRIES: Final = 5
"""How often `lead` reads on when others append at the same time."""


class ReplicatedDatabase(Database):
    """A state database whose every transaction is first a record in the engine's log, then a commit in the file.

    A machine follows (`follow`) until it leads (`lead`), and follows again once it is superseded. Guarantees of the
    writer: what `write` returned is on the engine's disk, and in the file of each machine that follows. The file itself
    need not be synced (`synchronous=NORMAL`): after a cut of the power it is whole, and perhaps some records behind,
    which it is given again. Refused by the log, because another machine leads: `Superseded`, and nothing has changed.
    Guarantees of a follower: its file holds the log up to `position`, each record once and whole; `write` raises
    `Superseded`.
    Not guaranteed: that a `write` which raised `StateUnusable` did not happen; where the engine's answer was lost, it
    may be found in the log later, and then it is in the file before the next `write` begins.
    """

    is_shared = True

    def __init__(
        self,
        path: Path,
        engine: Engine,
        *,
        household: str,
        machine: str,
        migrations: Sequence[str] = MIGRATIONS,
        records_a_snapshot: int = RECORDS,
    ) -> None:
        """`machine` is this one's name, told to the others."""
        super().__init__(path, migrations)
        self._engine = engine
        self._machine = machine
        self._copy = Copy(path, engine, household, self._check_version, self._heed)
        self._led: int | None = None  # the epoch in which this machine writes
        self._is_behind = True  # whether the log may hold what the file does not
        self._schemas: Sequence[str] = ()
        self._observers: list[Callable[[], object]] = []
        self._growth = Growth(records_a_snapshot)
        self._one_snapshot = asyncio.Lock()

    def observe_superseded(self, observer: Callable[[], object]) -> None:
        """Call an observer on the event loop each time that another machine became the writer in this one's place."""
        self._observers.append(observer)

    @property
    def position(self) -> Position:
        """The last record that the file holds."""
        return self._copy.at

    async def open(self, *schemas: str) -> None:
        """Open or create the file, without the engine: `lead` or `follow` brings it up to the log.

        The schemas are for `lead`; the file of a follower gets its tables from the log. Raises as `Database.open`.
        """
        self._loop = asyncio.get_running_loop()
        self._schemas, self._led, self._is_behind = schemas, None, True
        await super().open(*schemas)
        await self.read(lambda connection: self._copy.begin(connection, self._loop))

    async def lead(self, epoch: int) -> None:
        """Become the writer: bring the file up to the log, and append that from here on this epoch holds.

        `epoch` is greater than that of any other machine. When it returns, every other writer's next record is refused.
        A file that is no copy yet becomes the household's first state, if the log is empty. Raises `Superseded` when
        the log knows this epoch or a greater one of another machine, `EngineFailure` (may be called again),
        `StateUnusable` when the file or the log does not fit.
        """
        await self._in_thread(partial(self._lead, epoch=epoch))
        newest = await snapshots.snapshots(self._engine.blobs)
        self._growth.begin(self._copy.at.position - (snapshots.position_of(newest[-1]) if newest else 0))

    async def step_down(self) -> None:
        """Write no more, after all writes asked for before; tells no observer."""
        await self._in_thread(self._step_down)

    async def follow(self) -> None:
        """Apply every record of the log in order, until cancelled; while this machine leads it finds nothing new.

        As the writer's, it takes a snapshot whenever the log has grown by enough, and drops the log before the last.
        Waits while the engine is away. Raises `StateUnusable` when a record is torn, foreign, of a newer version, or
        does not fit the file.
        """
        rest = Backoff(0.5, 10.0, jitter=0.5)
        while True:
            try:
                await self._in_thread(self._copy.catch_up)
                rest.worked()
                async with aclosing(self._engine.log.follow(self._copy.at.position)) as records:  # type: ignore[type-var]
                    async for each in records:
                        if each.position > self._copy.at.position:  # else this machine wrote it
                            await self._in_thread(partial(self._copy.apply, each=each))
                        await self._snapshot_when_due()
            except LogDropped:
                continue
            except LogLost as error:
                raise self._copy.lost(error) from error
            except (EngineFailure, DiskFull) as error:
                log.warning("state_not_followed", reason=str(error))
                await asyncio.sleep(rest.failed())

    async def _snapshot_when_due(self) -> None:
        if not self._growth.due.is_set():
            return
        self._growth.begin(0)
        try:
            await self.take_snapshot()
        except (EngineFailure, StateUnusable, OSError) as error:
            log.warning("snapshot_not_taken", reason=str(error))

    async def take_snapshot(self, *, is_only: bool = False) -> None:
        """Put a snapshot on the engine; drop those before the last one and the log before that.

        With `is_only` nothing stays but this one and what came after it. Raises `EngineFailure`, `StateUnusable`,
        OSError.
        """
        async with self._one_snapshot:
            packed = self.path.with_name("snapshot.new")
            try:
                position = await asyncio.to_thread(snapshots.make, self.path, packed)
                await self._engine.blobs.put(snapshots.name_of(position), packed)
            finally:
                await asyncio.to_thread(packed.unlink, missing_ok=True)
            await snapshots.drop_before(self._engine, position, most=1 if is_only else 2)

    async def rewrite(self, *, log_only: bool = False) -> None:
        """Write every machine's file anew, and leave nothing on the engine of what was deleted before.

        The other machines do it when they come to the record of it. Raises `Superseded`, `StateUnusable`.
        """
        await self._in_thread(partial(self._rewrite_everywhere, log_only=log_only))
        try:
            await self.take_snapshot(is_only=True)
        except (EngineFailure, OSError) as error:
            raise StateUnusable(f"the engine still holds what was deleted ({error}); try it again") from error

    def _in_thread(self, work: Callable[[RecordingConnection], T]) -> Coroutine[Any, Any, T]:
        """Run something that may change the file by itself, between the groups of writes."""

        def free(connection: sqlite3.Connection) -> T:
            assert isinstance(connection, RecordingConnection)
            with self._disk.untimed():  # it may wait for the engine, which has a deadline of its own
                connection.execute("PRAGMA query_only=OFF")
                return work(connection)

        return self._ask(free, changes=False, durable=False)

    def _fdatasync(self) -> None:
        """Leave the file to the next checkpoint: the engine's disk has what it may lose."""

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None, timeout=5.0, factory=RecordingConnection)

    def _bring_to_date(self, connection: sqlite3.Connection, schemas: Sequence[str]) -> None:
        """Leave the file as it is, its write-ahead log begun: its tables come by the engine's."""
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")

    def _begin(self, connection: sqlite3.Connection, *, durable: bool) -> None:
        assert isinstance(connection, RecordingConnection)
        try:
            if self._led is not None and self._is_behind:
                with self._disk.untimed():
                    self._copy.catch_up(connection)
                self._is_behind = False
        except EngineFailure as error:
            raise _unusable(error) from error
        if self._led is None:
            raise self._following()
        super()._begin(connection, durable=False)

    def _finish(self, connection: sqlite3.Connection) -> None:
        assert isinstance(connection, RecordingConnection)
        if not connection.changes:
            super()._finish(connection)
            return
        try:
            self._append(connection, "change", self._led or 0)
        except LogMoved:
            connection.execute("ROLLBACK")
            self._begin(connection, durable=True)  # reads on, and raises where another one leads by now
            raise Unconfirmed("a write whose answer was lost came to the engine late; try this one again") from None
        except EngineFailure as error:
            raise _unusable(error) from error

    def _append(self, connection: RecordingConnection, kind: Kind, epoch: int, *, log_only: bool = False) -> None:
        """Append the transaction under way to the log, then commit it. Raises `EngineFailure`: it is still under way.

        Raises sqlite3.Error when the file cannot take what the log has: it is behind then.
        """
        changes = tuple(connection.changes)
        record = Record(kind, epoch, self._machine, self._copy.at.digest, changes, log_only=log_only).encode()
        after, name = self._copy.at.position, uuid.uuid4().hex
        self._is_behind = True
        with self._disk.untimed():
            try:
                self._copy.asked(self._engine.log.append(record, after=after, id=name))
            except OutcomeUnknown as unknown:
                try:
                    self._copy.asked(self._engine.log.append(record, after=after, id=name))
                except EngineUnreachable:  # of the second try nothing was kept; the first one may come late
                    raise unknown from None
        self._copy.commit_at(
            connection,
            replace(self._copy.at, position=after + 1, digest=digest_of(record), epoch=epoch, machine=self._machine),
        )
        self._is_behind = False
        if self._growth.by(len(record)):
            self._loop.call_soon_threadsafe(self._growth.due.set)

    def _lead(self, connection: RecordingConnection, *, epoch: int) -> None:
        for _ in range(TRIES):
            self._copy.catch_up(connection, may_begin=True)
            if self._copy.at.epoch > epoch or (self._copy.at.epoch == epoch and self._copy.at.machine != self._machine):
                raise self._following()
            try:
                self._append_epoch(connection, epoch)
            except LogMoved:
                continue
            self._led = epoch
            return
        raise EngineUnreachable("another machine writes into the household's log; try again")

    def _append_epoch(self, connection: RecordingConnection, epoch: int) -> None:
        """Begin an epoch, with the tables of this nakari in it where they are not there yet."""
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            before = _shape(connection)
            connection.executescript(self._script(connection, self._schemas))
            if _shape(connection) == before:
                connection.changes.clear()
            self._append(connection, "epoch", epoch)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _step_down(self, connection: RecordingConnection) -> None:
        self._led = None

    def _rewrite_everywhere(self, connection: RecordingConnection, *, log_only: bool) -> None:
        self._begin(connection, durable=True)
        try:
            self._append(connection, "rewrite", self._led or 0, log_only=log_only)
        except EngineFailure as error:
            raise _unusable(error) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        self._anew(connection, log_only=log_only)

    def _anew(self, connection: sqlite3.Connection, *, log_only: bool) -> None:
        if log_only:
            self._empty_log(connection)
        else:
            self._vacuum(connection)

    def _heed(self, connection: sqlite3.Connection, record: Record) -> None:
        if record.kind == "rewrite":
            with suppress(StateUnusable, sqlite3.Error):  # somebody reads it; what was deleted is overwritten already
                self._anew(connection, log_only=record.log_only)
        elif record.kind == "epoch" and self._led is not None and record.epoch > self._led:
            self._led = None
            log.warning("superseded", machine=record.machine, epoch=record.epoch)
            for observer in self._observers:
                self._loop.call_soon_threadsafe(observer)

    def _following(self) -> Superseded:
        at = self._copy.at
        who = f"{at.machine!r} leads" if at.machine and at.machine != self._machine else "no machine leads"
        return Superseded(f"this machine only follows: {who} the household (epoch {at.epoch}), and alone may write")


def _shape(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return numbers that change with the schema, the version and the rows of a file."""
    schema = connection.execute("PRAGMA schema_version").fetchone()[0]
    return schema, connection.execute("PRAGMA user_version").fetchone()[0], connection.total_changes


def _unusable(error: EngineFailure) -> Unconfirmed:
    later = "; what was asked may be done yet: look before you say it again"
    told = f"{error}{later}" if isinstance(error, OutcomeUnknown) else str(error)
    return Unconfirmed(f"the household's state cannot be written: {told}")
