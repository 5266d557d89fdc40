"""The page of figures and README's few lines of it, from what was measured, with the machine and the day."""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figure import Figure, short

PAGE_HEAD = """\
# Figures

Each line was measured in one run against a floor (the least that any program of the kind does) or a peer: trust the
ratios, not the seconds. `scripts/bench --readme` measures them all on your machine, writes this page and takes five of
them into README. Each figure is a file in a folder of `benchmarks/`, runs by itself (such as `python -m
benchmarks.agent.mailbox`) and measures both sides in turn: ours first, then the floor or peer that it is held against.
Medians, quartiles in brackets.
"""

IN_FULL = "## In full, as each benchmark printed it"

IN_README = ("speech_to_sound", "endpointing", "barge_in_delay", "idle_listening", "idle_memory")
"""The benchmarks whose figures README repeats, in its order."""

FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)


def front(figures: Mapping[str, Figure], circumstances: str) -> str:
    """Return README's part: one line for each benchmark of `IN_README`, out of the figures by benchmark."""
    lines = ["| figure | here | held against | ratio |", "|---|---|---|---|"]
    lines += [_line(figures[name]) for name in IN_README]
    return "\n".join([*lines, "", f"Medians, quartiles in brackets. {circumstances}"]) + "\n"


def page(figures: Sequence[Figure], circumstances: str) -> str:
    """Return the page: a table with the first note of each figure, then every figure as it was printed."""
    lines = ["| figure | here | held against | ratio | also |", "|---|---|---|---|---|"]
    lines += [f"{_line(each)} {each.notes[0] if each.notes else ''} |" for each in figures]
    table = "\n".join(lines)
    printed = "\n\n".join(f"```\n{figure}\n```" for figure in figures)
    return f"{PAGE_HEAD}\n{circumstances}\n\n{table}\n\n{IN_FULL}\n\n{printed}\n"


def conditions() -> str:
    """Return on what machine, when, and how busy it was."""
    load, day = os.getloadavg()[0], datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    python = f"Python {platform.python_version()}"
    return f"{_processor()}, {os.cpu_count()} cores, {_system()}, {python}; {day}, load {load:.1f} at the start."


def write(readme: Path, text: str) -> None:
    """Put the lines between README's markers. Raises ValueError where it has none."""
    before = readme.read_text(encoding="utf-8")
    if not FIGURES.search(before):
        raise ValueError(f"{readme} has no <!-- figures --> and <!-- /figures -->")
    readme.write_text(FIGURES.sub(lambda _: text, before), encoding="utf-8")


def _line(figure: Figure) -> str:
    against = f"{figure.against}, {figure.against.what}"
    return f"| {figure.name} | {figure.ours} | {against} | {short(figure.ratio)} × |"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model")))
    return next(named, platform.machine())


def _system() -> str:
    return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
