"""Words to first sound where ears and mind are two machines, against one process: two namespaces with a way between."""

import asyncio
import tempfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from benchmarks.figure import Figure, Series, run, short
from tests.engine_servers import nats_program
from tests.machines.namespaces import joined, why_not
from tests.machines.two_machines import Conversation, one_machine, two_machines

WARM = 2
"""Turns that are not counted: connections are opened in them."""

TURNS = 25

DELAY, JITTER, LOSS = 0.04, 0.01, 0.02
"""Seconds each way, and the share of packets: a bad radio link at home."""


async def turns(talking: AbstractAsyncContextManager[Conversation], count: int) -> tuple[float, ...]:
    """Return the seconds from words to the first sound of the answer, of each turn."""
    async with talking as talk:
        found = []
        for _ in range(WARM + count):
            await talk.says(1)
            found.append((await talk.hears())[0].seconds)
    return tuple(found[WARM:])


def measure(*, quick: bool = False) -> Figure:
    """Ask the same of both, and of two machines with nothing between them but a wire."""
    count = 2 if quick else TURNS
    name = "Words to first sound, ears and mind on two machines"
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        for each in ("alone", "near", "far"):
            (Path(folder) / each).mkdir()
        alone = asyncio.run(turns(one_machine(Path(folder) / "alone"), count))
        floor = Series("both in one process", "ms", tuple(1000 * each for each in alone))
        if reason := why_not() or (None if nats_program() else "no nats-server that is new enough"):
            return Figure(name, floor, floor, (f"not measured here: {reason}",))
        with joined(seed=18) as places:
            near = asyncio.run(turns(two_machines(Path(folder) / "near", places), count))
        with joined(seed=19) as places:
            places.wire.delay, places.wire.jitter, places.wire.loss = DELAY, JITTER, LOSS
            far = asyncio.run(turns(two_machines(Path(folder) / "far", places), count))
    ours = Series("40 ± 10 ms each way, 2 % lost", "ms", tuple(1000 * each for each in far))
    median = short(1000 * sorted(near)[len(near) // 2])
    notes = (
        f"real NATS beside the mind, nothing thinks; without delay or loss {median} ms: what is added is the way, "
        "four times over it",
    )
    return Figure(name, ours, floor, notes)


if __name__ == "__main__":
    run(measure)
