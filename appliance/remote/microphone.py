"""A microphone elsewhere: samples that come over a network become chunks, and speech is detected off the event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from time import monotonic
from typing import Final

import numpy as np

from audio.interfaces import VoiceDetector, always_awake
from audio.pcm import AT_REST_CHUNKS, CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

CHUNK_BYTES: Final = 2 * CHUNK_SAMPLES

MOST_CHUNKS: Final = 32
"""Handed over together at most: a second, after the network held them back."""

BUFFER_SECONDS: Final = 10.0
"""Kept for a reader that is late; then the oldest is dropped."""

FASTEST: Final = 1.25
"""Times real time that a microphone may send, beyond a buffer of it; a clock is no more than a few per cent fast."""

DRIFT_SECONDS: Final = 0.25
"""By which the sound may lag behind the clock while it is quiet, before its time is set anew: a page that slept."""


class RemoteMicrophone(VoiceDetector):
    """An `AudioSource` and the `VoiceDetector` for it: each chunk's probability is found before the chunk is yielded.

    The event loop cuts bytes and hands them on; the detector runs in `thread`, some chunks at a time. Time is that of
    the samples, so that a network that stutters neither ends a turn nor draws one out. Loss: the oldest, counted.
    """

    is_live = True

    def __init__(
        self, name: str, detector: VoiceDetector, thread: Executor, clock: Callable[[], float] = monotonic
    ) -> None:
        self.name = name
        self.dropped_chunks = 0
        self._detector = detector
        self._thread = thread
        self._clock = clock
        self._bytes = bytearray()
        self._wanted = CHUNK_BYTES
        """Bytes for which the reader is woken."""
        self._arrived = asyncio.Event()
        self._is_over = False
        self._next_at: float | None = None
        """Seconds on the clock of the next chunk's first sample."""
        self._probability = 0.0
        self._allowance = BUFFER_SECONDS
        """Seconds of sound that may still come at once."""
        self._fed_at = clock()

    def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz; returns at once."""
        if self._is_over:
            return
        now, seconds = self._clock(), len(pcm) / 2 / SAMPLE_RATE
        self._allowance = min(BUFFER_SECONDS, self._allowance + FASTEST * (now - self._fed_at))
        self._fed_at = now
        if seconds > self._allowance:
            self.dropped_chunks += len(pcm) // CHUNK_BYTES
            return
        self._allowance -= seconds
        self._bytes += pcm
        if (late := len(self._bytes) - round(BUFFER_SECONDS * SAMPLE_RATE) * 2) > 0:
            chunks = -(-late // CHUNK_BYTES)
            del self._bytes[: chunks * CHUNK_BYTES]
            self.dropped_chunks += chunks
        if len(self._bytes) >= self._wanted:
            self._arrived.set()

    def end(self) -> None:
        """Take that no more comes."""
        self._is_over = True
        self._arrived.set()

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        """Yield the chunks in order until `end`, a few at a time while nothing goes on."""
        loop = asyncio.get_running_loop()
        while True:
            self._wanted = CHUNK_BYTES * (AT_REST_CHUNKS if is_at_rest() else 1)
            while len(self._bytes) < self._wanted and not self._is_over:
                self._arrived.clear()
                await self._arrived.wait()
            count = min(len(self._bytes) // CHUNK_BYTES, MOST_CHUNKS)
            if not count:
                return
            at = self._time_of_next(is_at_rest())
            sound = np.frombuffer(bytes(self._bytes[: count * CHUNK_BYTES]), "<i2").reshape(count, CHUNK_SAMPLES)
            del self._bytes[: count * CHUNK_BYTES]
            self._next_at = at + count * CHUNK_SECONDS
            probabilities = await loop.run_in_executor(self._thread, self._look_at, sound)
            for number, probability in enumerate(probabilities):
                self._probability = probability
                yield AudioChunk(sound[number], at + number * CHUNK_SECONDS)

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in the chunk that was yielded last."""
        return self._probability

    def reset(self) -> None:
        """Forget the detector's state; between two chunks, when its thread rests."""
        self._detector.reset()

    def _look_at(self, sound: "np.ndarray[tuple[int, int], np.dtype[np.int16]]") -> list[float]:
        return [self._detector.probability(samples) for samples in sound]

    def _time_of_next(self, is_quiet: bool) -> float:
        by_clock = self._clock() - len(self._bytes) / 2 / SAMPLE_RATE
        if self._next_at is None or (is_quiet and abs(by_clock - self._next_at) > DRIFT_SECONDS):
            return by_clock
        return self._next_at
