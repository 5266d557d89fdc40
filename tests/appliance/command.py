"""The command as a person starts it: a process of its own, in an environment and a home of its own."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.warm import CLIENT, Fork, can_be_warm, for_a_shell, run_warm
from tests.warm_started import WarmStarted

ROOT = Path(__file__).resolve().parents[2]

NAKARI = [sys.executable, "-m", "appliance"]

LONGEST = 300.0
"""Seconds that a command may take, which none comes near."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the variables of a user whose home is empty; PulseAudio would make a folder in /tmp for each such home."""
    own = {"HOME": str(home), "PULSE_RUNTIME_PATH": str(home / "pulse")}
    return {**own, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **more}


def nakari(home: Path, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end: a fork of what has imported it already, where no variable speaks against that."""
    variables = environment(home, **more)
    if can_be_warm(variables):
        return run_warm([str(each) for each in arguments], home, variables, LONGEST)
    return subprocess.run(
        [sys.executable, "-m", "appliance", *arguments],
        cwd=home,
        env=variables,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


def piped(told: bytes, variables: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end with something to read: a fork, in this process's folder."""
    more, descriptors = for_a_shell()
    command, own = ["sh", "-c", CLIENT, "nakari", *arguments], {**variables, **more}
    return subprocess.run(command, input=told, env=own, pass_fds=descriptors, capture_output=True, check=False)


async def started(home: Path, *arguments: str | Path, **more: str) -> WarmStarted:
    """Start the command, its output piped: a fork of what has imported it already."""
    variables = environment(home, **more)
    assert can_be_warm(variables)
    return await WarmStarted.start([str(each) for each in arguments], home, variables)


class Terminal:
    """A program whose stdin, stdout and stderr are a terminal of its own; `nakari` is forked, where it may be."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._seen = ""
        self._fork: Fork | None = None
        variables = {"TERM": "xterm", **environment}
        if [*command[:3]] == NAKARI and can_be_warm(variables):
            self._screen, theirs = pty.openpty()
            streams = (theirs, os.dup(theirs), os.dup(theirs))
            self._fork = Fork(command[3:], Path.cwd(), variables, streams, has_terminal=True)
            self._pid = self._fork.pid
            return
        self._pid, self._screen = pty.fork()
        if self._pid == 0:
            os.execve(command[0], [*command], variables)

    def until(self, words: str, seconds: float = 30.0) -> str:
        """Return what was written since the last look, these words the last of it; what follows is for the next."""
        while words not in self._seen:
            piece = self._read(seconds)
            assert piece is not None, f"{words!r} did not come: {self._seen!r}"
            self._seen += piece
        seen, found, self._seen = self._seen.partition(words)
        return seen + found

    def type(self, keys: str) -> None:
        """Press these keys once the program waits; a line ends with a line feed."""
        while Path(f"/proc/{self._pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "R":
            os.sched_yield()
        os.write(self._screen, keys.encode())

    def interrupted(self) -> tuple[str, int]:
        """Press Ctrl-C until it ends, and return what `ended` does.

        One just before Python begins to read a line is kept for that line's end: people press again.
        """
        self.type("\x03")
        for _ in range(30):
            if select.select([self._screen], [], [], 1.0)[0]:
                if (piece := self._read(1.0)) is None:
                    break
                self._seen += piece
            else:
                self.type("\x03")
        return self.ended()

    def ended(self, seconds: float = 30.0) -> tuple[str, int]:
        """Return what was written since the last look, and the exit code."""
        while (piece := self._read(seconds)) is not None:
            self._seen += piece
        os.close(self._screen)
        code = self._fork.wait() if self._fork else os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._seen.replace("\r\n", "\n"), code

    def _read(self, seconds: float) -> str | None:
        """Return what comes next, None at the end."""
        assert select.select([self._screen], [], [], seconds)[0], f"nothing came for {seconds} s: {self._seen!r}"
        try:
            return os.read(self._screen, 4096).decode(errors="replace") or None
        except OSError:  # the other end is closed: that is how a terminal ends
            return None


def on_terminal(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, int]:
    """Return all that a program writes to its terminal, and its exit code."""
    return Terminal(command, environment).ended()


def state_folder(home: Path) -> Path:
    """Return where such a user's state is."""
    return home / ".local/state/nakari"
