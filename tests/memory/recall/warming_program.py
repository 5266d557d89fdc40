"""Fills recall as a box does, and says when what a search needs is loaded, which nobody has asked for."""

import asyncio
import sys
from pathlib import Path

from memory.recall import keep_filled
from tests.memory.tier_fixtures import a_memory

STEMS = "snowballstemmer"


async def main(folder: Path) -> None:
    async with a_memory(folder) as memory, asyncio.TaskGroup() as group:
        print(f"{STEMS in sys.modules} before", flush=True)  # noqa: T201  the test reads it
        filling = group.create_task(keep_filled(memory.tiers, memory.recall))
        while STEMS not in sys.modules:  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0)
        filling.cancel()
    print("loaded", flush=True)  # noqa: T201


asyncio.run(main(Path(sys.argv[1])))
