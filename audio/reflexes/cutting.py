"""Cuts out the sound that may be a reflex word: between two silences, or around whoever is noticed under its voice."""

from collections import deque
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from audio.pcm import CHUNK_SECONDS, AudioChunk, Samples
from audio.turns.endpointer import SPEECH_BEGINS, SPEECH_GOES_ON

PRE_ROLL_CHUNKS: Final = 16
"""0.51 s."""

SOFT_END_CHUNKS: Final = 6
"""0.19 s of silence: the endpointer's soft end."""

LONGEST_CHUNKS: Final = 76
"""2.4 s with the pre-roll and the closing silence: a longer utterance is no reflex, and is not kept."""


class SpeechBars(Struct, frozen=True):
    """Probabilities of speech that make a stretch."""

    begins: float
    goes_on: float
    sure: float
    """To be reached once."""


ALONE: Final = SpeechBars(SPEECH_BEGINS, SPEECH_GOES_ON, 0.8)
"""Every word reaches 0.8: measured 0.86 to 1.00 of 80 (five voices, down to -40 dBFS), a door 0.53 to 0.78."""

OVER_ECHO: Final = SpeechBars(0.3, 0.2, 0.4)
"""While nakari sounds: the canceller takes part of who speaks at the same time (measured at 0 dB: half of made voices'
"stop" never reach 0.5), and what is no word the search refuses."""


class Stretch(Struct, frozen=True):
    """Speech between two silences, short enough to be a reflex."""

    samples: Samples
    """int16, shape (n,), 16 kHz, with pre-roll and closing silence."""
    started_at: float
    """Seconds on the source's clock at which the speech began."""
    ended_at: float
    """Seconds on the source's clock at which it ended."""
    first: float
    """Seconds from the first sample to the speech."""


class StretchCutter:
    """Cuts chunks into stretches. Pure; chunks that hold nakari's own voice are never part of one."""

    def __init__(self) -> None:
        self._before: deque[AudioChunk] = deque(maxlen=PRE_ROLL_CHUNKS)
        """The newest chunks while nobody speaks."""
        self._chunks: list[AudioChunk] = []
        """Of the open stretch, pre-roll included; none before it begins, and none once it is too long."""
        self._first = 0
        """Index of the chunk in which speech began."""
        self._silent = 0
        """Chunks without speech at its end."""
        self._is_too_long = False
        self._surest = 0.0
        """The highest probability of speech so far."""

    def process(
        self, chunk: AudioChunk, probability: float, *, covered: bool, bars: SpeechBars = ALONE
    ) -> Stretch | None:
        """Take a chunk; return the stretch whose closing silence is over with it."""
        if covered:
            self.drop()
            return None
        if not self._chunks and not self._is_too_long:
            if probability >= bars.begins:
                self._first, self._silent, self._surest = len(self._before), 0, probability
                self._chunks = [*self._before, chunk]
                self._before.clear()
            else:
                self._before.append(chunk)
            return None
        self._silent = 0 if probability >= bars.goes_on else self._silent + 1
        self._surest = max(self._surest, probability)
        if not self._is_too_long:
            self._chunks.append(chunk)
            if len(self._chunks) > LONGEST_CHUNKS:
                self._is_too_long, self._chunks = True, []
        return self._close(bars) if self._silent >= SOFT_END_CHUNKS else None

    def drop(self) -> None:
        """Forget all sound."""
        self._before.clear()
        self._chunks, self._silent, self._is_too_long = [], 0, False

    def _close(self, bars: SpeechBars) -> Stretch | None:
        chunks, is_speech = self._chunks, self._surest >= bars.sure
        self.drop()
        if not chunks:
            return None
        self._before.extend(chunks[-SOFT_END_CHUNKS:])
        if not is_speech:
            return None
        return Stretch(
            np.concatenate([chunk.samples for chunk in chunks]),
            chunks[self._first].started_at,
            chunks[-SOFT_END_CHUNKS].started_at,
            self._first * CHUNK_SECONDS,
        )


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
