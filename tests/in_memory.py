"""Folders in memory, for tests that do not ask what a cut of the power leaves: nobody waits for a disk there.

A kill takes nothing from a folder in memory either: what was written lies with the kernel, here as on a disk.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

IN_MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""The folder for `tempfile`; None is its own choice, where there is no such place."""


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """An empty folder, removed at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="nakari-", dir=IN_MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """An empty folder, removed after the test."""
    with folder_in_memory() as folder:
        yield folder
