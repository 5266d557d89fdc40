"""Downsampling by a whole number, as of a card's 48 kHz: one product of matrices a call."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.pcm import Samples

REACH: Final = 16
"""Samples of the result before and after each one that have a share in it."""

CUTOFF: Final = 0.97
"""Of the highest frequency of the result: what is above is taken away."""

STEEPNESS: Final = 9.0
"""Of the Kaiser window: what is taken away is 90 dB lower."""

ROW: Final = 16
"""Samples of the result that are made together; up to so many wait for the rest of their row."""


class Decimator:
    """Converts one stream of int16 samples to a rate lower by a whole `factor`; same protocol as `StreamResampler`.

    A quarter of what FFmpeg's takes through PyAV, with the same filter; about 1 ms stays inside until `flush`.
    """

    def __init__(self, factor: int) -> None:
        self._factor = factor
        self._matrix = _matrix(factor)
        self._begin()

    def _begin(self) -> None:
        self._rest = np.zeros(REACH * self._factor, np.float32)
        self._taken = self._given = 0

    def feed(self, samples: Samples) -> Samples:
        """Return what is ready of the stream after these samples: int16, shape (n,), n may be 0."""
        self._taken += len(samples)
        wave = np.concatenate([self._rest, samples], dtype=np.float32)
        width, step = len(self._matrix), self._factor * ROW
        rows = max(0, (len(wave) - width + step) // step)
        self._rest = wave[rows * step :]
        self._given += rows * ROW
        windows = np.ndarray((rows, width), np.float32, wave, strides=(step * wave.itemsize, wave.itemsize))
        return rounded(windows @ self._matrix).ravel()

    def flush(self) -> Samples:
        """Return what is left and begin a new stream."""
        left = -(-self._taken // self._factor) - self._given
        ended = self.feed(np.zeros((REACH + ROW + left) * self._factor, np.int16))[:left]
        self._begin()
        return ended


def rounded(sound: NDArray[np.float32]) -> Samples:
    """Return the samples nearest to a sound, which is changed: `np.clip` takes twice as long for so few."""
    np.rint(sound, out=sound)
    np.minimum(np.maximum(sound, _LEAST, out=sound), _MOST, out=sound)
    return sound.astype(np.int16)


_LEAST, _MOST = np.float32(-32768), np.float32(32767)


def _matrix(factor: int) -> NDArray[np.float32]:
    """Return what makes a row of the result out of the samples around it, shape (samples, `ROW`)."""
    around = np.arange(-REACH * factor, REACH * factor + 1)
    taps = np.sinc(CUTOFF * around / factor) * np.kaiser(len(around), STEEPNESS)
    matrix = np.zeros((len(around) + factor * (ROW - 1), ROW), np.float32)
    for number in range(ROW):
        matrix[number * factor :][: len(around), number] = taps / taps.sum()
    return matrix
