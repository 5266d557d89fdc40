"""A microphone over any sound card that hands over its samples by a callback."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

BUFFERED_SECONDS: Final = 10.0
"""What waits for a reader that is late; past that the oldest is dropped, and counted."""

DEAD_SECONDS: Final = 3.0
"""A sound card that hands over nothing for so long is gone: a frozen server raises no error (FACTS, "Sound")."""

CLOSE_SECONDS: Final = 2.0
"""How long closing is waited for: it blocks for as long as a server is frozen."""

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
    """Who gets the samples. Called from the sound card's thread; never blocks."""

    def __call__(self, pcm: bytes, age: float, overflowed: bool) -> None:
        """Take interleaved int16 samples, the first recorded `age` seconds ago; or news that some were lost before."""


class Input(Protocol):
    """A sound card's input. All methods block, and are called from one worker thread."""

    def open(self) -> InputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable` with the mend."""

    def begin(self, take: Taker) -> None:
        """Start recording. Raises `DeviceUnavailable`."""

    def close(self) -> None:
        """Stop and release the device; safe to call twice, and without `begin`."""


@dataclass(frozen=True, slots=True)
class Block:
    """What the sound card handed over at once."""

    pcm: bytes
    """Interleaved int16."""
    started_at: float
    """Seconds on `time.monotonic` of the first frame."""


class LiveMicrophone:
    """An `AudioSource` that opens its card anew for each `chunks()`. Counts over its whole life."""

    is_live = True

    def __init__(
        self,
        card: Input,
        name: str,
        dead_seconds: float = DEAD_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._clock = clock
        self._card = card
        self._dead_seconds = dead_seconds
        self._blocks: deque[Block] = deque(maxlen=round(BUFFERED_SECONDS / CHUNK_SECONDS))
        self._dropped = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrived = asyncio.Event()
        self._is_told = False
        """Whether the loop has been told of blocks that it did not fetch yet; spares it a flood after a stall."""

    @property
    def dropped_chunks(self) -> int:
        """Blocks of a chunk's length that were lost because the reader, or this machine, was late."""
        return self._dropped

    async def chunks(self) -> AsyncGenerator[AudioChunk, None]:
        """Yield what is recorded until closed. Raises `DeviceUnavailable`: at the first step, or when the card dies."""
        self._loop = asyncio.get_running_loop()
        self._blocks.clear()
        # One thread, so that closing never overtakes an opening that was cancelled.
        thread = ThreadPoolExecutor(1, "microphone")
        try:
            opened = await self._loop.run_in_executor(thread, self._card.open)
            self.name = opened.name
            await self._loop.run_in_executor(thread, self._card.begin, self._take)
            cutter = ChunkCutter(opened)
            while True:
                await self._wait()
                while self._blocks:
                    for chunk in cutter.cut(self._blocks.popleft()):
                        yield chunk
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._loop.run_in_executor(thread, self._card.close)
            thread.shutdown(wait=False)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._dead_seconds):
                await self._arrived.wait()
        except TimeoutError as error:
            raise DeviceUnavailable(
                f"the microphone {self.name!r} hands over no sound; plug it in again, or restart the sound server"
            ) from error
        self._arrived.clear()
        self._is_told = False

    def _take(self, pcm: bytes, age: float, overflowed: bool) -> None:
        if overflowed or len(self._blocks) == self._blocks.maxlen:
            self._dropped += 1
        self._blocks.append(Block(pcm, self._clock() - age))
        if self._is_told or self._loop is None:
            return
        self._is_told = True
        # The loop may end while the card still hands over its last block.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrived.set)


class ChunkCutter:
    """Cuts blocks of any length, rate and number of channels into chunks; what is left over waits for the next block.

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
