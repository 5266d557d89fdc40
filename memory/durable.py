"""Durable renames: a folder's list of names synced before anything depends on a file made, renamed or removed."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO


def sync_folder(folder: Path) -> None:
    """Bring a folder's list of names to the disk (fsync(2): a file's own sync does not). Blocking. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename_durably(new: Path, file: Path) -> None:
    """Let a file, whose content is on the disk, take the place of another in the same folder, on the disk on return.

    Blocking. Raises OSError.
    """
    new.replace(file)
    sync_folder(file.parent)


def replace_durably(file: Path, content: Iterable[bytes]) -> None:
    """Put a private file of that content in the place of another, in one step that survives a cut of the power.

    Blocking. Raises OSError, which names the file.
    """
    new = file.with_suffix(".new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as written:
            written.writelines(content)
            written.flush()
            os.fsync(written.fileno())
    except OSError as error:
        error.filename = str(file)  # of an open file the system names none
        raise
    rename_durably(new, file)


@asynccontextmanager
async def folder_for_now(parent: Path, prefix: str) -> AsyncIterator[Path]:
    """Give a new folder in another, which goes when the block ends, with all that is in it. Raises OSError."""
    made = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix=prefix, dir=parent)
    try:
        yield Path(made.name)
    finally:
        await asyncio.to_thread(made.cleanup)


@asynccontextmanager
async def written_beside(target: Path) -> AsyncIterator[BinaryIO]:
    """Give a file to write beside the target, which takes its place if the block ends well. Raises OSError."""
    part = target.with_name(f"{target.name}.part")
    try:
        with await asyncio.to_thread(part.open, "wb") as file:
            yield file
        await asyncio.to_thread(part.replace, target)
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)
