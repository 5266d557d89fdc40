"""The bus keeps nothing: a million envelopes published past two observers, one that reads and one that never does.

`python -m benchmarks.agent.bus` takes about half a minute; it prints, and fails where memory grew.
"""

import argparse
import asyncio
import gc
import os
import sys
import time
from pathlib import Path

from agent.bus import OBSERVER_CAPACITY, RECENT, Bus
from agent.event import Event

PUBLISHES = 1_000_000

LOOKS = 10
"""At memory, evenly spaced; the first is the warm-up."""

MOST_GROWTH = 4_000_000
"""Bytes resident from the first look to the last."""


async def measure(publishes: int) -> list[str]:
    """Return what was wrong, nothing when all is well."""
    journaled = read = 0

    async def journal(events: tuple[Event, ...]) -> None:
        nonlocal journaled
        journaled += len(events)

    async def look(_: Event) -> None:
        nonlocal read
        read += 1

    bus = Bus(journal)
    asleep, resident, began = bus.observe("*"), [], time.monotonic()
    async with asyncio.TaskGroup() as group:
        reader = group.create_task(bus.attend("runs.*", look))
        await asyncio.sleep(0)
        for number in range(publishes):
            await bus.publish(Event("runs.new", f"number {number}"))
            if number % 64 == 0:
                await asyncio.sleep(0)
            if (number + 1) % (publishes // LOOKS) == 0:
                gc.collect()
                resident.append(_resident())
        await asyncio.sleep(0)
        reader.cancel()
    print(
        f"{publishes} publishes in {time.monotonic() - began:.0f} s: resident {resident[0] / 1e6:.1f} MB at a tenth, "
        f"{resident[-1] / 1e6:.1f} MB at the end; {asleep.lost} lost to who never reads, {read} read"
    )
    kept = {"journaled": journaled == publishes, "read": read == publishes, "recent": len(bus.recent) == RECENT}
    kept["lost and counted"] = asleep.lost == publishes - OBSERVER_CAPACITY
    kept["flat"] = resident[-1] - resident[0] <= MOST_GROWTH
    return [f"not so: {what}" for what, holds in kept.items() if not holds]


def _resident() -> int:
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Publish, tell, and judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent.bus", description=__doc__)
    parser.add_argument("--publishes", type=int, default=PUBLISHES, help=f"how many (default: {PUBLISHES})")
    sys.exit("\n".join(asyncio.run(measure(parser.parse_args().publishes))) or 0)


if __name__ == "__main__":
    main()
