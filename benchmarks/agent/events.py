"""Ten thousand events among faults of every kind: all of them end, and nothing grows.

`python -m benchmarks.agent.events` takes five minutes; it prints, and fails where an event did not end or memory grew.
tests/agent/test_loop_faults.py is its sample.
"""

import argparse
import asyncio
import gc
import logging
import os
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import structlog

from tests.agent.chaos import Chaos, chaos

EVENTS = 10_000

STEP = 500
"""Events between two looks at memory."""

WARM = 4
"""Looks after which caches are full."""

MOST_GROWTH = 0.10
"""Of the memory (resident, or what Python has allocated) from then on, beside `NOISE`."""

NOISE = 300_000
"""Bytes that come and go by what happens to be open."""


def main() -> None:
    """Go through all events, tell of each step, and judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent.events", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, help=f"how many (default: {EVENTS})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trace", action="store_true", help="measure what Python has allocated; three times as slow")
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    shm = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what lasts is not asked here
    with tempfile.TemporaryDirectory(prefix="nakari-events-", dir=shm) as folder:
        wrong = asyncio.run(measure(Path(folder), wanted.events, wanted.seed, traces=wanted.trace))
    sys.exit("\n".join(wrong) or 0)


async def measure(folder: Path, events: int, seed: int, *, traces: bool) -> list[str]:
    """Return what was wrong, nothing when all is well."""
    looks: list[int] = []
    async with chaos(folder, seed) as everything:
        if traces:
            tracemalloc.start()
        began = time.monotonic()
        while everything.sent < events:
            await everything.go_through(min(STEP, events - everything.sent))
            gc.collect()
            looks.append(tracemalloc.get_traced_memory()[0] if traces else _resident())
            print(_line(everything, looks[-1], time.monotonic() - began), flush=True)
        everything.faulty = False
        print(await everything.mailbox.counts())
        wrong = await everything.complaints()
    warm = looks[WARM:] or looks
    if warm[-1] > warm[0] * (1 + MOST_GROWTH) + NOISE:
        wrong.append(f"memory grew from {warm[0]} to {warm[-1]} bytes")
    return wrong


def _line(everything: Chaos, memory: int, seconds: float) -> str:
    return (
        f"{everything.sent} events sent, {everything.model.asked} model calls, {everything.refused} refused writes: "
        f"{memory / 1e6:.2f} MB, {len(gc.get_objects())} objects, {seconds:.0f} s"
    )


def _resident() -> int:
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
