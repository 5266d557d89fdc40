"""Takes a journal over into the tiers, says so after each page, and is killed by a test in the middle."""

import asyncio
import sys
from pathlib import Path

from tests.memory.tier_fixtures import a_memory


async def main(folder: Path) -> None:
    async with a_memory(folder) as memory:
        while taken := await memory.tiers.fill_page(20):
            print(taken, flush=True)  # noqa: T201  the test reads it


asyncio.run(main(Path(sys.argv[1])))
