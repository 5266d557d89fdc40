"""The door's place: a socket for its owner, and a group where wanted, and the lock file that dies with the process."""

import errno
import grp
import os
import socket
import stat
from pathlib import Path
from typing import Final

from appliance.errors import AlreadyRunning, Exit, Problem
from memory.lock import lock

GROUP: Final = "nakari"
"""Its members may use the service without root; `scripts/install` makes it."""


BACKLOG: Final = 1024
"""Programs that may wait to be let in (listen(2)); one more is refused by the kernel, which many clients take ill."""


def locked(path: Path) -> int:
    """Return the descriptor of a lock file that this process now holds; its death lets go of it."""
    try:
        return lock(path)
    except BlockingIOError as error:
        raise AlreadyRunning(
            f"another nakari is running here (it holds {path}); stop it, or give this one a [state] folder of its own"
        ) from error


def listener_at(path: Path, group: str = GROUP) -> socket.socket:
    """Return a socket that listens there, in place of a dead process's; raises `AlreadyRunning`, `Problem`, OSError."""
    _remove_remains(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.fchmod(listener.fileno(), 0o600)  # before bind, so that it is never open to others
        listener.bind(str(path))
        if is_shared(path.parent, group):
            path.chmod(0o660)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def is_shared(folder: Path, group: str = GROUP) -> bool:
    """Return whether members of the group may use a socket in this folder: it is theirs, and they may enter it.

    The service's unit makes such a folder; a folder that is open to any other group, as many a home is, shares nothing.
    """
    try:
        found = folder.stat()
        return bool(found.st_mode & stat.S_IXGRP) and grp.getgrgid(found.st_gid).gr_name == group
    except (OSError, KeyError):  # not there, not to be looked at, or a group without a name
        return False


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
