"""What the kernel says of a process, and programs whose first words are timed."""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Final

from tests.service.privacy import clean_environment

ROOT: Final = Path(__file__).parents[1]


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process's living threads so far, in seconds."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def resident_megabytes(pid: int) -> float:
    """Return the memory of a process that is in RAM now, shared pages included, in 10^6 bytes."""
    return int(_status(pid)["VmRSS"].split()[0]) * 1024 / 1e6


def all_megabytes(pids: Iterable[int]) -> float:
    """Return what those of the processes that still live have in RAM now, as `resident_megabytes` does."""
    megabytes = 0.0
    for each in pids:
        with suppress(OSError, KeyError):  # it has ended meanwhile, or is just ending: it has no memory of its own
            megabytes += resident_megabytes(each)
    return megabytes


def parts_of(pid: int) -> tuple[list[int], list[int]]:
    """Return the processes of a running nakari, those that listen for it included, and that of its graph store."""
    own, store = [pid], list[int]()
    for child in children_of(pid):
        with suppress(OSError):  # ended meanwhile
            is_store = b"memory.graph" in Path(f"/proc/{child}/cmdline").read_bytes()
            (store if is_store else own).append(child)
    return own, store


def children_of(pid: int) -> list[int]:
    """Return the processes that it started and that still live; its threads' own lists may leave one out."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile
            told = _status(int(process.name))
            if told["PPid"].strip() == str(pid) and not told["State"].strip().startswith("Z"):
                found.append(int(told["Pid"]))
    return found


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":", 1) for line in lines)


@contextmanager
def speaking(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator["subprocess.Popen[str]"]:
    """Run a program of this folder's whose standard output is read; it is killed at the end of the block.

    What it then leaves in its temporary folder goes with that.
    """
    with (
        tempfile.TemporaryDirectory(prefix="nakari-bench-") as own,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={**clean_environment(TMPDIR=own), **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in a fresh interpreter."""
    return [sys.executable, "-m", name, *arguments]


def line_of(process: "subprocess.Popen[str]") -> str:
    """Return its next line of output. Raises `EOFError` when it ended instead."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise EOFError(f"{process.args!r} ended with {process.wait()} before it said anything")
    return line.rstrip("\n")


def seconds_to_first_output(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Return the time from the start of a program to the first character it prints."""
    began = perf_counter()
    with speaking(command, environment) as process:
        assert process.stdout is not None
        if not process.stdout.read(1):
            raise EOFError(f"{command!r} ended with {process.wait()} before it said anything")
        return perf_counter() - began
