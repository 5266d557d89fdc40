"""What `nakari --help` takes, against a program that only imports click."""

import sys

from benchmarks.figure import Figure, Series, run
from benchmarks.processes import seconds_to_first_output
from tests.service.process import NAKARI


def measure(*, quick: bool = False) -> Figure:
    """Start each in turn and wait for its first letter."""
    ours, bare = [], []
    for _ in range(1 if quick else 11):
        ours.append(seconds_to_first_output([*NAKARI, "--help"]))
        bare.append(seconds_to_first_output([sys.executable, "-c", "import click\nprint('Usage')"]))
    return Figure(
        "From the command to its help",
        Series("nakari --help", "s", tuple(ours)),
        Series("a program that imports click", "s", tuple(bare)),
        (),
    )


if __name__ == "__main__":
    run(measure)
