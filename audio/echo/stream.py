"""The microphone's chunks, each laid beside what was played with it, and cleaned of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from audio.echo.canceller import CANCELLER_SAMPLES, FRAME_SAMPLES, Canceller
from audio.echo.frames import REFRAMING_SAMPLES, Reframer
from audio.echo.reference import PlayedReference
from audio.pcm import SAMPLE_RATE, AudioChunk, Samples

DELAY_SECONDS: Final = (CANCELLER_SAMPLES + REFRAMING_SAMPLES) / SAMPLE_RATE
"""By which cleaned samples come after the raw ones, canceller or not: 16 ms. Chunks carry the time of their samples."""

LEAD_SECONDS: Final = 0.02
"""By which the echo is kept behind its reference: a canceller explains nothing by what comes after it."""

RESTING_FRAMES: Final = 100
"""Of silence in the reference (1 s), after which no echo is left and the canceller rests: it costs 0.7 % of a core."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One chunk, and what became of the frames that it completed: all int16, 16 kHz."""

    chunk: AudioChunk
    """512 samples, `DELAY_SECONDS` behind the raw ones, with their time."""
    near: Samples
    """The frames as they were recorded."""
    far: Samples
    """What was played with them, `LEAD_SECONDS` early."""
    left: Samples
    """What is left of `near`; `CANCELLER_SAMPLES` behind."""


class CleanedStream:
    """Feeds a canceller. Without one, or while nothing was played for a second, sound passes with the same delay."""

    def __init__(self, reference: PlayedReference, canceller: Canceller | None = None) -> None:
        self.canceller = canceller
        """May be put in later; the loop's thread only."""
        self._reference = reference
        self._reframer = Reframer()
        self._echo_delay = 0.0
        """Seconds from the time that the player tells for a sample to that of its echo."""
        self._before: Samples = np.zeros(FRAME_SAMPLES, np.int16)
        """The frame before, as it was recorded."""
        self._silent_frames = RESTING_FRAMES

    @property
    def lead(self) -> float:
        """Seconds that the reference is read ahead of the microphone's time."""
        return LEAD_SECONDS - self._echo_delay

    def expect_echo_after(self, seconds: float) -> None:
        """Lay the reference so that an echo so long after the player's time for its sound is `LEAD_SECONDS` late."""
        self._echo_delay = seconds
        self._reference.pair_anew()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Have the canceller forget what it learned: the room, the devices or the pairing is another one."""
        if self.canceller is not None:
            self.canceller.begin_anew(LEAD_SECONDS)

    def process(self, chunk: AudioChunk) -> Cleaned:
        """Take the next chunk."""
        frames = self._reframer.cut(chunk)
        far = self._reference.read(frames[0][1] + self.lead, len(frames) * FRAME_SAMPLES)
        fars = far.reshape(-1, FRAME_SAMPLES)
        lefts = [self._left(near, played) for (near, _), played in zip(frames, fars, strict=True)]
        cleaned = AudioChunk(self._reframer.join(lefts), chunk.started_at - DELAY_SECONDS)
        return Cleaned(cleaned, np.concatenate([near for near, _ in frames]), far, np.concatenate(lefts))

    def _left(self, near: Samples, far: Samples) -> Samples:
        before, self._before = self._before, near
        was_resting = self._silent_frames >= RESTING_FRAMES
        self._silent_frames = 0 if np.any(far) else self._silent_frames + 1
        if self.canceller is None or self._silent_frames >= RESTING_FRAMES:
            return np.concatenate([before[-CANCELLER_SAMPLES:], near[:-CANCELLER_SAMPLES]])
        if was_resting:  # what it still holds is from before its rest
            self.canceller.cancel(before, np.zeros(FRAME_SAMPLES, np.int16))
        return self.canceller.cancel(near, far)
