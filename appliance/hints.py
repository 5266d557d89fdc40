"""Commands in sentences for people, as they are typed here: in a clone, installed as a service, or on the path."""

import os
import sys
from pathlib import Path
from typing import Final

WRITTEN: Final = "`nakari "
"""How every sentence of the program writes a command."""

INSTALLED: Final = Path("/opt/nakari")
"""Where scripts/install puts the service, which root alone may talk to."""


def typed_here(sentence: str) -> str:
    """Return a sentence with its commands (`nakari …`) as a person types them on this machine."""
    return sentence.replace(WRITTEN, f"`{command(Path(sys.argv[0]), is_root=os.geteuid() == 0, here=Path.cwd())} ")


def command(program: Path, *, is_root: bool, here: Path) -> str:
    """Return what starts, in the folder `here`, the program that runs as `program`.

    That is a clone's scripts/run, known by its .venv/bin beside it; `sudo nakari` of the service; else `nakari`.
    """
    home = program.absolute().parents[2] if len(program.absolute().parents) > 2 else Path("/")
    if home == INSTALLED:
        return "nakari" if is_root else "sudo nakari"
    script = home / "scripts" / "run"
    if program.absolute().parent != home / ".venv" / "bin" or not script.is_file():
        return "nakari"
    return str(script.relative_to(here) if script.is_relative_to(here) else script)
