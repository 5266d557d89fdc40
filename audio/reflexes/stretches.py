"""Stretches of speech between two silences, short enough to be a reflex word."""

from collections import deque
from typing import Final

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
            self._wait(chunk, probability, bars)
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

    def _wait(self, chunk: AudioChunk, probability: float, bars: SpeechBars) -> None:
        if probability >= bars.begins:
            self._first, self._silent, self._surest = len(self._before), 0, probability
            self._chunks = [*self._before, chunk]
            self._before.clear()
        else:
            self._before.append(chunk)

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
