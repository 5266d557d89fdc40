"""A sound card's input: format, blocks, and the chunks they are cut into."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from msgspec import Struct

from audio.capture.channels import Channels, ChannelSplit
from audio.devices.listing import SoundDevice, cannot_be_opened
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

if TYPE_CHECKING:
    from audio.playback.live import PlaybackTap

MOST_LATENCY: Final = 2.0
"""Seconds; a device that tells more tells nothing (some tell 0, or the time since boot)."""


class InputFormat(Struct, frozen=True):
    """What an input was opened with."""

    name: str
    """The device's, for people."""
    sample_rate: int
    """Hz."""
    channels: int
    reference: int = 0
    """Number, from 1, of the channel in which the card gives back what it plays; 0 for none."""

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


class Block(Struct, frozen=True):
    """The samples of one callback."""

    pcm: bytes
    """Interleaved int16."""
    started_at: float
    """Seconds on `time.monotonic` of the first frame."""


class ChunkCutter:
    """Converts blocks of any length, rate and number of channels to chunks; a remainder waits for the next block.

    Times follow the device: a chunk's is counted from the block its samples came with. With a loopback channel the
    chunks come one chunk later: the reference of an echo has to be known before the echo is.
    """

    def __init__(self, opened: InputFormat, taps: "tuple[PlaybackTap, ...]" = ()) -> None:
        """Begin with nothing; the taps are told of the loopback channel, where the card has one."""
        from audio.resampler import StreamResampler

        self._rate = opened.sample_rate
        self._split = ChannelSplit(opened.channels, opened.reference)
        self._taps = taps
        self._held = CHUNK_SAMPLES if opened.reference else 0
        self._resampler = StreamResampler(opened.sample_rate, SAMPLE_RATE)
        self._rest: Samples = np.zeros(0, np.int16)

    def cut(self, block: Block) -> list[AudioChunk]:
        """Return the chunks that this block completes, in order."""
        heard, played = self._split.take(np.frombuffer(block.pcm, np.int16))
        if played is not None:
            for tap in self._taps:
                tap(played, self._rate, block.started_at)
        at = block.started_at - len(self._rest) / SAMPLE_RATE
        samples = np.concatenate([self._rest, self._resampler.feed(heard)])
        whole = max(0, len(samples) - self._held) // CHUNK_SAMPLES
        self._rest = samples[whole * CHUNK_SAMPLES :]
        return [
            AudioChunk(samples[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES], at + number * CHUNK_SECONDS)
            for number in range(whole)
        ]


def age_of(now: float, recorded: float, block_seconds: float) -> float:
    """Return how long ago (s) a block began by the card's two times: its length, if they say less, or nonsense."""
    age = now - recorded
    return age if block_seconds <= age <= MOST_LATENCY else block_seconds


def formats_to_try(native_rate: float, counts: list[int]) -> list[tuple[int, int]]:
    """Return (Hz, channels) in the order to try: what needs no conversion first."""
    rates = dict.fromkeys([SAMPLE_RATE, round(native_rate)])
    return [(rate, count) for count in counts for rate in rates]


def negotiated(device: SoundDevice, channels: Channels, refusal: Callable[[int, int], str]) -> InputFormat:
    """Return the first format that the device takes; `refusal` says for Hz and channels why it does not, or "".

    Raises `DeviceUnavailable` when it takes none.
    """
    reason = f"it has no channel {channels.reference}"
    for rate, count in formats_to_try(device.sample_rate, channels.to_try(device.inputs)):
        reason = refusal(rate, count)
        if not reason:
            return InputFormat(device.name, rate, count, channels.reference)
    raise cannot_be_opened("input", device.name, reason)
