"""A door in the way of the state database's thread, which waits there as at a disk that hangs."""

import asyncio
import sqlite3
import threading


class Door:
    """Holds the database's thread at one read until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.may_pass = threading.Event()

    def __call__(self, connection: sqlite3.Connection) -> bool:
        self.reached.set()
        return self.may_pass.wait(timeout=30)

    async def open(self) -> None:
        """Let the thread go on; as a task, after all tasks that were started before it have asked."""
        self.may_pass.set()


async def until_reached(door: Door) -> None:
    await asyncio.get_running_loop().run_in_executor(None, door.reached.wait)
