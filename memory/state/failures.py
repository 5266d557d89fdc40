"""Failures of the state database's file and folder, each as one sentence with its fix."""

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from memory.errors import DiskFull, StateUnusable

_ANEW: Final = "restore it from a backup, or move it away to begin anew"
_OURS: Final = "make it and its folder writable for this user, or set another [state] folder"
_FIXES: Final = {
    sqlite3.SQLITE_FULL: "free some disk space",
    sqlite3.SQLITE_IOERR: "free some disk space, or see with dmesg whether the disk fails",
    **dict.fromkeys((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB), _ANEW),
    **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), _OURS),
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), "close the other program that has it open"),
}
"""The failures of the file, by SQLite's primary result code. Every other code is a bug of the caller and stays one."""

_IN_THE_WAY: Final = (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP)
"""Refusals of the system where something else stands in a file's or a folder's place."""


def explained(path: Path, error: Exception) -> Exception:
    """Return a failure of a state database's file as one sentence with its fix, anything else as it is."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in _FIXES:
        return error
    if os.path.lexists(path) and not path.is_file():
        return StateUnusable(f"the state database {path} cannot be used (it is no file); {_ANEW}")
    failure = DiskFull if code == sqlite3.SQLITE_FULL else StateUnusable
    return failure(f"the state database {path} cannot be used ({error}); {_FIXES[code]}")


def folder_unusable(folder: Path, error: OSError) -> StateUnusable:
    """Return what says that a state folder cannot be used, and the fix."""
    if error.errno in _IN_THE_WAY:
        what = f"the state folder {folder} cannot be used ({error.filename}: {error.strerror})"
        return StateUnusable(f"{what}; move that away, or set another [state] folder")
    fix = _FIXES[sqlite3.SQLITE_FULL] if error.errno in (errno.ENOSPC, errno.EDQUOT) else _OURS
    return StateUnusable(f"the state folder {folder} cannot be used ({error.strerror}); {fix}")
