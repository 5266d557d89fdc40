"""Mute: a switch at the source; sound recorded while it is on is silence to all but the wake word's model."""

from collections.abc import AsyncIterator, Callable
from typing import Final

import numpy as np
from msgspec.structs import replace

from audio.interfaces import AudioSource, ChunkWatcher, always_awake, closing
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

    def __init__(self, source: AudioSource, mute: Mute, wake: ChunkWatcher | None = None) -> None:
        """`wake` alone is shown the sound while it is muted, not cleaned of echo; None where nothing hears it.

        It is told that its first chunk is covered, so that nothing from before the mute goes into what it hears.
        """
        self._source = source
        self._mute = mute
        self._wake = wake
        self._was_on = False

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
        async with closing(self._source.chunks(is_at_rest)) as chunks:
            async for chunk in chunks:
                is_on = self._mute.is_on
                yield self._silent(chunk) if is_on else chunk
                self._was_on = is_on

    def _silent(self, chunk: AudioChunk) -> AudioChunk:
        self._mute.dropped_chunks += 1
        if self._wake is not None:
            self._wake(chunk, 0.0, not self._was_on)
        return replace(chunk, samples=_SILENCE)
