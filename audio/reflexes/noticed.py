"""Whoever was noticed while nakari speaks: the sound around that moment, as a reflex word is looked for in it."""

from collections import deque
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from audio.pcm import CHUNK_SECONDS, AudioChunk, Samples

BEFORE_CHUNKS: Final = 28
"""0.9 s: a word begins up to 0.7 s before it is noticed."""

AFTER_CHUNKS: Final = 34
"""1.1 s: what the network sees of a word that begins at that moment."""


class Underneath(Protocol):
    """What sounds under its own voice (`audio.echo.guard.CancellingGuard`)."""

    @property
    def hears_another(self) -> bool:
        """Whether something that is not its own voice began in the last chunk."""

    def unexplained(self, seconds: float) -> Samples:
        """Return the newest sound (int16, 16 kHz) with the linear echo taken off and no more; less where there is less.

        A canceller takes part of whoever speaks at the same time; this takes nothing of that, and leaves more echo.
        """


class Noticed(Struct, frozen=True):
    """The sound around the moment at which somebody was noticed, twice."""

    cleaned: Samples
    """What the canceller left of it: int16, shape (n,), 16 kHz."""
    unexplained: Samples
    """With the linear echo taken off and no more, ending within 20 ms of the other."""
    at: float
    """Seconds on the source's clock at which somebody was noticed."""

    @property
    def sounds(self) -> tuple[Samples, Samples]:
        """Both."""
        return self.cleaned, self.unexplained

    @property
    def mean(self) -> Samples:
        """The mean of both, as far as both go: int16."""
        shared = min(len(self.cleaned), len(self.unexplained))
        both = self.cleaned[-shared:].astype(np.int32) + self.unexplained[-shared:]
        return (both // 2).astype(np.int16)

    @property
    def before_end(self) -> float:
        """Seconds from that moment to the end of both sounds."""
        return AFTER_CHUNKS * CHUNK_SECONDS


class NoticedCutter:
    """Cuts that sound out of the chunks. Pure; chunks that hold nakari's own voice uncancelled are part of none."""

    def __init__(self, own_voice: Underneath) -> None:
        self._own_voice = own_voice
        self._chunks: deque[AudioChunk] = deque(maxlen=BEFORE_CHUNKS + AFTER_CHUNKS)
        self._to_come = 0
        """Chunks of the sound that is under way; 0 while nobody is noticed."""
        self._at = float("-inf")

    def process(self, chunk: AudioChunk, *, covered: bool, sounds: bool = True) -> Noticed | None:
        """Take a cleaned chunk, and whether nakari sounds; return the sound that is complete with it."""
        if covered:
            self.drop()
            return None
        if not (sounds or self._to_come):
            self._chunks.clear()
            return None
        self._chunks.append(chunk)
        if self._to_come == 0:
            if self._own_voice.hears_another:
                self._to_come, self._at = AFTER_CHUNKS, chunk.ended_at
            return None
        self._to_come -= 1
        if self._to_come:
            return None
        cleaned = np.concatenate([each.samples for each in self._chunks])
        return Noticed(cleaned, self._own_voice.unexplained(len(self._chunks) * CHUNK_SECONDS), self._at)

    def holds(self, started_at: float) -> bool:
        """Whether speech that began at a moment is part of the sound that was cut last, or is being cut."""
        before, after = BEFORE_CHUNKS * CHUNK_SECONDS, AFTER_CHUNKS * CHUNK_SECONDS
        return self._at - before <= started_at <= self._at + after

    def drop(self) -> None:
        """Forget all sound."""
        self._chunks.clear()
        self._to_come, self._at = 0, float("-inf")
