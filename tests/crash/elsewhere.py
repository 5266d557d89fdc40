"""A story whose state is in an engine's log: where it is, and the database that dies at each step around an append."""

import asyncio
import os
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar, cast
from uuid import uuid4

from memory.engine.access import Login, engine_at
from memory.engine.interface import READ_LIMIT, Engine, Log, LogRecord
from memory.errors import EngineUnreachable, OutcomeUnknown
from memory.state.database import Database
from memory.state.replicated import ReplicatedDatabase
from tests.crash.deaths import DyingDatabase, Steps
from tests.engine_servers import Server
from tests.room.virtual_time import passed

T = TypeVar("T")

NOTE: Final = "engine"
"""Name of the file that says where a story's state is; without one it is in the folder alone."""

KILLED: Final = "server-killed"
"""Name of the file that says that a death took the server along: its process may not be gone yet."""

PATIENCE: Final = 60.0
"""Seconds within which a server has to answer once."""

VERDICT: Final = 1_000_000
"""The epoch of who reads what a story has left."""


def settle(folder: Path, server: Server | None) -> None:
    """Say where the story in a folder has its state, with the server started if it was killed."""
    if server is None:
        return
    note, killed = folder / NOTE, folder / KILLED
    if killed.exists() or not server.is_running:
        server.kill()  # it is dead, or about to be: it is waited for, and let go of
        server.start()
        killed.unlink(missing_ok=True)
    household = note.read_text().split()[1] if note.exists() else f"h{uuid4().hex}"
    note.write_text(f"{server.url} {household} {server.pid}")


def kills_server(folder: Path, dies_at: int) -> Callable[[], None]:
    """Return what ends the engine's server in the moment of a death: at every third place."""
    note = folder / NOTE

    def kill() -> None:
        if note.exists() and dies_at % 3 == 0:
            (folder / KILLED).touch()
            os.kill(int(note.read_text().split()[2]), signal.SIGKILL)

    return kill


class DyingLog:
    """A log with a boundary before each append, and between its answer and the commit in the file."""

    def __init__(self, log: Log, steps: Steps) -> None:
        self._log = log
        self._steps = steps
        self.follow, self.end, self.drop_through = log.follow, log.end, log.drop_through

    async def append(self, record: bytes, *, after: int, id: str) -> int:
        """Append as the log does."""
        self._steps.boundary()
        position = await self._log.append(record, after=after, id=id)
        self._steps.boundary()
        return position

    async def read(self, after: int, limit: int = READ_LIMIT) -> Sequence[LogRecord]:
        """Read as the log does."""
        return await self._log.read(after, limit)


class DyingEngine:
    """An engine with a `DyingLog`."""

    def __init__(self, engine: Engine, steps: Steps) -> None:
        self.log = DyingLog(engine.log, steps)
        self.blobs = engine.blobs


class DyingReplica(ReplicatedDatabase):
    """A copy of the log with a boundary before each write, inside its transaction, and after its commit."""

    def __init__(self, path: Path, engine: Engine, household: str, machine: str, steps: Steps) -> None:
        dying = cast("Engine", DyingEngine(engine, steps))
        super().__init__(path, dying, household=household, machine=machine)
        self._steps = steps

    async def write(self, change: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        """Write as a `Database` does."""

        def dying(connection: sqlite3.Connection) -> T:
            value = change(connection)
            self._steps.boundary()
            return value

        self._steps.boundary()
        value = await super().write(dying, durable=durable)
        self._steps.boundary()
        return value


async def patiently(asks: Callable[[], Awaitable[None]]) -> None:
    """Ask an engine as the service does: again and again while it does not answer, on a machine that does much else."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await asks()
            except (EngineUnreachable, OutcomeUnknown):
                await passed(0.1)


@asynccontextmanager
async def database_in(folder: Path, steps: Steps, life: int, *schemas: str) -> AsyncIterator[Database]:
    """Open the database of a story's nth life."""
    path = folder / "nakari.db"
    if not (folder / NOTE).exists():
        alone = DyingDatabase(path, steps)
        await alone.open(*schemas)
        try:
            yield alone
        finally:
            await alone.close()
        return
    url, household, _ = (folder / NOTE).read_text().split()
    engine = engine_at(url, household, Login())
    await patiently(engine.open)
    database = DyingReplica(path, engine, household, f"life-{life}", steps)
    await database.open(*schemas)
    try:
        await patiently(lambda: database.lead(life))
        yield database
    finally:
        await database.close()
        await engine.close()


@asynccontextmanager
async def left_in(folder: Path, *schemas: str) -> AsyncIterator[Database]:
    """Open what a story has left; where its state is in an engine's log, by a machine that has nothing but that."""
    if not (folder / NOTE).exists():
        database = Database(folder / "nakari.db")
        await database.open(*schemas)
        try:
            yield database
        finally:
            await database.close()
        return
    url, household, _ = (folder / NOTE).read_text().split()
    engine = engine_at(url, household, Login())
    await patiently(engine.open)
    shutil.rmtree(folder / "verdict", ignore_errors=True)
    copy = ReplicatedDatabase(folder / "verdict" / "nakari.db", engine, household=household, machine="verdict")
    await copy.open()
    try:
        await patiently(lambda: copy.lead(VERDICT))
        yield copy
    finally:
        await copy.close()
        await engine.close()


def lose_disk(path: Path) -> None:
    """Leave nothing of a state database: its machine is gone, and another one takes its place."""
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
