"""Warms recall as a box does, and says whether what a search needs was loaded before and is after."""

import asyncio
import sys
from pathlib import Path

from tests.memory.tier_fixtures import a_memory

STEMS = "snowballstemmer"


async def main(folder: Path) -> None:
    async with a_memory(folder) as memory:
        print(f"{STEMS in sys.modules} before", flush=True)  # noqa: T201  the test reads it
        await memory.recall.warm()
        print("loaded" if STEMS in sys.modules else "not loaded", flush=True)  # noqa: T201


asyncio.run(main(Path(sys.argv[1])))
