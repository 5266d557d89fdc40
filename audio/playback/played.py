"""What was played last, for comparison with what the microphone hears."""

from collections import deque
from typing import Final

import numpy as np

from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import StreamResampler

KEPT_SECONDS: Final = 4.0
"""A second of captured sound, the delay from loudspeaker to microphone, and the time until somebody compares them."""

MOST_BLOCKS: Final = 2000
"""Kept at most; blocks of 2 ms and more cover `KEPT_SECONDS`."""


class PlayedSound:
    """The last seconds that went to the loudspeaker. Kept by the sound card's thread, read by any."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[Samples, int, float]] = deque(maxlen=MOST_BLOCKS)
        """Copies, each with its rate (Hz) and the moment (s) at which its first sample is heard; the oldest goes."""

    def keep(self, samples: Samples, sample_rate: int, at: float) -> None:
        """Copy a buffer, int16, shape (n,), mono, heard from `at` on, seconds on the clock; silence too."""
        self._blocks.append((samples.copy(), sample_rate, at))
        while self._blocks and self._blocks[0][2] < at - KEPT_SECONDS:
            self._blocks.popleft()

    def last(self, now: float) -> Samples:
        """Return at most `KEPT_SECONDS` up to `now`, int16 at 16 kHz, without gaps; none where it was silent."""
        blocks = [each for each in tuple(self._blocks) if now - KEPT_SECONDS <= each[2]]
        if not any(samples.any() for samples, _, _ in blocks):
            return np.zeros(0, np.int16)
        rate = blocks[-1][1]
        sound = np.concatenate([samples for samples, its_rate, _ in blocks if its_rate == rate])
        return StreamResampler(rate, SAMPLE_RATE).feed(sound)
