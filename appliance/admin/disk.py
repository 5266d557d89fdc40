"""The disk of a state folder: whether it answers, and how much room it should have."""

import os
import sys
from pathlib import Path
from select import select
from typing import Final

from memory.errors import DiskSilent

LITTLE_SPACE: Final = 1_000_000_000
"""Bytes: a Whisper model and a month of journal still fit."""

NO_SPACE: Final = 200_000_000
"""Bytes; with less a download or a backup fills it."""

PATIENCE: Final = 5.0
"""Seconds within which a disk takes one byte, also a card that tidies up meanwhile."""

PROGRAM: Final = """
import os, sys, tempfile
with tempfile.TemporaryFile(dir=sys.argv[1]) as file:
    file.write(b"?")
    file.flush()
    os.fsync(file.fileno())
"""


def require_answer(folder: Path, patience: float = PATIENCE, program: str = PROGRAM) -> None:
    """Return when the disk of a folder has taken a byte, or refused it. Blocking. Raises `DiskSilent`.

    A child asks it: a process that waits for a frozen disk can be ended by nobody.

    What a disk refuses is told by whoever opens the state. The child is left to a disk that does not answer.
    """
    if not folder.is_dir():
        return
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    given = [sys.executable, "-I", "-S", "-c", program, str(folder)]
    child = os.posix_spawn(sys.executable, given, os.environ, file_actions=nothing, setsid=True)
    ended = os.pidfd_open(child)
    try:
        is_over = select([ended], [], [], patience)[0]
    finally:
        os.close(ended)
    if not is_over:
        what = f"the state folder {folder} cannot be used (its disk does not answer)"
        raise DiskSilent(f"{what}; see with dmesg whether it fails")
    os.waitpid(child, 0)
