"""A check in a process of its own, for what may hang or abort; it prints what it found."""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from appliance import program
from appliance.doctor.examine import Line, Verdict

CHILD_SECONDS: Final = 15.0
"""PortAudio can hang in a frozen sound server, a model in too little memory; their processes are killed then."""


class Culprit(Struct, frozen=True):
    """Who runs in the process of a check."""

    name: str
    broken_fix: str
    """What fixes its breakdown."""
    slow_fix: Callable[[int], str]
    """What fixes its hanging, by the number of the process, which hangs still."""


class Broken(Exception):
    """A process of a check hung or broke down; its line says which."""

    def __init__(self, line: Line) -> None:
        super().__init__(line.what)
        self.line = line


def printed(name: str, culprit: Culprit, module: str, *arguments: str, patience: float = CHILD_SECONDS) -> bytes:
    """Return what a module of ours prints, run for the check of this name, for `patience` seconds. Raises `Broken`."""
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=program.FOLDER,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            told, complaints = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired as error:
            what = f"{culprit.name} did not answer within {patience:g} s"
            raise Broken(Line(name, Verdict.FAULT, what, culprit.slow_fix(child.pid))) from error
        finally:
            child.kill()
    if child.returncode != 0:
        words = complaints.decode(errors="replace").strip().rpartition("\n")[2]
        end = f"ended with {child.returncode}" if child.returncode > 0 else signal.Signals(-child.returncode).name
        raise Broken(Line(name, Verdict.FAULT, f"{culprit.name} broke down ({words or end})", culprit.broken_fix))
    return told
