"""Streaming resamplers: FFmpeg's, through PyAV, and one product of matrices a call for a whole factor, as of 48 kHz."""

from contextlib import suppress
from typing import Final

import av
import numpy as np
from numpy.typing import NDArray

from audio.pcm import Samples


class StreamResampler:
    """Converts one stream of mono int16 samples from `source_rate` to `target_rate`, both in Hz.

    Pieces may have any length; nothing is lost at their borders. A few milliseconds stay inside until `flush`.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        self.source_rate = source_rate
        self.target_rate = target_rate
        self._resampler = self._new()

    def feed(self, samples: Samples) -> Samples:
        """Return what is ready of the stream after these samples: int16, shape (n,), n may be 0."""
        if self.source_rate == self.target_rate or len(samples) == 0:
            return samples
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None, :]), format="s16", layout="mono")
        frame.sample_rate = self.source_rate
        return _joined(self._resampler.resample(frame))

    def flush(self) -> Samples:
        """Return what is left and begin a new stream."""
        if self.source_rate == self.target_rate:
            return np.zeros(0, np.int16)
        left = _joined(self._resampler.resample(None))
        self._resampler = self._new()
        return left

    def _new(self) -> av.AudioResampler:
        """Return one whose filters are made: up to 6 ms, which no first sound is to wait for."""
        made = av.AudioResampler(format="s16", layout="mono", rate=self.target_rate)
        if self.source_rate != self.target_rate:
            nothing = av.AudioFrame(format="s16", layout="mono", samples=0)
            nothing.sample_rate = self.source_rate
            with suppress(MemoryError):  # it makes them by the first frame, and takes none of no samples
                made.resample(nothing)
        return made


def _joined(frames: list[av.AudioFrame]) -> Samples:
    return np.concatenate([np.zeros(0, np.int16), *(frame.to_ndarray()[0] for frame in frames)])


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
