"""Puts one state in the place of another and dies by kill -9 just before the nth step on the disk; 0 is never.

Which step and which state each line of standard input says; a fork of this program does it, so that only the first
waits for what is imported. Its exit code is the line of the answer.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from appliance.admin import exchange

STEPS = {"os.rename", "os.remove", "os.rmdir"}


def die_before(number: int) -> None:
    """Count the steps from now on."""
    left = number

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        left -= event in STEPS
        if event in STEPS and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def each_in_a_fork(does: Callable[[Path], None]) -> None:
    """Do it with the state of each line of standard input, and die before its step; print how that ended."""
    for line in sys.stdin:
        number, state = line.rstrip("\n").split(" ", 1)
        if (fork := os.fork()) == 0:
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what it logs is no answer
            die_before(int(number))
            does(Path(state))
            os._exit(0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])}\n")
        sys.stdout.flush()


def exchanged(state: Path) -> None:
    """Put what is to be restored in the place of the state."""
    exchange.begin(state, state / "restoring")
    exchange.finish(state)


if __name__ == "__main__":
    each_in_a_fork(exchanged)
