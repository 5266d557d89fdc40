"""Mute: a switch at the source; sound recorded while it is on is replaced by silence before anything stores it."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from typing import Final

import numpy as np

from audio.interfaces import AudioSource, always_awake
from audio.pcm import CHUNK_SAMPLES, AudioChunk, Samples
from audio.speech import RecognizedTurn

MUTED: Final = "muted"
"""Why nobody gets a turn that was still open when it was muted: not even its words are kept."""

_SILENCE: Final[Samples] = np.zeros(CHUNK_SAMPLES, np.int16)


class Mute:
    """The mute switch. Set on the event loop; takes effect with the next chunk."""

    def __init__(self, *, is_on: bool = False) -> None:
        self.is_on = is_on
        self.dropped_chunks = 0
        """Chunks whose sound was dropped since the start."""

    def guard(self, heard: RecognizedTurn) -> str:
        """Return `MUTED` while it is on: a `Guard` for the intake."""
        return MUTED if self.is_on else ""


class MutedSource:
    """An `AudioSource` that is another one, and gives digital silence for each chunk that comes while it is muted.

    Silence and not nothing: the listener's heart beat, its clock and the end of an open turn go on.
    """

    def __init__(self, source: AudioSource, mute: Mute) -> None:
        self._source = source
        self._mute = mute

    @property
    def name(self) -> str:
        """The other one's."""
        return self._source.name

    @property
    def is_live(self) -> bool:
        """The other one's."""
        return self._source.is_live

    @property
    def dropped_chunks(self) -> int:
        """The other one's; muted chunks are counted by the switch."""
        return self._source.dropped_chunks

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        """Yield the other one's chunks, or silence of the same time."""
        chunks = self._source.chunks(is_at_rest)
        try:
            async for chunk in chunks:
                self._mute.dropped_chunks += self._mute.is_on
                yield replace(chunk, samples=_SILENCE) if self._mute.is_on else chunk
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()  # closes the device with this iterator
