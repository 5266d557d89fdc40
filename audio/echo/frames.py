"""Chunks of 512 samples to frames of 160 and back, with a delay that is always the same."""

from typing import Final

import numpy as np

from audio.echo.canceller import FRAME_SAMPLES
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, AudioChunk, Samples

REFRAMING_SAMPLES: Final = 128
"""The most that is left of a chunk when frames are cut from a stream of them: 5 x 512 = 16 x 160."""


class Reframer:
    """Cuts the chunks of one source into frames, and joins what became of the frames into chunks."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, np.int16)
        self._done: Samples = np.zeros(REFRAMING_SAMPLES, np.int16)

    def cut(self, chunk: AudioChunk) -> list[tuple[Samples, float]]:
        """Return the frames that the chunk completes, each with the time of its first sample."""
        at = chunk.started_at - len(self._rest) / SAMPLE_RATE
        samples = np.concatenate([self._rest, chunk.samples])
        whole = len(samples) // FRAME_SAMPLES
        self._rest = samples[whole * FRAME_SAMPLES :]
        return [
            (samples[number * FRAME_SAMPLES :][:FRAME_SAMPLES], at + number * FRAME_SAMPLES / SAMPLE_RATE)
            for number in range(whole)
        ]

    def join(self, frames: list[Samples]) -> Samples:
        """Return the next 512 samples, `REFRAMING_SAMPLES` behind; to be called once after each `cut`."""
        samples = np.concatenate([self._done, *frames])
        self._done = samples[CHUNK_SAMPLES:]
        return samples[:CHUNK_SAMPLES]
