"""Takes a journal over into recall, page by page, says so after each, and is killed by a test in the middle.

It stands still there, after so many pages or in the midst of its second batch of vectors: however slow the test is that
kills it, it is not ahead.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from memory.vectors.embedding import Use
from tests.memory.tier_fixtures import WordEmbedder, a_memory


class Told(WordEmbedder):
    """Says how many vectors it is about to make."""

    batches = 0

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        print(f"{len(texts)} vectors", flush=True)  # noqa: T201
        self.batches += 1
        if self.batches == 2:
            await asyncio.Event().wait()
        return await super().embed(texts, use)


async def main(folder: Path, pages: int) -> None:
    async with a_memory(folder, Told()) as memory:
        while taken := await memory.recall.fill(1):
            print(taken, flush=True)  # noqa: T201  the test reads it
            pages -= 1
            if not pages:
                await asyncio.Event().wait()
        await memory.recall.embed()


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
