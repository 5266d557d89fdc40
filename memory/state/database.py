"""The state database: one SQLite file, one connection in its own thread, one process."""

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from memory.errors import DiskSilent, StateUnreadable, StateUnusable
from memory.kept import Kept
from memory.lock import lock, unlock
from memory.state.disk_watch import DiskWatch
from memory.state.failures import explained, folder_unusable
from memory.state.reader import read_only
from memory.state.replica import position

T = TypeVar("T")

Change: TypeAlias = Callable[[sqlite3.Connection], object]
"""Changes the state inside a transaction."""

Writer: TypeAlias = Callable[[Change], Awaitable[None]]
"""Commits a change in one transaction with something else of its own: both are there on return, or neither."""

MIGRATIONS: Final[tuple[str, ...]] = ()
"""The nth script leads a file from version n to n + 1; the present version is one more than there are scripts."""

MAX_WAITING: Final = 256
"""Reads and writes that wait for the thread at a time; whoever comes later waits for room, in order."""

SYNC_AFTER: Final = 0.05
"""Seconds after which what need not last is brought to the disk all the same: a thought takes longer than that."""

MAX_GROUP: Final = 64
"""Writes that share one commit."""

PATIENCE: Final = 15.0
"""Seconds after which a disk that answers nothing counts as one that fails; a card that tidies up may take some."""


class StateInUse(StateUnusable):
    """Another process works on this state folder. Fix: stop that one, or use another folder."""


class _Job(Struct, eq=False):
    """One read or write on its way through the thread."""

    work: Callable[[sqlite3.Connection], None]
    changes: bool
    durable: bool = False
    """Whether its commit is waited for until the disk has it."""
    error: Exception | None = None
    abandoned: bool = False
    """Its caller does not wait for it any more: it is not begun."""
    has_begun: bool = False


