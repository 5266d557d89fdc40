"""Commands in sentences for people, as they are typed here: in a clone, installed as a service, or on the path."""

import os
import sys
from pathlib import Path
from typing import Final

WRITTEN: Final = "`nakari "
"""How every sentence of the program writes a command."""

SET_UP: Final = "run scripts/setup"
"""How every sentence of the program tells to bring what is missing of it."""

INSTALLED: Final = Path("/opt/nakari")
"""Where scripts/install puts the service, which root alone may talk to."""

PACKAGED: Final = Path("/usr/lib/nakari")
"""Where the Debian package puts it."""


def typed_here(sentence: str, started: Path | None = None) -> str:
    """Return a sentence with its commands (`nakari …`, scripts/setup) as a person types them on this machine.

    `started` is the program that runs; None: this process's own.
    """
    program = started or Path(sys.argv[0])
    typed = command(program, is_root=os.geteuid() == 0, here=Path.cwd())
    return sentence.replace(WRITTEN, f"`{typed} ").replace(SET_UP, set_up(program))


def command(program: Path, *, is_root: bool, here: Path) -> str:
    """Return what starts, in the folder `here`, the program that runs as `program`.

    That is a clone's scripts/run, known by its .venv/bin beside it; `sudo nakari` of the service; else `nakari`.
    """
    if _is_service(program):
        return "nakari" if is_root else "sudo nakari"
    script = _home(program) / "scripts" / "run"
    if program.absolute().parent != _home(program) / ".venv" / "bin" or not script.is_file():
        return "nakari"
    return str(script.relative_to(here) if script.is_relative_to(here) else script)


def set_up(program: Path) -> str:
    """Return what brings what is missing of the program that runs as `program`: in a clone scripts/setup."""
    if PACKAGED in program.absolute().parents:
        return "install the package nakari again (apt install --reinstall ./nakari_….deb)"
    if INSTALLED in program.absolute().parents:
        return "run scripts/install in a clone"
    script = _home(program) / "scripts" / "setup"
    if program.absolute().parent.name != "bin" or script.is_file():
        return SET_UP
    return "install nakari again with that extra (docs/operation.md: as a wheel)"


def _is_service(program: Path) -> bool:
    return not {INSTALLED, PACKAGED}.isdisjoint(program.absolute().parents)


def _home(program: Path) -> Path:
    """Return the folder that holds the environment of a program."""
    return program.absolute().parents[2] if len(program.absolute().parents) > 2 else Path("/")
