"""Feeds the parsers that strangers reach for a stated time each: `scripts/bench fuzz`."""

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings

from benchmarks.fuzz import files, streams, words
from benchmarks.fuzz.target import Target

TARGETS: Final = (*words.TARGETS, *streams.TARGETS, *files.TARGETS)

MOST_MEGABYTES: Final = 600
"""That this process may grow by while one parser is fed."""


def fed(target: Target, *, examples: int, derandomize: bool, after: Callable[[float], None] = lambda _: None) -> None:
    """Feed a parser so many inputs; raises what it raises, on the smallest input that hypothesis finds.

    `after` is told how many seconds each took.
    """

    @settings(
        max_examples=examples,
        derandomize=derandomize,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )
    @given(target.inputs)
    def feed(given_input: Any) -> None:
        began = time.monotonic()
        target.take(given_input)
        after(time.monotonic() - began)

    feed()


def main(arguments: Sequence[str] | None = None) -> None:
    """Feed what is named, else all; end with 1 when something was found."""
    parser = argparse.ArgumentParser(prog="scripts/bench fuzz", description="Feed the parsers that strangers reach.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(each.name for each in TARGETS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each parser")
    wanted = parser.parse_args(arguments)
    if unknown := set(wanted.names) - {each.name for each in TARGETS}:
        parser.error(f"no such parser: {', '.join(sorted(unknown))}")
    chosen = [each for each in TARGETS if not wanted.names or each.name in wanted.names]
    if [target for target in chosen if not _held(target, wanted.seconds)]:
        sys.exit(1)


def _held(target: Target, seconds: float) -> bool:
    """Feed one parser for so long, tell how it went, and return whether it held."""
    times: list[float] = []
    before, by = _megabytes(), time.monotonic() + seconds
    problem = ""
    try:
        while time.monotonic() < by:
            fed(target, examples=target.examples, derandomize=False, after=times.append)
    except Exception as error:  # noqa: BLE001  whatever comes out is the find
        problem = f"{type(error).__name__}: {error}; " + " ".join(getattr(error, "__notes__", ()))
    grown, slowest = _megabytes() - before, max(times, default=0.0)
    if slowest > target.seconds:
        problem = problem or f"an input took {slowest:.1f} s"
    if grown > MOST_MEGABYTES:
        problem = problem or f"it grew by {grown:.0f} MB"
    told = f"{len(times)} inputs, slowest {slowest:.2f} s, {grown:.0f} MB more"
    print(f"{'NO ' if problem else 'yes'} {target.name}: {told}", flush=True)
    if problem:
        print(f"    {problem}", flush=True)
    return not problem


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


if __name__ == "__main__":
    main()
