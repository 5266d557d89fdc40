"""Streaming resampler (FFmpeg's, through PyAV)."""

import av
import numpy as np

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
        return av.AudioResampler(format="s16", layout="mono", rate=self.target_rate)


def _joined(frames: list[av.AudioFrame]) -> Samples:
    return np.concatenate([np.zeros(0, np.int16), *(frame.to_ndarray()[0] for frame in frames)])