class Database(Kept[Change, object, object]):
    """Runs functions on the state database in its own thread, each whole or not at all, in the order asked for.

    Guarantees: when a durable `write` returns, its change and every one before it are on the disk (WAL,
    synchronous=FULL); one that is not durable outlives a kill of the process, and is on the disk `SYNC_AFTER` later.
    When it raises, none of it is there, but for `DiskSilent`: a disk that does not answer for `patience` seconds fails
    what is asked of it, at once from then on until it answers, and what it has begun it may do then.
    Writes that wait together share one commit, so that many cost one fsync; each still fails alone. The event loop
    never waits for the disk. One process has the file, until it ends however it ends.
    Not guaranteed: that a cancelled `write` did not happen; whoever cancels looks.
    """

    is_shared = False
    """Whether other machines of the household have a copy of it."""

    def __init__(self, path: Path, migrations: Sequence[str] = MIGRATIONS, patience: float = PATIENCE) -> None:
        self.path = path
        self._disk = DiskWatch(patience)
        self._migrations = migrations
        self._present = len(migrations) + 1
        """The version that this nakari writes."""
        self._jobs: deque[_Job] = deque()
        self._room = asyncio.Semaphore(MAX_WAITING)
        self._thread: ThreadPoolExecutor | None = None
        self._syncing: ThreadPoolExecutor | None = None
        """What waits for the disk where nothing else is to wait with it."""
        self._connection: sqlite3.Connection | None = None
        self._log = -1  # the descriptor of the write-ahead log
        self._sync_due: asyncio.TimerHandle | None = None
        """Brings to the disk what need not last."""
        self._held = ExitStack()

    @property
    def is_silent(self) -> bool:
        """Whether the disk has not answered for longer than it should."""
        return self._disk.is_silent

    async def open(self, *schemas: str) -> None:
        """Open or create the file, bring it to the present version and run the schemas (idempotent SQL scripts).

        Raises `StateInUse` when another process has it, `StateUnusable` when the folder cannot be written, the file is
        damaged, or a newer nakari wrote it. Nothing is changed then.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        try:
            await asyncio.get_running_loop().run_in_executor(thread, self._open, schemas)
        except BaseException:
            thread.submit(self._close)
            thread.shutdown(wait=False)
            raise
        self._thread, self._syncing = thread, ThreadPoolExecutor(max_workers=1, thread_name_prefix="database: disk")

    async def write(self, change: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        """Run `change` in a transaction and commit it; the value is returned once it is durable.

        With `durable` false a cut of the power may take it back within `SYNC_AFTER`: for a step that has no effect
        outside this file before that. Raises `StateUnusable` (disk full, file damaged), else what `change` raises.
        """
        value = await self._ask(change, changes=True, durable=durable)
        if not durable and self._sync_due is None:
            self._sync_due = asyncio.get_running_loop().call_later(SYNC_AFTER, self._sync_soon)
        return value

    async def flush(self) -> None:
        """Return when all that was committed before is on the disk; reads and writes go on meanwhile.

        Raises `StateUnusable` when the disk fails or does not answer: what was committed may be lost with the power.
        """
        if self._syncing is None:
            raise StateUnusable(f"the state database {self.path} is not open")
        if self._sync_due is not None:  # this one does it
            self._sync_due.cancel()
            self._sync_due = None
        synced = asyncio.get_running_loop().run_in_executor(self._syncing, self._sync)
        if not await self._disk.answers(synced):
            raise self._silent(may_come=True)
        try:
            synced.result()
        except OSError as error:
            raise folder_unusable(self.path.parent, error) from error

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Run `look`, which cannot change anything, after all writes asked for before it.

        Raises `StateUnusable` when the file cannot be read, else what `look` raises.
        """
        return await self._ask(look, changes=False, durable=False)

    async def rewrite(self, *, log_only: bool = False) -> None:
        """Write the file anew, and empty its log, so that nothing is left anywhere in it of what was deleted before.

        Takes the room of the whole file once more (with `log_only` none: the file stays as it is), and lets nobody in
        meanwhile. Raises `StateUnusable`, also while another program looks at the file.
        """
        await self._ask(self._empty_log if log_only else self._vacuum, changes=False, durable=False)

    async def close(self) -> None:
        """Finish what was asked for, close the file and let go of the lock; safe to call twice."""
        thread, self._thread = self._thread, None
        syncing, self._syncing = self._syncing, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._close, syncing)
            thread.shutdown()

    def _sync_soon(self) -> None:
        self._sync_due = None
        if self._syncing is not None:
            self._syncing.submit(self._sync)  # where it fails, the next durable write will say so

    def _sync(self) -> None:
        with self._disk.timed():
            self._fdatasync()

    def _fdatasync(self) -> None:
        os.fdatasync(self._log)

    async def _ask(self, work: Callable[[sqlite3.Connection], T], *, changes: bool, durable: bool) -> T:
        values: list[T] = []
        job = _Job(lambda connection: values.append(work(connection)), changes, durable)
        async with self._room:
            if self._thread is None:
                raise StateUnusable(f"the state database {self.path} is not open")
            if self.is_silent:
                raise self._silent()
            self._jobs.append(job)
            await self._served(job, asyncio.get_running_loop().run_in_executor(self._thread, self._serve))
        if job.error is not None:
            raise job.error
        return values[0]

    async def _served(self, job: _Job, served: asyncio.Future[None]) -> None:
        """Wait until a job is done, for as long as the disk does anything. Raises `DiskSilent`."""
        try:
            if not await self._disk.answers(served):
                job.abandoned = True
                raise self._silent(may_come=job.changes and job.has_begun)
        finally:
            job.abandoned = True
            served.cancel()
        served.result()

    def _serve(self) -> None:
        """Do all that waits. Each caller submits this once; the first one finds the others' jobs beside its own."""
        while self._jobs:
            group = self._next_group()
            for job in group:
                job.has_begun = True  # first, so that who gives it up meanwhile knows that it may be done all the same
            with self._disk.timed():
                if (wanted := [job for job in group if not job.abandoned]) and not wanted[0].changes:
                    self._look(wanted[0])
                elif wanted:
                    self._commit(wanted)

    def _next_group(self) -> list[_Job]:
        group = [self._jobs.popleft()]
        while group[0].changes and self._jobs and self._jobs[0].changes and len(group) < MAX_GROUP:
            group.append(self._jobs.popleft())
        return group

    def _look(self, job: _Job) -> None:
        try:
            self._opened().execute("PRAGMA query_only=ON")
            job.work(self._opened())
        except Exception as error:  # noqa: BLE001  it is raised where it was asked for
            job.error = self._explained(error)
        finally:
            self._opened().execute("PRAGMA query_only=OFF")

    def _commit(self, group: Sequence[_Job]) -> None:
        connection = self._opened()
        try:
            self._begin(connection, durable=any(job.durable for job in group))
            for job in group:
                self._change(job)
            self._finish(connection)
        except (sqlite3.Error, StateUnusable) as error:
            for job in group:
                job.error = self._explained(error)
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _begin(self, connection: sqlite3.Connection, *, durable: bool) -> None:
        # In the write-ahead log a sync takes with it all that was committed before.
        connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        connection.execute("BEGIN IMMEDIATE")

    def _finish(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")

    def _change(self, job: _Job) -> None:
        """Run one change of a group, so that its failure takes back nothing but itself."""
        connection = self._opened()
        connection.execute("SAVEPOINT change")
        try:
            job.work(connection)
        except Exception as error:
            if isinstance(error, sqlite3.Error) and not connection.in_transaction:
                raise  # a full disk ends the whole transaction, and with it the group
            job.error = self._explained(error)
            connection.execute("ROLLBACK TO change")
        connection.execute("RELEASE change")

    def _silent(self, *, may_come: bool = False) -> DiskSilent:
        mend = "see with dmesg whether it fails"
        told = f"{mend}. What was asked may be done once it answers: look before you say it again" if may_come else mend
        return DiskSilent(f"the state database {self.path} cannot be used (its disk does not answer); {told}")

    def _vacuum(self, connection: sqlite3.Connection) -> None:
        with self._disk.untimed():
            connection.execute("PRAGMA query_only=OFF")
            connection.execute("VACUUM")
        self._empty_log(connection)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            what = "has a log that holds yet what was deleted; close the other program that reads it, and try again"
            raise StateUnusable(f"the state database {self.path} {what}")

    def _open(self, schemas: Sequence[str]) -> None:
        with ExitStack() as held:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                held.callback(unlock, locked(self.path))
                with suppress(FileExistsError):  # for its owner's eyes only; SQLite makes those beside it alike
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                connection = self._connect()
                held.callback(connection.close)
                self._prepare(connection, schemas)
            except OSError as error:
                raise folder_unusable(self.path.parent, error) from error
            except sqlite3.Error as error:
                raise self._explained(error) from error
            self._connection = connection
            self._log = os.open(f"{self.path}-wal", os.O_RDONLY)
            held.callback(os.close, self._log)
            self._held = held.pop_all()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None, timeout=5.0)

    def _prepare(self, connection: sqlite3.Connection, schemas: Sequence[str]) -> None:
        connection.row_factory = sqlite3.Row
        self._check_version(connection)
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # only a new file takes it
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # what is deleted or changed is overwritten, in every build
        self._bring_to_date(connection, schemas)

    def _check_version(self, connection: sqlite3.Connection) -> int:
        """Return the version of the file, 0 of an empty one."""
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > self._present:
            raise StateUnusable(
                f"the state database {self.path} was written by a newer nakari (version {found}, this one knows "
                f"{self._present}); update nakari, or set another [state] folder"
            )
        return found

    def _bring_to_date(self, connection: sqlite3.Connection, schemas: Sequence[str]) -> None:
        if position.is_copy(connection):
            what = "is a copy of what a household keeps on its engine, and would not be one any more"
            mend = "start nakari with its [machines] url and ask that, or take it for yourself: `nakari machines leave`"
            raise StateUnusable(f"the state database {self.path} {what}; {mend}")
        connection.executescript("\n;\n".join(("BEGIN IMMEDIATE", self._script(connection, schemas), "COMMIT")))

    def _script(self, connection: sqlite3.Connection, schemas: Sequence[str]) -> str:
        """Return the SQL that brings the file to the present version."""
        found = self._check_version(connection)
        missing = self._migrations[found - 1 :] if found else ()
        return "\n;\n".join((*missing, *schemas, f"PRAGMA user_version={self._present}"))

    def _explained(self, error: Exception) -> Exception:
        """Return what `explained` does, also of words that the disk changed."""
        if str(error).startswith("Could not decode to UTF-8"):  # without a code, and with the words themselves
            error = sqlite3.DatabaseError("a text in it was changed by the disk")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        return explained(self.path, error)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StateUnusable(f"the state database {self.path} is not open")
        return self._connection

    def _close(self, syncing: ThreadPoolExecutor | None = None) -> None:
        if syncing is not None:
            syncing.shutdown()
        self._connection, self._log = None, -1
        self._held.close()


class DatabaseView(Database):
    """Reads what another process may be writing: no lock is taken, no schema is run, and every write fails."""

    def _open(self, schemas: Sequence[str]) -> None:
        with ExitStack() as held:
            if not self.path.exists():
                raise StateUnreadable(f"nothing was kept yet: there is no {self.path}; `nakari run` makes it")
            self._connection = held.enter_context(read_only(self.path))
            self._connection.execute("SELECT 1 FROM sqlite_master")
            self._held = held.pop_all()


def locked(path: Path) -> int:
    """Return the descriptor that holds a state database's lock; the kernel lets go of it when the process dies.

    Raises `StateInUse` at once when another holds it, OSError when it cannot be made.
    """
    file = path.with_name(f"{path.name}.lock")
    try:
        descriptor = lock(file)
    except BlockingIOError:
        holder = file.read_text(encoding="ascii", errors="replace").strip()[:32]
        what = f"another nakari (process {holder or 'unknown'}) uses the state folder {path.parent}"
        raise StateInUse(f"{what}; stop that one first, or set another [state] folder") from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor
