"""JACK's database as it lies in shared memory, and a program that has it open."""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def database_in(folder: Path) -> Path:
    """Make one in a folder that stands for /dev/shm, and return where it is."""
    database = folder / f"jack_db-{os.getuid()}"
    database.mkdir()
    (database / "__db.001").write_bytes(bytes(mmap.PAGESIZE))
    return database


@contextmanager
def database_open(database: str | Path) -> Iterator[None]:
    """Have it in this process's memory, as libjack has."""
    with (Path(database) / "__db.001").open("r+b") as file, mmap.mmap(file.fileno(), 0):
        yield
