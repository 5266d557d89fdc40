"""Puts a file in place in one step: whoever reads it meanwhile sees the old one or the new one, whole."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from typing import Final, Literal, TypeAlias

BEFORE: Final = "~"
"""Ends the name of the one copy of what a file held before it was replaced, beside it."""

How: TypeAlias = Literal["new", "append", "replace"]

_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EINVAL)
"""What a file system says that has no hard links, such as FAT."""


def put(folder: int, name: str, raw: bytes, how: How) -> None:
    """Make a file of an open folder hold these bytes. Raises OSError, and leaves the folder as it was then.

    FileExistsError for a new one whose name is taken. A replaced one stays beside it, once, with `BEFORE` at its end.
    """
    unfinished = f".{secrets.token_hex(8)}.nakari"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(unfinished, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as written:
            written.write(raw)
            written.flush()
            os.fchmod(file, _mode(folder, name))
            os.fsync(file)
        if how == "replace":
            _keep(folder, name)
        if how == "new":
            _place(folder, unfinished, name)
        else:
            _rename(folder, unfinished, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise
    os.fsync(folder)


def _mode(folder: int, name: str) -> int:
    """Return the rights of the file that is there, else what the folder grants: its people read what nakari writes."""
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode) & 0o777
    except FileNotFoundError:
        return stat.S_IMODE(os.fstat(folder).st_mode) & 0o666


def _keep(folder: int, name: str) -> None:
    """Give the old file its second name before it loses its first: at no moment is there none."""
    second = f".{secrets.token_hex(8)}.nakari"
    try:
        os.link(name, second, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        second = name
    try:
        _rename(folder, second, name + BEFORE)
    except OSError:
        if second != name:
            os.unlink(second, dir_fd=folder)
        raise


def _place(folder: int, unfinished: str, name: str) -> None:
    """Give a new file its name, unless another has it."""
    try:
        os.link(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename(folder, unfinished, name)
    else:
        os.unlink(unfinished, dir_fd=folder)


def _rename(folder: int, old: str, new: str) -> None:
    os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
