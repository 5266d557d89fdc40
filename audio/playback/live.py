"""A player over any sound card output that asks for samples by a callback."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.errors import DeviceUnavailable
from audio.loops import until_set
from audio.pcm import Samples
from audio.playback.volume import Ramp
from audio.resampler import StreamResampler
from audio.speech import SpeechAudio


class SampleRing:
    """A bounded queue of int16 samples for one writer thread and one reader thread.

    Order is kept, nothing is lost but by `drop`. Neither side ever waits: `write` takes only what fits, `read` gives
    silence for what is missing. Each position below is assigned by one thread only, and assigning an int is atomic.
    """

    def __init__(self, capacity: int) -> None:
        self._samples = np.zeros(capacity, np.int16)
        self._written = 0
        """Samples ever written; the writer's."""
        self._dropped_to = 0
        """Everything before this position is not to be read; the writer's."""
        self._read = 0
        """Samples ever read or skipped; the reader's."""

    @property
    def waiting(self) -> int:
        """Samples that are still to be read."""
        return self._written - max(self._read, self._dropped_to)

    @property
    def room(self) -> int:
        """Samples that fit."""
        return len(self._samples) - (self._written - self._read)

    def write(self, samples: Samples) -> int:
        """Queue as many of the samples as fit and return how many. Writer only."""
        taken = min(len(samples), self.room)
        start = self._written % len(self._samples)
        first = min(taken, len(self._samples) - start)
        self._samples[start : start + first] = samples[:first]
        self._samples[: taken - first] = samples[first:taken]
        self._written += taken
        return taken

    def drop(self) -> int:
        """Forget what is queued and return how many samples that were. Writer only."""
        dropped = self.waiting
        self._dropped_to = self._written
        return dropped

    def read(self, out: Samples) -> int:
        """Fill `out` with the next samples, then with zeros; return how many were samples. Reader only."""
        position = max(self._read, self._dropped_to)
        given = min(len(out), self._written - position)
        start = position % len(self._samples)
        first = min(given, len(self._samples) - start)
        out[:first] = self._samples[start : start + first]
        out[first:given] = self._samples[: given - first]
        out[given:] = 0
        self._read = position + given
        return given


AHEAD_SECONDS = 1.0
"""Queued before `play` waits."""

RING_SECONDS = 2.0
"""What fits between the event loop and the callback."""

DEAD_SECONDS = 2.0
"""A sound card that asks for nothing for so long is gone: a frozen sound server raises no error."""

LOOK_SECONDS = 0.5
"""How often a wait looks whether the sound card still lives."""

SHORTEST_WAIT_SECONDS = 0.01
"""For the callback to come by: after a `stop` only it makes room."""


class OutputFormat(Struct, frozen=True):
    """What an output was opened with."""

    name: str
    """The device's, for people."""
    sample_rate: int
    """Hz."""
    latency: float
    """Seconds from the callback to the loudspeaker, as the device tells."""


class Filler(Protocol):
    """Provides the samples. Called from the sound card's thread; never blocks."""

    def __call__(self, out: Samples, delay: float) -> None:
        """Fill `out` (int16, shape (n,), mono); its first sample will be heard in `delay` seconds.

        A `delay` of 0 says that the device does not know it: some drivers never tell. An empty `out` says that the
        stream has ended and is to be opened again.
        """


class PlaybackTap(Protocol):
    """Receives what is played. Called from the sound card's thread; never blocks, and copies what it keeps."""

    def __call__(self, samples: Samples, sample_rate: int, at: float) -> None:
        """Take a buffer (int16, shape (n,), mono, Hz) whose first sample is heard at `at`, seconds on the clock."""


class Output(Protocol):
    """A sound card's output. All methods block and are called from worker threads, one at a time."""

    def open(self) -> OutputFormat:
        """Open the device. Raises `DeviceUnavailable` with the fix."""

    def begin(self, fill: Filler) -> None:
        """Start asking for samples, for ever. Raises `DeviceUnavailable`."""

    def close(self) -> None:
        """Stop asking and release the device; safe to call twice."""


