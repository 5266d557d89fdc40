"""Durable renames: a folder's list of names synced before anything depends on a file made, renamed or removed."""

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600
"""The mode of a file for its owner's eyes only."""


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


def replace_durably(file: Path, content: Iterable[bytes], mode: int = PRIVATE) -> None:
    """Put a file of that content in the place of another, in one step that survives a cut of the power.

    Several who do so in one folder do it one after the other, and what is there is whole; what a process that was
    killed left beside the file, the next one takes for its own. Blocking. Raises OSError, which names the file.
    """
    new = file.with_name(f"{file.name}.new")
    try:
        turn = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with suppress(OSError):  # NFS knows no lock of a folder
                fcntl.flock(turn, fcntl.LOCK_EX)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "wb") as written:
                written.writelines(content)
                written.flush()
                if mode != PRIVATE:  # whatever the umask is; not every file system knows modes
                    os.fchmod(written.fileno(), mode)
                os.fsync(written.fileno())
            rename_durably(new, file)
        finally:
            with suppress(OSError):
                new.unlink()
            os.close(turn)
    except OSError as error:
        error.filename = str(file)  # of an open file the system names none
        raise
