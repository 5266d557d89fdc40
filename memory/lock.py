"""Locks on files (flock(2)), by which two processes keep apart; the kernel lets go of one when its process dies."""

import fcntl
import os
from pathlib import Path


def lock(file: Path, *, waits: bool = False) -> int:
    """Return the descriptor that holds a file's lock; the file is made where there is none.

    Raises BlockingIOError at once when another holds it and it does not wait for that one, another OSError when the
    file cannot be made.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def unlock(descriptor: int) -> None:
    """Let go of a lock, and close its descriptor.

    To close it alone is not enough: a program that another thread is starting has a copy of it until it is executed,
    and the lock with it.
    """
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def is_locked(file: Path) -> bool:
    """Whether a process has a file's lock; it is not tried, which would keep one out that starts."""
    try:
        node = file.stat().st_ino
        held = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return False
    return any(" FLOCK " in line and f":{node} " in line for line in held.splitlines())
