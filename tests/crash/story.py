"""Stories: a life that is killed, and the lives after it, until one comes to its end; then the verdict."""

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.crash.elsewhere import settle
from tests.engine_servers import Server
from tests.processes import ROOT

KILLED = "killed"


class Nursery:
    """The process that gives birth to lives."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def live(self, folder: Path, seed: int, dies_at: int) -> str:
        """Let one process live; return its boundaries, `killed`, or `failed`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder} {seed} {dies_at}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def nursery() -> Iterator[Nursery]:
    """Start a nursery; it ends with the block."""
    command = [sys.executable, "-m", "tests.crash.nursery"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Nursery(process)


def told(by: Nursery, folder: Path, seed: int, deaths: Sequence[int], server: Server | None = None) -> list[int]:
    """Live through a story, killed at these boundaries of the first lives; return those at which it really was.

    With a server its state is in that engine's log; the server is killed along at some of them.
    A life that ends before its boundary is not killed; the story is over then. Raises AssertionError when one fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    met: list[int] = []
    for dies_at in (*deaths, 0):
        settle(folder, server)
        status = by.live(folder, seed, dies_at)
        assert status != "failed", f"seed {seed}: the life after the deaths at {met} failed (killed next at {dies_at})"
        if status != KILLED:
            break
        met.append(dies_at)
    return met


def boundaries(by: Nursery, folder: Path, seed: int, server: Server | None = None) -> int:
    """Return how many boundaries a story has that nobody kills."""
    folder.mkdir(parents=True)
    settle(folder, server)
    return int(by.live(folder, seed, 0))


def deaths(seed: int, place: int, most: int) -> tuple[int, ...]:
    """Return where the lives of the nth run of a story die: mostly one of them, some again while they recover.

    By kill -9 in one run, by a cut of the power (below 0) in the next.
    """
    chance = random.Random(f"deaths {seed} {place}")
    again = [chance.randint(1, max(1, most // 3)) for _ in range(chance.choice((0, 0, 1, 2)))]
    steps = (chance.randint(1, most), *again)
    return tuple(-step for step in steps) if place % 2 else steps
