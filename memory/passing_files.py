"""Files that pass: a folder for now, and a file beside another, whose place it takes once it is whole."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO


@asynccontextmanager
async def folder_for_now(parent: Path, prefix: str) -> AsyncIterator[Path]:
    """Give a new folder in another, which goes when the block ends, with all that is in it. Raises OSError."""
    made = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix=prefix, dir=parent)
    try:
        yield Path(made.name)
    finally:
        await asyncio.to_thread(made.cleanup)


@asynccontextmanager
async def written_beside(target: Path) -> AsyncIterator[BinaryIO]:
    """Give a file to write beside the target, which takes its place if the block ends well. Raises OSError."""
    part = target.with_name(f"{target.name}.part")
    try:
        with await asyncio.to_thread(part.open, "wb") as file:
            yield file
        await asyncio.to_thread(part.replace, target)
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)
