"""A door in the way of the state database's threads, which wait there as at a disk that is slow or hangs."""

import asyncio
import sqlite3
import threading
from pathlib import Path

from memory.state.database import PATIENCE, Database


class Door:
    """Holds a thread of the database until it is opened: at one read or write, or at each sync."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.may_pass = threading.Event()

    def __call__(self, connection: sqlite3.Connection | None = None) -> bool:
        self.reached.set()
        return self.may_pass.wait(timeout=30)

    async def open(self) -> None:
        """Let the thread go on; as a task, after all tasks that were started before it have asked."""
        self.may_pass.set()


async def until_reached(door: Door) -> None:
    await asyncio.get_running_loop().run_in_executor(None, door.reached.wait)


class SlowDisk(Database):
    """A database of which nothing comes to the disk before the door is open, but for what waits for it at once."""

    def __init__(self, path: Path, door: Door, patience: float = PATIENCE) -> None:
        super().__init__(path, patience=patience)
        self._door = door

    def _fdatasync(self) -> None:
        self._door()
        super()._fdatasync()
