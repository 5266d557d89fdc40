"""Becomes the program of an MCP server, after asking the kernel to end it when nakari ends, however that ends."""

import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h; it outlives the exec below."""


def leashed(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that runs a command on the leash of this process."""
    return (sys.executable, "-I", "-S", str(Path(__file__).resolve()), str(os.getpid()), *command)


def main(parent: int, command: list[str]) -> None:
    """Become the command; ends with a sentence on standard error where there is no such program."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be run: {error.strerror}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
