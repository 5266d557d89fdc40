"""The door's place: a socket for its owner, and a group where wanted, and the lock file that dies with the process."""

import errno
import fcntl
import grp
import os
import socket
import stat
from pathlib import Path

from appliance.errors import AlreadyRunning, Problem
from appliance.exits import Exit


def locked(path: Path) -> int:
    """Return the descriptor of a lock file that this process now holds; its death lets go of it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise AlreadyRunning(
            f"another nakari is running here (it holds {path}); stop it, or give this one a [state] folder of its own"
        ) from error
    return descriptor


def listener_at(path: Path) -> socket.socket:
    """Return a socket that listens there, in place of a dead process's; raises `AlreadyRunning`, `Problem`, OSError."""
    _remove_remains(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.fchmod(listener.fileno(), 0o600)  # before bind, so that it is never open to others
        listener.bind(str(path))
        if group_of(path.parent) is not None:
            path.chmod(0o660)
        listener.listen()
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def group_of(folder: Path) -> str | None:
    """Return the group whose members may use a socket in this folder; None where only its owner may.

    The folder says so by its set-group-ID bit, without which it is open to the group for other reasons, as many a home
    is, and by being closed to all others. A group without a name is given by its number.
    """
    try:
        found = folder.stat()
    except OSError:
        return None
    if not found.st_mode & stat.S_ISGID or not found.st_mode & stat.S_IXGRP or found.st_mode & stat.S_IXOTH:
        return None
    try:
        return grp.getgrgid(found.st_gid).gr_name
    except KeyError:
        return str(found.st_gid)


def _remove_remains(path: Path) -> None:
    """Remove the socket of a dead process; refuse to touch anything else."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise Problem(f"{path} is there and is no socket; move it away, or set [door] socket", Exit.CANNOT_CREATE)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.setblocking(False)
        if caller.connect_ex(str(path)) != errno.ECONNREFUSED:  # success, or a full queue: somebody lives there
            raise AlreadyRunning(f"another program answers at {path}; stop it, or set another path with [door] socket")
    path.unlink()
