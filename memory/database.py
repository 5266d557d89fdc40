"""The state database: one SQLite file, one connection, one thread, every write fsynced."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from memory.errors import StateUnusable

T = TypeVar("T")


class Database:
    """Runs functions on the state database in its own thread, each in one transaction, in the order asked for.

    Guarantees: when `write` returns, the change is on the disk (WAL, synchronous=FULL); when it raises, none of it is.
    Not guaranteed: that a cancelled `write` did not happen; whoever cancels looks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        self._connection: sqlite3.Connection | None = None

    async def open(self, *schemas: str) -> None:
        """Open or create the file and run the schemas (idempotent SQL scripts of its users).

        Raises `StateUnusable` when the folder or the file cannot be used.
        """
        await self._run(lambda: self._open(schemas))

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Run `change` in a transaction and commit it; the value is returned once it is durable.

        Raises `StateUnusable` when the disk is full or the file damaged, else what `change` raises.
        """
        return await self._run(lambda: self._write(change))

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Run `look` without changing anything, after all writes asked for before it."""
        return await self._run(lambda: look(self._opened()))

    async def close(self) -> None:
        """Close the file; safe to call twice."""
        await self._run(self._close)
        self._thread.shutdown(wait=False)

    async def _run(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def _open(self, schemas: tuple[str, ...]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=5.0)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            for schema in schemas:
                connection.executescript(schema)
        except (OSError, sqlite3.Error) as error:
            raise StateUnusable(
                f"the state database {self.path} cannot be used ({error}); "
                "make the folder writable for this user, or set another one with [state] folder"
            ) from error
        self._connection = connection

    def _write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._opened()
        connection.execute("BEGIN IMMEDIATE")
        try:
            value = change(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError | sqlite3.DatabaseError) and not isinstance(
                error, sqlite3.IntegrityError
            ):
                raise StateUnusable(
                    f"the state database {self.path} cannot be written ({error}); "
                    "free some disk space, or restore it from a backup"
                ) from error
            raise
        return value

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StateUnusable(f"the state database {self.path} is not open")
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
