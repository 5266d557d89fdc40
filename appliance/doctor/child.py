"""A check in a process of its own, for what may hang or abort; it prints what it found."""

import signal
import subprocess
import sys
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
    slow_fix: str
    """What fixes its hanging."""


class Broken(Exception):
    """A process of a check hung or broke down; its line says which."""

    def __init__(self, line: Line) -> None:
        super().__init__(line.what)
        self.line = line


def printed(name: str, culprit: Culprit, module: str, *arguments: str) -> bytes:
    """Return what a module of ours prints, run for the check of this name. Raises `Broken`."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=program.FOLDER,
            capture_output=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        what = f"{culprit.name} did not answer within {CHILD_SECONDS:g} s"
        raise Broken(Line(name, Verdict.FAULT, what, culprit.slow_fix)) from error
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        end = f"ended with {done.returncode}" if done.returncode > 0 else signal.Signals(-done.returncode).name
        raise Broken(Line(name, Verdict.FAULT, f"{culprit.name} broke down ({words or end})", culprit.broken_fix))
    return done.stdout
