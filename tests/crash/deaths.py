"""Where a process dies: at the nth of its steps it kills itself with signal 9, or the power of its machine is cut."""

import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from memory.state.database import Database, _Job

T = TypeVar("T")


_EFFECTS: Final = 1_000_000
"""Below the negative of it, a death is no boundary but an effect; no story has so many boundaries."""


def after_effect(number: int) -> int:
    """Return the death by a cut of the power right after the nth effect of a life, counted from 1."""
    return -_EFFECTS - number


class Steps:
    """Counts the boundaries that a process passes, from any of its threads, and ends it at one of them."""

    def __init__(
        self, dies_at: int = 0, power: Path | None = None, dies_with: Callable[[], None] = lambda: None
    ) -> None:
        """`dies_at` counts from 1; 0 is never. Below 0 the power is cut at that step: then the file `power` appears.

        Or it is an `after_effect`. `dies_with` is what ends in the same moment.
        """
        self.passed = 0
        self.effects = 0
        self._dies_at = dies_at
        self.cut_power = dies_at < 0
        """Whether it is the power that ends it."""
        self._power = power
        self._dies_with = dies_with

    def boundary(self) -> None:
        """Pass one more boundary, or die there."""
        self.passed += 1
        if self.passed == abs(self._dies_at):
            self._end()

    def effect(self) -> None:
        """Take note that the world was changed for good, or die right after that."""
        self.effects += 1
        if self._dies_at == after_effect(self.effects):
            self._end()

    def _end(self) -> None:
        if self.cut_power and self._power is not None:
            self._power.touch()
        self._dies_with()
        die()


def die() -> NoReturn:
    """Be gone as with kill -9 from outside: no handler runs, no buffer is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives this signal")


class DyingDatabase(Database):
    """A state database with a boundary before each write, inside its transaction, and after its commit.

    What a cut of the power leaves of it is what was there at the last durable commit: `after_a_cut` puts that back.
    """

    def __init__(self, path: Path, steps: Steps) -> None:
        super().__init__(path)
        self._steps = steps

    async def open(self, *schemas: str) -> None:
        """Open as a `Database` does, which ends in a durable commit."""
        await super().open(*schemas)
        await self.read(lambda connection: keep(self.path))

    def _commit(self, group: Sequence[_Job]) -> None:
        super()._commit(group)
        if any(job.durable and job.error is None for job in group):
            keep(self.path)

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

    async def flush(self) -> None:
        """Bring what was committed to the disk as a `Database` does."""
        await super().flush()
        await self.read(lambda connection: keep(self.path))
        self._steps.boundary()


SYNCED: Final = "synced"
"""Name of the link to the folder with what is surely on the disk."""


def keep(path: Path) -> None:
    """Keep a copy of a state database, its log included: a kill in the midst leaves the copy before."""
    copy, link, kept = Path(tempfile.mkdtemp(dir=path.parent)), path.with_name("coming"), path.with_name(SYNCED)
    before = kept.resolve() if kept.exists() else None
    for name in (path.name, f"{path.name}-wal"):
        shutil.copyfile(path.with_name(name), copy / name)
    link.unlink(missing_ok=True)
    link.symlink_to(copy)
    link.rename(kept)
    if before is not None:
        shutil.rmtree(before)


def after_a_cut(path: Path) -> None:
    """Put back what was kept last, with nothing of what came after it."""
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    for name in (path.name, f"{path.name}-wal"):
        shutil.copyfile(path.with_name(SYNCED) / name, path.with_name(name))


class Ledger:
    """What the world outside the process has seen of it, a line each; it outlives a kill, and nothing here needs more.

    A line is `verb name`: `said`, `accepted`, `rung` (a tool's effect), `illegal` (a request no provider would take).
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, verb: str, name: str) -> None:
        """Append a line at once."""
        os.write(self._file, f"{verb} {name}\n".encode())


def noted(path: Path, verb: str) -> list[str]:
    """Return the names that were noted under a verb, in order."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.removeprefix(f"{verb} ") for line in lines if line.startswith(f"{verb} ")]
