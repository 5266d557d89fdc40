"""Read-only connections to the state database; a `Reader` looks in a thread of its own, and holds up no write."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from memory.errors import StateUnreadable

T = TypeVar("T")


class Reader:
    """Runs looks one after the other, each over a connection of its own, which sees what was committed before.

    The write-ahead log lets it read while the writer writes. A look whose caller was cancelled is finished, and its
    answer dropped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recall")

    async def look(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a look finds. Raises `StateUnreadable`, else what it raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._look, look)

    def _look(self, look: Callable[[sqlite3.Connection], T]) -> T:
        with read_only(self._path) as connection:
            return look(connection)


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that sees what was committed, whoever writes. Raises `StateUnreadable`, in the block too."""
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=5.0)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection
    except sqlite3.Error as error:
        raise StateUnreadable(
            f"the state database {path} cannot be read ({error}); `nakari doctor` looks into it"
        ) from error
