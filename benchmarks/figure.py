"""What a benchmark measured: ours and what it is held against, in one run, and their ratio."""

import argparse
import logging
import statistics
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct


class Series(Struct, frozen=True):
    """One thing, measured several times."""

    what: str
    unit: str
    values: tuple[float, ...]
    """In the order measured, at least one."""

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles; of fewer than four values the least and the greatest."""
        if len(self.values) < 4:
            return min(self.values), max(self.values)
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return low, high

    def __str__(self) -> str:
        low, high = self.spread
        return f"{short(self.median)} {self.unit} ({short(low)}–{short(high)})"


class Figure(Struct, frozen=True):
    """One line of the table in docs/figures.md."""

    name: str
    ours: Series
    against: Series
    """A floor that no program of the kind can go below, or a peer; in the same unit."""
    notes: tuple[str, ...] = ()
    """What else the same run showed, and what the figure does not say."""

    @property
    def ratio(self) -> float:
        """Ours over what it is held against, median over median."""
        return self.ours.median / self.against.median

    def __str__(self) -> str:
        lines = [f"{self.name}: {short(self.ratio)} ×"]
        lines += [f"  {series}  {series.what}, n = {len(series.values)}" for series in (self.ours, self.against)]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def to_json(self) -> str:
        """Return one line that `from_json` reads."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, line: str) -> "Figure":
        """Return what `to_json` wrote."""
        return msgspec.json.decode(line, type=cls)


class Measure(Protocol):
    """What every benchmark is."""

    def __call__(self, *, quick: bool = False) -> Figure:
        """Return the figure; quick is for seeing that it works, its numbers mean little."""


def short(value: float) -> str:
    """Return a number to two figures, or to the unit where that is finer."""
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}" if abs(value) >= 0.95 else f"{value:#.2g}"


def milliseconds(what: str, seconds: Iterable[float]) -> Series:
    """Return times as a series in milliseconds."""
    return Series(what, "ms", tuple(each * 1000 for each in seconds))


def run(measure: Measure, arguments: Sequence[str] | None = None) -> None:
    """Measure and print: what `python -m benchmarks.FOLDER.NAME` does."""
    parser = argparse.ArgumentParser(description="Measure one figure.")
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    wanted = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    figure = measure(quick=wanted.quick)
    print(figure.to_json() if wanted.json else figure)
