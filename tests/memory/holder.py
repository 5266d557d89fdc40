"""A process that has a state database open: until it is killed, until the disk is full, or as a user who may not."""

import asyncio
import os
import resource
import sys
from pathlib import Path

from memory.errors import StateUnusable
from memory.state.database import Database

NOTES = "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"

FILE_LIMIT = 200_000
"""Bytes a file may have: a disk that is full without being root to make one."""


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def write(database: Database, text: str) -> None:
    await database.write(lambda connection: connection.execute("INSERT INTO notes (text) VALUES (?)", (text,)).rowcount)


async def hold(path: Path) -> None:
    database = Database(path)
    await database.open(NOTES)
    await write(database, "held")
    say("open")
    await asyncio.Event().wait()


async def fill(path: Path) -> None:
    database = Database(path)
    await database.open(NOTES)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, most))
    try:
        for place in range(1000):
            await write(database, f"{place:03}{'x' * 4096}")
            say(f"acknowledged {place:03}")
    except StateUnusable as error:
        say(f"StateUnusable {error}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    await write(database, "last")
    say("room again: acknowledged last")
    await asyncio.Event().wait()


async def trespass(path: Path) -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)  # nobody: root may write everywhere
    try:
        await Database(path).open(NOTES)
    except StateUnusable as error:
        say(str(error))


if __name__ == "__main__":
    what = {"": hold, "full": fill, "as_nobody": trespass}[sys.argv[2] if len(sys.argv) > 2 else ""]
    asyncio.run(what(Path(sys.argv[1])))
