"""Faults of a microphone that show in its sound: digital silence, growing lag, a copy of what was played. Pure."""

from collections import deque
from enum import StrEnum
from itertools import pairwise
from math import log10
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.errors import DeviceUnavailable
from audio.pcm import QUIETEST_DBFS, SAMPLE_RATE, Samples


class Fault(StrEnum):
    """What is wrong with a sound device."""

    GONE = "gone"
    """It cannot be opened, or its server ended the stream."""
    STALLED = "stalled"
    """It is open and hands over nothing: a frozen server raises no error."""
    LAGGING = "lagging"
    """It hands over less sound than time passes, so that what arrives is ever older."""
    ZEROS = "zeros"
    """Nothing but zeros: a dead or hardware-muted device."""
    MONITOR = "monitor"
    """A sound server gave it the loudspeaker's own sound in place of a microphone's that vanished."""


class DeviceFault(DeviceUnavailable):
    """An open device failed. Fix: in the text; its supervisor opens it again."""

    def __init__(self, fault: Fault, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = fault


LAG_WINDOW: Final = 5.0
"""Seconds over which the smallest lag counts: a busy machine's late callbacks are made up for within them."""

LAG_WINDOWS: Final = 4
"""In a row, each worse than the one before, that make a lag one that only grows."""

LAG_GROWTH: Final = 0.5
"""Seconds that it must have grown over them: 2.5 %; the clocks of sound cards are wrong by 0.02 % at worst."""

COPY: Final = 0.999
"""Likeness from which captured sound is a copy of what was played: less than 0.2 % of its energy is anything else.

A microphone never comes near: the loudspeaker's and the room's response is between (own measurement in decision 0017).
"""

COPY_BAND: Final = 2000.0
"""Hz up to which captured and played are compared: above, the resamplers on the way differ."""


FULL_SCALE: Final = 32_700
"""A sample above this is taken for one that was cut off; converters and mixers stop a little short of 32767."""

LEVEL_CHUNKS: Final = 938
"""Half a minute."""


class LevelWatch:
    """Keeps how loud the last half minute was at its loudest, and how much of it was at full scale."""

    def __init__(self) -> None:
        self._peaks: deque[int] = deque(maxlen=LEVEL_CHUNKS)

    def hear(self, samples: Samples) -> None:
        """Take a chunk of int16 samples, shape (n,)."""
        self._peaks.append(max(int(np.maximum.reduce(samples)), -int(np.minimum.reduce(samples))))

    def describe(self) -> dict[str, float]:
        """Return the largest sample in dBFS, and the share of chunks with one at full scale; empty before the first."""
        if not self._peaks:
            return {}
        loudest = 20.0 * log10(max(self._peaks) / 32768) if any(self._peaks) else QUIETEST_DBFS
        clipped = sum(peak > FULL_SCALE for peak in self._peaks) / len(self._peaks)
        return {"peak_dbfs": round(loudest, 1), "clipped_chunks": round(clipped, 4)}


class LagWatch:
    """Compares the frames received with the clock. Called from the sound card's thread; never blocks."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._given = 0.0
        """Seconds of sound since the first block."""
        self._window_ends = 0.0
        self._smallest = 0.0
        self._smallest_before: deque[float] = deque(maxlen=LAG_WINDOWS)

    def took(self, seconds: float, now: float) -> None:
        """Take note of a block of so many seconds that came at `now`, seconds on any monotonic clock."""
        if self._began is None:
            self._began, self._window_ends, self._smallest = now, now + LAG_WINDOW, 0.0
            return
        self._given += seconds
        lag = now - self._began - self._given
        self._smallest = min(self._smallest, lag)
        if now >= self._window_ends:
            self._smallest_before.append(self._smallest)
            self._smallest, self._window_ends = lag, now + LAG_WINDOW

    @property
    def only_grows(self) -> bool:
        """Whether the lag grew from each window to the next, and by more than a wrong clock explains."""
        lags = list(self._smallest_before)
        if len(lags) < LAG_WINDOWS:
            return False
        grows = all(later > earlier for earlier, later in pairwise(lags))
        return grows and lags[-1] - lags[0] > LAG_GROWTH


def likeness(captured: Samples, played: Samples) -> float:
    """Return in [0, 1] how far `captured` is a part of `played`, but for its level and a delay: 1.0 is a copy.

    Both int16, mono, 16 kHz; `played` is the longer one. 0.0 where one of them is silent.
    """
    size = 1 << (len(captured) + len(played) - 1).bit_length()
    kept = round(COPY_BAND / SAMPLE_RATE * size)
    heard, said = (np.fft.rfft(sound.astype(np.float32), size)[:kept] for sound in (captured, played))
    heard_energy = float(np.sum(np.abs(heard) ** 2)) * 2 / size
    if heard_energy == 0.0 or not played.any():
        return 0.0
    # Four times as many lags as samples: a copy may be shifted by a part of a sample.
    finer = 4
    products = np.fft.irfft(np.conj(heard) * said, size * finer)[: len(played) * finer] * finer
    band = np.fft.irfft(said, size)[: len(played)]
    energies = _sliding_energy(band, len(captured))
    lags = np.arange(len(energies)) * finer
    nearby = np.max(np.abs([products[np.minimum(lags + shift, len(products) - 1)] for shift in range(finer)]), axis=0)
    # A stretch in which it hardly spoke is like anything.
    loud = energies > 1e-3 * float(energies.max(initial=0.0))
    if not loud.any():
        return 0.0
    return float(min(1.0, np.max(nearby[loud] / np.sqrt(energies[loud] * heard_energy))))


def is_copy(captured: Samples, played: Samples) -> bool:
    """Whether what was captured is what was played, and nothing else."""
    return likeness(captured, played) >= COPY


def _sliding_energy(sound: NDArray[np.floating], length: int) -> NDArray[np.float64]:
    """Return the energy of each stretch of so many samples, by its first one."""
    total = np.concatenate([[0.0], np.cumsum(sound.astype(np.float64) ** 2)])
    energies: NDArray[np.float64] = total[length:] - total[:-length]
    return energies
