"""How long the start takes for 50 tool files of a person's own, beside an interpreter that only runs the same files."""

import runpy
import tempfile
from pathlib import Path
from time import perf_counter

from agent.tools.registry.discovery import PATIENCE, discover
from benchmarks.figure import Figure, milliseconds, run, short

SHOWS = ("F7",)

FILES = 50

TEXT = '''"""Tells how {number} is."""

import json
from typing import Annotated

TIMEOUT = 5.0
EFFECT = "pure"


def tool_{number}(place: str, days: Annotated[int, "how many"] = 3, exact: bool = False) -> str:
    """Tell how number {number} is at a place, for some days."""
    return json.dumps({{"place": place, "days": days, "exact": exact}})
'''

HANGS = "import threading\n\nthreading.Event().wait()\n"


def measure(*, quick: bool = False) -> Figure:
    """Discover 50 files and run them bare, in turn; then once with one among them that never loads."""
    ours: list[float] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folder = Path(name)
        for number in range(FILES):
            file = folder / f"tool_{number}.py"
            file.write_text(TEXT.format(number=number))
            file.chmod(0o644)
        builtin = _seconds_to_discover(None)  # once, so that its modules are imported
        for _ in range(2 if quick else 15):
            builtin = _seconds_to_discover(None)
            ours.append(_seconds_to_discover(folder) - builtin)
            bare.append(_seconds_to_run(folder))
        (folder / "hangs.py").write_text(HANGS)
        (folder / "hangs.py").chmod(0o644)
        hanging = _seconds_to_discover(folder, PATIENCE)
    notes = (
        f"with one more file that never loads the start waits {short(hanging)} s, and goes on without it",
        "ours checks each file's rights, makes a tool and its schema of the function, and keeps a thread for each",
    )
    return Figure(
        "Start-up with 50 tool files",
        milliseconds("found, checked and made tools", ours),
        milliseconds("the same files run by Python alone", bare),
        notes,
    )


def _seconds_to_discover(folder: Path | None, patience: float = 60.0) -> float:
    began = perf_counter()
    found = discover(None, folder, patience=patience)
    seconds = perf_counter() - began
    if folder is not None and len(found.own) + len(found.late) < FILES:  # a late one joins later
        raise RuntimeError(f"{len(found.own)} tools were found: {found.broken}")
    return seconds


def _seconds_to_run(folder: Path) -> float:
    began = perf_counter()
    for file in sorted(folder.glob("tool_*.py")):
        runpy.run_path(str(file))
    return perf_counter() - began


if __name__ == "__main__":
    run(measure)
