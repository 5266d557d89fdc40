"""README's table of figures and the page behind it, from what was measured, with the machine and the day."""

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figure import Figure, short

HEAD = """\
## What it costs

Each line was measured in one run against a floor (the least that any program of the kind does) or a peer: trust the
ratios, not the seconds. `scripts/bench` measures them on your machine; what exactly was measured is in
[docs/figures.md](docs/figures.md).
"""

PAGE_HEAD = """\
# The figures of README, in full

Written by `scripts/bench --readme`. Each figure is a file in `benchmarks/`, runs by itself
(`python -m benchmarks.NAME`) and measures both sides in turn in one run: ours first, then the floor or peer that it is
held against. Medians, quartiles in brackets.
"""

FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)


def table(figures: Sequence[Figure], circumstances: str) -> str:
    """Return README's part: one line a figure, with the first of its notes."""
    lines = [HEAD, "| figure | here | held against | ratio | also |", "|---|---|---|---|---|"]
    lines += [
        f"| {each.name} | {each.ours} | {each.against}, {each.against.what} | {short(each.ratio)} × "
        f"| {each.notes[0] if each.notes else ''} |"
        for each in figures
    ]
    return "\n".join([*lines, "", f"Medians, quartiles in brackets. {circumstances}"]) + "\n"


def page(figures: Sequence[Figure], circumstances: str) -> str:
    """Return the page behind the table."""
    printed = "\n\n".join(f"```\n{figure}\n```" for figure in figures)
    return f"{PAGE_HEAD}\n{circumstances}\n\n{printed}\n"


def conditions() -> str:
    """Return on what machine, when, and how busy it was."""
    load, day = os.getloadavg()[0], datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    python = f"Python {platform.python_version()}"
    return f"{_processor()}, {os.cpu_count()} cores, {_system()}, {python}; {day}, load {load:.1f} at the start."


def write(readme: Path, text: str) -> None:
    """Put the table between README's markers. Raises ValueError where it has none."""
    before = readme.read_text(encoding="utf-8")
    if not FIGURES.search(before):
        raise ValueError(f"{readme} has no <!-- figures --> and <!-- /figures -->")
    readme.write_text(FIGURES.sub(lambda _: text, before), encoding="utf-8")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model")))
    return next(named, platform.machine())


def _system() -> str:
    return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
