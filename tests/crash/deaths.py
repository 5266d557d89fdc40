"""Where a process dies: its steps are counted, and at the nth one it kills itself with signal 9."""

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

from memory.database import Database

T = TypeVar("T")


class Steps:
    """Counts the boundaries that a process passes, from any of its threads, and ends it at one of them."""

    def __init__(self, dies_at: int = 0) -> None:
        """`dies_at` counts from 1; 0 is never."""
        self.passed = 0
        self._dies_at = dies_at

    def boundary(self) -> None:
        """Pass one more boundary, or die there."""
        self.passed += 1
        if self.passed == self._dies_at:
            die()


def die() -> NoReturn:
    """Be gone as with kill -9 from outside: no handler runs, no buffer is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives this signal")


class DyingDatabase(Database):
    """A state database with a boundary before each write, inside its transaction, and after its commit."""

    def __init__(self, path: Path, steps: Steps) -> None:
        super().__init__(path)
        self._steps = steps

    async def write(self, change: Callable[[sqlite3.Connection], T], *, lasting: bool = True) -> T:
        """Write as a `Database` does."""

        def dying(connection: sqlite3.Connection) -> T:
            value = change(connection)
            self._steps.boundary()
            return value

        self._steps.boundary()
        value = await super().write(dying, lasting=lasting)
        self._steps.boundary()
        return value


class Ledger:
    """What the world outside the process has seen of it, a line each; it outlives a kill, and nothing here needs more.

    A line is `verb name`: `accepted`, `rung` (a tool's effect), `illegal` (a request no provider would take).
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
