"""Durable renames: a folder's list of names synced before anything depends on a file made, renamed or removed."""

import os
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
