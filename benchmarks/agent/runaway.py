"""The runaway in full: a model that makes children, timers and series in every turn, and people who ask meanwhile.

`python -m benchmarks.agent.runaway` lives some hours of virtual time from a minute before midnight, with what the
agent's own work may take by default, and asks at random moments; it fails where a bound is passed or a question waits.
tests/agent/test_runaway.py is its sample.
"""

import argparse
import logging
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import structlog

from agent.mailbox import Allowance
from tests.agent.runaway import THOUGHT, Runaway, runaway

HOURS = 1.0
QUESTIONS = 200

MOST_WAIT = 5 * THOUGHT
"""Seconds: the answer's own thought, and one for each of the four timers that the first question may have set."""


def main() -> None:
    """Let it run away, and tell what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent.runaway", description=__doc__)
    parser.add_argument("--hours", type=float, default=HOURS, help=f"of virtual time (default: {HOURS:g})")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help=f"of people (default: {QUESTIONS})")
    parser.add_argument("--seed", type=int, default=1, help="of their moments")
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    seconds, chance, began = wanted.hours * 3600, random.Random(wanted.seed), time.monotonic()
    moments = sorted(chance.uniform(1, seconds - 10) for _ in range(wanted.questions))
    apart = [at for before, at in zip([0.0, *moments], moments, strict=False) if at - before > 1]
    with tempfile.TemporaryDirectory(prefix="nakari-runaway-") as folder:
        told = runaway(Path(folder), Allowance(), seconds, apart)
    print(_summary(told, wanted.hours, time.monotonic() - began))
    sys.exit("\n".join(_wrong(told, len(apart))) or 0)


def _wrong(told: Runaway, questions: int) -> Iterator[str]:
    """Yield what passed its bound."""
    bounds = told.allowance
    for day, calls in told.own_calls.items():
        if calls > bounds.calls_per_day:
            yield f"{calls} model calls on {day}, and {bounds.calls_per_day} are allowed"
    if told.most_per_minute > bounds.per_minute:
        yield f"{told.most_per_minute} events made in a minute, and {bounds.per_minute} are allowed"
    if told.deepest > bounds.depth:
        yield f"{told.deepest} steps deep, and {bounds.depth} are allowed"
    if len(told.waits) != questions:
        yield f"{questions - len(told.waits)} questions were not answered"
    if max(told.waits) > MOST_WAIT + 0.01:
        yield f"a question waited {max(told.waits):.2f} s, and {MOST_WAIT:g} s are allowed"


def _summary(told: Runaway, hours: float, took: float) -> str:
    by_day = ", ".join(f"{calls} on {day}" for day, calls in told.own_calls.items())
    waits = sorted(told.waits)
    p95 = waits[int(0.95 * (len(waits) - 1))]
    return "\n".join(
        (
            f"{hours:g} h of virtual time, {len(waits)} questions, in {took:.0f} s",
            f"its own work: model calls {by_day}; {len(told.made)} events made, at most {told.most_per_minute} "
            f"a minute, {told.deepest} deep; all that is no person's: {told.calls} calls",
            f"refused: {dict(told.refusals)}",
            f"a question's answer: median {statistics.median(waits):.2f} s, p95 {p95:.2f} s, at most {waits[-1]:.2f} s "
            f"(one thought takes {THOUGHT:g} s); other calls meanwhile: at most {max(told.calls_meanwhile)}",
        )
    )


if __name__ == "__main__":
    main()
