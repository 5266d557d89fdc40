"""A sound card without hardware, in a simulated room and on the event loop's time: an Output and an Input in one."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np

from audio.capture.input import InputFormat, Taker
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples
from audio.playback.live import Filler, OutputFormat
from tests.room.acoustics import SPEAKER_RATE, EchoPath, Loudspeaker, Sound
from tests.room.virtual_time import until

T = TypeVar("T")

OUTPUT_LATENCY: Final = 0.06
"""Seconds from a callback to the loudspeaker, which the card tells (as `audio.playback.speaker` asks for)."""

OUTPUT_BLOCK: Final = 960
"""Samples asked for at once: 20 ms."""

INPUT_LATENCY: Final = 0.008
"""Seconds from the end of a recorded block to its callback, which the card tells."""

SENTENCE_GAP: Final = 0.35
"""Seconds of silence that two of its sentences may have between them."""

NOISE_SEED: Final = 4


@dataclass(slots=True)
class _Placed:
    """A sound in the room and when it begins, in samples since the room's start."""

    sound: Sound
    start: int


@dataclass(slots=True)
class Room:
    """What sounds at the microphone, block by block: its echo, what was put there, and the noise of the room."""

    echo: EchoPath
    began: float
    """Seconds on the loop's clock of the microphone's first sample."""
    noise_dbfs: float
    """RMS level of the room itself, white, dB relative to full scale."""
    rate: float = SAMPLE_RATE
    """Hz on the loop's clock: the microphone's own clock may be fast or slow."""
    placed: list[_Placed] = field(default_factory=list)
    position: int = 0
    """Samples heard so far."""
    noise: np.random.Generator = field(default_factory=lambda: np.random.default_rng(NOISE_SEED))

    @property
    def now(self) -> float:
        """Seconds on the loop's clock up to which the microphone has heard."""
        return self.began + self.position / self.rate

    def put(self, sound: Sound, at: float) -> float:
        """Have a sound begin at `at` at the earliest, seconds on the loop's clock; return when it ends."""
        start = max(self.position, round((at - self.began) * self.rate))
        self.placed.append(_Placed(sound, start))
        return self.began + (start + len(sound)) / self.rate

    def hear(self) -> Samples:
        """Return the microphone's next chunk, int16."""
        mixed = self.echo.hear(self.now)
        mixed = mixed + self.noise.normal(0, 10 ** (self.noise_dbfs / 20), CHUNK_SAMPLES).astype(np.float32)
        end = self.position + CHUNK_SAMPLES
        for each in self.placed:
            first, last = max(each.start, self.position), min(each.start + len(each.sound), end)
            if first < last:
                mixed[first - self.position : last - self.position] += each.sound[
                    first - each.start : last - each.start
                ]
        self.placed = [each for each in self.placed if each.start + len(each.sound) > end]
        self.position = end
        return (np.clip(mixed, -1, 1) * 32767).astype(np.int16)


class SimulatedCard:
    """Loudspeaker and microphone of one room. `run` drives both; `output` and `input` are what the real parts open.

    Callbacks come on the event loop, at the times at which a sound card's thread would call: each output block of 20 ms
    one latency before it sounds, each chunk of the microphone when it is recorded.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        loudspeaker: Loudspeaker | None = None,
        noise_dbfs: float = -62.0,
        microphone_ppm: float = 0.0,
    ) -> None:
        self._loop = loop
        self._loudspeaker = loudspeaker or Loudspeaker()
        now, rate = loop.time(), SAMPLE_RATE * (1 + microphone_ppm * 1e-6)
        self.room = Room(EchoPath(self._loudspeaker, CHUNK_SAMPLES, now + OUTPUT_LATENCY), now, noise_dbfs, rate)
        self.output = SimulatedOutput()
        self.input = SimulatedInput()
        self.played: list[tuple[float, float]] = []
        """Start and end (seconds on the loop's clock, at the loudspeaker) of each stretch of its sound."""
        self.recording: list[Samples] | None = None
        """What the microphone heard (16 kHz), once somebody wants it kept."""
        self.output_recording: list[Samples] | None = None
        """What went to the loudspeaker (48 kHz), once somebody wants it kept."""

    async def run(self) -> None:
        """Ask for sound and hand over sound, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._play(), name="the card's output")
            group.create_task(self._record(), name="the card's input")

    async def _play(self) -> None:
        began, blocks = self._loop.time(), 0
        period = OUTPUT_BLOCK / SPEAKER_RATE / (1 + self._loudspeaker.drift_ppm * 1e-6)
        while True:
            samples = self.output.ask()
            self.room.echo.play(samples)
            if self.output_recording is not None:
                self.output_recording.append(samples)
            self._note(samples, began + blocks * period + OUTPUT_LATENCY)
            blocks += 1
            await until(began + blocks * period)

    async def _record(self) -> None:
        began, chunks = self._loop.time(), 0
        while True:
            chunks += 1
            await until(began + chunks * CHUNK_SAMPLES / self.room.rate + INPUT_LATENCY)
            samples = self.room.hear()
            if self.recording is not None:
                self.recording.append(samples)
            self.input.hand_over(samples)

    def _note(self, samples: Samples, at: float) -> None:
        """Keep when it sounds: the gap between two sentences does not count."""
        if not samples.any():
            return
        end = at + len(samples) / SPEAKER_RATE
        if self.played and at - self.played[-1][1] < SENTENCE_GAP:
            self.played[-1] = (self.played[-1][0], end)
        else:
            self.played.append((at, end))


async def beside(card: SimulatedCard, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine while the card runs; return what it returns. What either raises comes in an exception group."""
    async with asyncio.TaskGroup() as group:
        driving = group.create_task(card.run(), name="the card")
        working = group.create_task(main, name="in the room")
        working.add_done_callback(lambda _: driving.cancel())
    return working.result()


class SimulatedOutput:
    """An `Output` that a card drives."""

    def __init__(self) -> None:
        self._fill: Filler | None = None

    def open(self) -> OutputFormat:
        return OutputFormat("the simulated loudspeaker", SPEAKER_RATE, OUTPUT_LATENCY)

    def begin(self, fill: Filler) -> None:
        self._fill = fill

    def close(self) -> None:
        self._fill = None

    def ask(self) -> Samples:
        """Return the next block: silence while nobody has opened the output."""
        out = np.zeros(OUTPUT_BLOCK, np.int16)
        if self._fill is not None:
            self._fill(out, OUTPUT_LATENCY)
        return out


class SimulatedInput:
    """An `Input` that a card drives; it can be unplugged."""

    def __init__(self) -> None:
        self._take: Taker | None = None
        self.is_there = True

    def open(self) -> InputFormat:
        """Raises `DeviceUnavailable` while it is unplugged."""
        if not self.is_there:
            raise DeviceUnavailable("there is no microphone in the room")
        return InputFormat("the simulated microphone", SAMPLE_RATE, 1)

    def begin(self, take: Taker) -> None:
        self._take = take

    def close(self) -> None:
        self._take = None

    def hand_over(self, samples: Samples) -> None:
        """Give a chunk to whoever records."""
        if self._take is not None and self.is_there:
            self._take(samples.tobytes(), CHUNK_SECONDS + INPUT_LATENCY, False)
