"""A process that gives birth: it imports everything once, and each life is a fork of it, which costs milliseconds.

It reads lines `folder seed dies_at`, and answers each with what became of the life: its number of boundaries, `killed`
or `failed`.
"""

import asyncio
import logging
import os
import signal
import sys
import traceback
from pathlib import Path

import structlog

from tests.crash.life import live


def main() -> None:
    """Give birth to one life after the other, until the input ends."""
    for line in sys.stdin:
        folder, seed, dies_at = line.split()
        said, says = os.pipe()
        child = os.fork()
        if not child:
            os.close(said)
            os._exit(_live(Path(folder), int(seed), int(dies_at), says))
        os.close(says)
        with os.fdopen(said) as words:
            passed = words.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{_fate(status, passed)}\n")
        sys.stdout.flush()


def _fate(status: int, passed: str) -> str:
    if status == -signal.SIGKILL:
        return "killed"
    return passed if status == 0 else "failed"


def _live(folder: Path, seed: int, dies_at: int, says: int) -> int:
    """Live in the forked process; return its exit status."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        os.write(says, str(asyncio.run(live(folder, seed, dies_at))).encode())
    except BaseException:  # noqa: BLE001  the end of a process: nothing may return into its parent's code
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
