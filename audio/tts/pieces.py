"""The pieces of a sentence's sound, given up cleanly."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from audio.speech import SpeechAudio


@asynccontextmanager
async def closing(pieces: AsyncIterator[SpeechAudio]) -> AsyncIterator[AsyncIterator[SpeechAudio]]:
    """Close a voice's iterator at the end of the block, so that its program or connection ends with it."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
