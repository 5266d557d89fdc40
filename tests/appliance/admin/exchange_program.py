"""Puts one state in the place of another and dies by kill -9 just before the nth step on the disk; 0 is never."""

import os
import signal
import sys
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


if __name__ == "__main__":
    state = Path(sys.argv[1])
    die_before(int(sys.argv[2]))
    exchange.begin(state, state / "restoring")
    exchange.finish(state)