class LivePlayer:
    """A `Player` that keeps its output open, with silence while nothing is queued.

    Silence goes out whenever no sound does, so that the first sample of a sentence meets a device that is awake.
    """

    def __init__(
        self,
        output: Output,
        name: str,
        *,
        dead_after: float = DEAD_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._taps: tuple[PlaybackTap, ...] = ()
        """Read by the callback."""
        self._clock = clock
        self._output = output
        self._dead_after = dead_after
        self._format = OutputFormat(name, 0, 0.0)
        self._ring = SampleRing(1)
        self._resampler: StreamResampler | None = None
        self._unwritten = 0
        """Samples that `play` still holds because the ring is full; 0 after `stop`."""
        self._changed = asyncio.Event()
        """Set by `stop` and `resume`: whoever waits looks again."""
        self._is_paused = False
        """Read by the callback."""
        self._gain = 1.0
        """Read by the callback."""
        self._ramp = Ramp(1, 1.0)
        """The callback's."""
        self._asked_at = 0.0
        """Seconds of `time.monotonic` of the last callback; written by its thread."""
        self._taken_ends_at = 0.0
        """Seconds of `time.monotonic` at which the last sample taken by the callback is over; written by its thread."""

    def tap(self, tap: PlaybackTap) -> None:
        """Have one more told of every buffer that goes to the device from now on, silence included; for good."""
        self._taps += (tap,)

    @property
    def latency(self) -> float:
        """Seconds from the callback to the loudspeaker, as the device tells."""
        return self._format.latency

    @property
    def busy_until(self) -> float:
        """Seconds on `time.monotonic` at which the last sample leaves, or left, the loudspeaker; 0 before the first.

        While it is paused, when the last sample before the pause did.
        """
        if self._waiting == 0 or self._is_paused:
            return self._taken_ends_at
        return max(self._taken_ends_at, self._clock() + self.latency) + self._waiting / self._format.sample_rate

    @property
    def _waiting(self) -> int:
        """Samples that the device has not taken yet."""
        return self._ring.waiting + self._unwritten

    async def start(self) -> None:
        """Open the device and keep it open. Raises `DeviceUnavailable`."""
        self._format = await asyncio.to_thread(self._output.open)
        self.name = self._format.name
        self._ring = SampleRing(round(RING_SECONDS * self._format.sample_rate))
        self._ramp = Ramp(self._format.sample_rate, self._gain)
        self._asked_at = self._clock()
        await asyncio.to_thread(self._output.begin, self._fill)

    async def play(self, audio: SpeechAudio) -> None:
        """Queue the samples; wait while more than a second is ahead. Raises `DeviceUnavailable`."""
        if self._resampler is None or self._resampler.source_rate != audio.sample_rate:
            await self._flush()
            self._resampler = StreamResampler(audio.sample_rate, self._format.sample_rate)
        await self._queue(self._resampler.feed(audio.samples))

    async def drain(self) -> None:
        """Return when the last sample has left the loudspeaker. Raises `DeviceUnavailable`."""
        await self._flush()
        while (left := self.busy_until - self._clock()) > 0 or self._waiting:
            is_held = self._is_paused and self._waiting > 0
            await self._wait(LOOK_SECONDS if is_held else max(left, SHORTEST_WAIT_SECONDS))

    def stop(self) -> float:
        """Drop what is queued; what the device has already taken (`latency`) is still heard, and counts as heard."""
        dropped = self._ring.drop() + self._unwritten
        self._unwritten, self._resampler = 0, None
        self.resume()
        return dropped / self._format.sample_rate if dropped else 0.0

    def pause(self) -> None:
        """Have the callback give silence from its next buffer on; what the device has already taken is still heard."""
        self._is_paused = True

    def resume(self) -> None:
        """Have the callback go on with the sample after the last one it gave."""
        self._is_paused = False
        self._changed.set()

    def set_gain(self, factor: float) -> None:
        """Scale what the callback gives, from its next buffer on, by a factor in [0, 1]."""
        self._gain = factor

    async def aclose(self) -> None:
        """Close the device; safe to call twice."""
        await asyncio.to_thread(self._output.close)

    async def _flush(self) -> None:
        """Queue what the change of sample rate still holds back."""
        if self._resampler is not None:
            await self._queue(self._resampler.flush())

    async def _queue(self, samples: Samples) -> None:
        """Hand over all samples, unless `stop` comes; return when no more than `AHEAD_SECONDS` are waiting."""
        self._unwritten = len(samples)
        while True:
            self._unwritten -= self._ring.write(samples[len(samples) - self._unwritten :])
            ahead = (self._ring.waiting + self._unwritten) / self._format.sample_rate - AHEAD_SECONDS
            if self._unwritten == 0 and ahead <= 0:
                return
            await self._wait(max(ahead, SHORTEST_WAIT_SECONDS))

    async def _wait(self, seconds: float) -> None:
        """Wait so long, but return at once after a change, and early to look again. Raises `DeviceUnavailable`."""
        if self._clock() - self._asked_at > self._dead_after:
            raise DeviceUnavailable(f"{self.name} takes no more sound: check its cable or the sound server")
        self._changed.clear()
        await until_set(self._changed, min(seconds, LOOK_SECONDS))

    def _fill(self, out: Samples, delay: float) -> None:
        """Give the callback what waits, then silence; in the sound card's thread."""
        if len(out) == 0:
            return
        given = self._take(out)
        now = self._clock()
        if given:
            self._taken_ends_at = now + (delay or self.latency) + given / self._format.sample_rate
        self._asked_at = now
        for tap in self._taps:
            tap(out, self._format.sample_rate, now + (delay or self.latency))

    def _take(self, out: Samples) -> int:
        """Fill a buffer and return how many of its samples were waiting; in the sound card's thread.

        A pause that cuts in still takes the few samples of its fade, so that each sample is played once.
        """
        target = 0.0 if self._is_paused else self._gain
        wanted = min(len(out), self._ramp.samples_to(0.0)) if self._is_paused else len(out)
        given = self._ring.read(out[:wanted])
        out[given:] = 0
        if given:
            self._ramp.apply(out[:given], target)
        else:
            self._ramp.level = target  # nothing sounds, nothing can click: the next first syllable is not faded
        return given


def fill_channels(fill: Filler, out: NDArray[np.int16], delay: float) -> None:
    """Fill `out` (int16, shape (frames, channels)) with the same sound on every channel."""
    mono = np.empty(len(out), np.int16)
    fill(mono, delay)
    out[:] = mono[:, None]
