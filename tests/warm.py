"""`nakari` as a real process that need not import it anew: a fork of one that has, with streams and signals of its own.

Half of a command's processor time, and of a service's start, is Python reading modules. Who asks what that costs, or
what is read at all (tests/service/test_lean.py, tests/appliance/test_footprint.py), starts Python itself; so does every
benchmark, which is no test.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.warm_client import FORKED
from tests.warm_program import ROOT

ALREADY: Final = {"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
"""The environment of what is forked, as far as it is read before a program's first line."""

TOO_LATE: Final = ("LD_", "PYTHON", "LANG", "LC_", "MALLOC_")
"""How the names of such variables begin: whoever sets another value has Python started anew."""


def can_be_warm(environment: Mapping[str, str]) -> bool:
    """Say whether a fork is what a process would be that is started in this environment, and nobody measures it."""
    return "PYTEST_CURRENT_TEST" in os.environ and all(
        ALREADY.get(name) == value for name, value in environment.items() if name.startswith(TOO_LATE)
    )


class _Forked:
    """The process that is forked; one for each process of the suite, started when it is first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._link: socket.socket | None = None

    def fork(self, request: Mapping[str, object], descriptors: Sequence[int]) -> int:
        """Have a command started on these three streams, and its status told to the fourth; return its process id."""
        with self._lock:
            link = self.link()
            socket.send_fds(link, [json.dumps(request).encode()], descriptors)
            told = link.recv(32)
            assert told, "the process that is forked has ended"
            return int(told)

    def link(self) -> socket.socket:
        """Return the socket on which it is asked; it is started where it was not yet."""
        self._link = self._link or self._started()
        return self._link

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        number = theirs.fileno()
        command = [sys.executable, "-m", "tests.warm_program", str(number)]
        environment = {"PATH": os.environ["PATH"], **ALREADY}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[number], stdin=subprocess.DEVNULL)
        theirs.close()
        atexit.register(process.wait)
        atexit.register(process.kill)  # first: the last one registered
        return ours


_FORKED: Final = _Forked()

CLIENT: Final = f'exec "{sys.executable}" -I -S "{ROOT}/tests/warm_client.py" "$@"'
"""In the language of sh, what stands for `nakari` in a shell that is started with what `for_a_shell` gives."""


def for_a_shell() -> tuple[dict[str, str], list[int]]:
    """Return the variables and the descriptors that a shell needs in which `CLIENT` is typed.

    While it runs nobody else may ask for a fork.
    """
    number = _FORKED.link().fileno()
    return {FORKED: str(number)}, [number]


class Fork:
    """`nakari` with these arguments, forked onto three streams, and how it ends."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
        *,
        has_terminal: bool = False,
    ) -> None:
        """Start it in a folder; its ends of the streams are closed here. With `has_terminal` they are its terminal."""
        self._name = f"nakari {' '.join(arguments)}"
        self.code: int | None = None
        """As `wait` returned it."""
        request = {"arguments": [*arguments], "folder": str(folder), "environment": {**environment}}
        self.status, to_status = os.pipe()
        """Readable once it has ended; closed when that was told."""
        try:
            self.pid = _FORKED.fork({**request, "terminal": has_terminal}, (*streams, to_status))
        finally:
            for descriptor in {*streams, to_status}:
                os.close(descriptor)
        self._waiting = threading.Lock()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its exit code, or the signal as a negative number. Raises `TimeoutExpired`."""
        with self._waiting:
            if self.code is None:
                if not select.select([self.status], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(self._name, timeout or 0.0)
                told = os.read(self.status, 32)
                os.close(self.status)
                assert told, "the process that was forked has ended"
                self.code = os.waitstatus_to_exitcode(int(told))
            return self.code


class WarmProcess:
    """What `subprocess.Popen` is of a program, of `nakari` with these arguments; its streams are text."""

    def __init__(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """Start it in a folder, with nothing to read."""
        self.args = ["nakari", *arguments]
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._fork = Fork(arguments, folder, environment, (nothing, to_out, to_err))
        self.pid = self._fork.pid
        self.stdout, self.stderr = os.fdopen(out, encoding="utf-8"), os.fdopen(err, encoding="utf-8")

    @property
    def returncode(self) -> int | None:
        """What `wait` returned; None where nobody has asked since it ended."""
        return self._fork.code

    def poll(self) -> int | None:
        """Return its exit code, or the signal that ended it as a negative number; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the code. Raises `subprocess.TimeoutExpired`."""
        return self._fork.wait(timeout)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it is known to have ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Send it SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end; return what it wrote to both streams. Raises `subprocess.TimeoutExpired`."""
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.append(self.stderr.read()), daemon=True)
        reader.start()
        out = self.stdout.read()
        self.wait(timeout)
        reader.join()
        return out, said[0]

    def __enter__(self) -> Self:
        """Start nothing: it runs."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its streams and wait for its end, as `subprocess.Popen` does."""
        self.stdout.close()
        self.stderr.close()
        self.wait()


def run_warm(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run `nakari` to its end. One that takes longer than `timeout` seconds is killed, which its code tells."""
    with WarmProcess(arguments, folder, environment) as process:
        last = threading.Timer(timeout, process.kill)
        last.start()
        try:
            out, said = process.communicate()
        finally:
            last.cancel()
        return subprocess.CompletedProcess(process.args, process.wait(), out, said)
