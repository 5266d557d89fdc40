"""A sound card's input: format, blocks, and the chunks they are cut into."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

MOST_LATENCY: Final = 2.0
"""Seconds; a device that tells more tells nothing (some tell 0, or the time since boot)."""


@dataclass(frozen=True, slots=True)
class InputFormat:
    """What an input was opened with."""

    name: str
    """The device's, for people."""
    sample_rate: int
    """Hz."""
    channels: int

    @property
    def block_frames(self) -> int:
        """Frames of one chunk's length."""
        return round(self.sample_rate * CHUNK_SECONDS)


class Taker(Protocol):
    """Receives the samples. Called from the sound card's thread; never blocks."""

    def __call__(self, pcm: bytes, age: float, overflowed: bool) -> None:
        """Take interleaved int16 samples, the first recorded `age` seconds ago; or news that some were lost before.

        No samples at all say that the card ended the stream.
        """


class Input(Protocol):
    """A sound card's input. All methods block, and are called from one worker thread."""

    def open(self) -> InputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable` with the fix."""

    def begin(self, take: Taker) -> None:
        """Start recording. Raises `DeviceUnavailable`."""

    def close(self) -> None:
        """Stop and release the device; safe to call twice, and without `begin`."""


@dataclass(frozen=True, slots=True)
class Block:
    """The samples of one callback."""

    pcm: bytes
    """Interleaved int16."""
    started_at: float
    """Seconds on `time.monotonic` of the first frame."""


class ChunkCutter:
    """Converts blocks of any length, rate and number of channels to chunks; a remainder waits for the next block.

    Times follow the device: a chunk's is counted from the block its samples came with.
    """

    def __init__(self, opened: InputFormat) -> None:
        from audio.resampler import StreamResampler

        self._channels = opened.channels
        self._resampler = StreamResampler(opened.sample_rate, SAMPLE_RATE)
        self._rest: Samples = np.zeros(0, np.int16)

    def cut(self, block: Block) -> list[AudioChunk]:
        """Return the chunks that this block completes, in order."""
        frames = np.frombuffer(block.pcm, np.int16).reshape(-1, self._channels)
        mono = frames[:, 0] if self._channels == 1 else frames.mean(axis=1).astype(np.int16)
        at = block.started_at - len(self._rest) / SAMPLE_RATE
        samples = np.concatenate([self._rest, self._resampler.feed(mono)])
        whole = len(samples) // CHUNK_SAMPLES
        self._rest = samples[whole * CHUNK_SAMPLES :]
        return [
            AudioChunk(samples[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES], at + number * CHUNK_SECONDS)
            for number in range(whole)
        ]


def age_of(now: float, recorded: float, block_seconds: float) -> float:
    """Return how long ago (s) a block began by the card's two times: its length, if they say less, or nonsense."""
    age = now - recorded
    return age if block_seconds <= age <= MOST_LATENCY else block_seconds


def formats_to_try(native_rate: float, channels: int) -> list[tuple[int, int]]:
    """Return (Hz, channels) in the order to try: what needs no conversion first; bare hardware often has no mono."""
    rates = dict.fromkeys([SAMPLE_RATE, round(native_rate)])
    return [(rate, count) for count in (1, 2) if count <= channels for rate in rates]
