"""Durable renames: a folder's list of names synced before anything depends on a file made, renamed or removed."""

import os
from collections.abc import Iterable
from pathlib import Path


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
