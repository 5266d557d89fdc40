"""nakari's voice, its echo guard and whoever speaks over it, in a closed loop without a box: minutes in seconds.

What is paused is not heard any more, as in a real room; nothing recognizes words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec import Struct

from audio.echo.calibration import chime
from audio.echo.canceller import Canceller
from audio.echo.duplex import DUCK_DB, HalfDuplex, Mode
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples, from_float
from audio.resampler import StreamResampler
from audio.turns.barge_in import Actions, BargeIn, Duck, Pause, Resume
from audio.turns.endpointer import Committed, Dropped, Endpointer, Started
from audio.turns.vad import LoadDetector
from tests.room.acoustics import SPEAKER_RATE, EchoPath, Loudspeaker, Sound
from tests.room.card import INPUT_LATENCY, OUTPUT_BLOCK, OUTPUT_LATENCY

BLOCK_SECONDS: Final = OUTPUT_BLOCK / SPEAKER_RATE

TAIL_SECONDS: Final = 0.7
"""After somebody's sound, in which a pause is still his."""


class RoomKind(Struct, frozen=True):
    """Where nakari stands."""

    loudspeaker: Loudspeaker = Loudspeaker()
    noise_dbfs: float = -62.0
    """Of the room, at the microphone, white."""
    fan_dbfs: float | None = None
    """Of a fan: noise that falls by 6 dB an octave, with a hum."""


@dataclass(slots=True)
class Told:
    """What came of an evening."""

    pauses: list[float] = field(default_factory=list)
    """When it fell silent for somebody, seconds since the microphone's first sample, at the loudspeaker."""
    causes: list[str] = field(default_factory=list)
    """Of each of them: the method of `BargeIn` that paused it."""
    sounding: float = 0.0
    """Seconds of its voice."""
    modes: dict[Mode, float] = field(default_factory=dict)
    """Seconds of its voice in each."""


class EchoLoop:
    """One room and the parts that listen in it. Time goes by in chunks (32 ms), as they are asked for."""

    def __init__(self, kind: RoomKind, canceller: Canceller, load: LoadDetector, seed: int = 0) -> None:
        self.now = 0.0
        """Seconds up to which the microphone has heard."""
        self.told = Told()
        self.echo_power: list[float] = []
        """Of each chunk of its echo alone, where its voice sounds."""
        reference = PlayedReference()
        self._take = reference.take
        self._busy_until = 0.0
        self.guard = CancellingGuard(reference, HalfDuplex(lambda: self._busy_until), canceller)
        self._detector = load(self.guard.is_plain)
        self._endpointer = Endpointer()
        self._barge_in = BargeIn(Mode.HALF)
        self._path = EchoPath(kind.loudspeaker, CHUNK_SAMPLES, OUTPUT_LATENCY)
        self._random = np.random.default_rng(seed)
        self._kind = kind
        self._fan = fan(seed)
        self._queue = np.zeros(0, np.int16)
        """48 kHz: what is still to be said."""
        self._blocks = 0
        self._is_paused = False
        self._gain = 1.0
        self._was_covered = False
        self._placed: list[tuple[float, Sound]] = []
        self._is_reply = False
        self.watch: list[Callable[[EchoLoop, float], None]] = []

    @property
    def is_speaking(self) -> bool:
        """Whether something is left to be said."""
        return len(self._queue) > 0

    def say(self, samples: Samples) -> None:
        """Have it say something (int16, 16 kHz) behind what it says already."""
        resampler = StreamResampler(SAMPLE_RATE, SPEAKER_RATE)
        self._queue = np.concatenate([self._queue, resampler.feed(samples), resampler.flush()])

    def put(self, sound: Sound, at: float) -> None:
        """Have a sound begin at the microphone at a moment (s)."""
        self._placed.append((at, sound))

    def calibrate(self) -> None:
        """Play the chime and measure it, as the box does at its start."""
        tape = self.guard.record()
        sound = chime()
        resampler = StreamResampler(sound.sample_rate, SPEAKER_RATE)
        self.run(0.3)
        self._queue = np.concatenate([resampler.feed(sound.samples), resampler.flush()])
        until = self.now + 4.0
        while not tape.settled.is_set() or not (tape.holds_echo or tape.settled_late.is_set() or self.now > until):
            self.step()
        self.guard.calibrate_by(tape)

    def run(self, seconds: float) -> None:
        """Let time go by."""
        until = self.now + seconds
        while self.now < until - 1e-9:
            self.step()

    def reply(self, samples: Samples) -> None:
        """Say something to its end; pauses make it longer."""
        self.say(samples)
        self._is_reply = True
        self._do(self._barge_in.reply_began(self.now))
        while self.is_speaking:
            self.step()
        self._is_reply = False
        self._do(self._barge_in.reply_ended())

    def step(self) -> None:
        """Let one chunk go by."""
        sounds = self._play(self.now + CHUNK_SECONDS)
        echo = self._path.hear(self.now)
        if sounds:
            self.echo_power.append(float(np.mean(echo**2)))
            self.told.sounding += CHUNK_SECONDS
            mode = self.guard.duplex.mode
            self.told.modes[mode] = self.told.modes.get(mode, 0.0) + CHUNK_SECONDS
        near = from_float(np.clip(echo + self._others(), -1, 1))
        self._listen(AudioChunk(near, self.now))
        self.now += CHUNK_SECONDS

    def _play(self, until: float) -> bool:
        """Hand over what the card asks for up to a moment; return whether any of it is sound."""
        sounds = False
        while self._blocks * BLOCK_SECONDS <= until:
            block = np.zeros(OUTPUT_BLOCK, np.int16)
            if not self._is_paused and len(self._queue):
                taken, self._queue = self._queue[:OUTPUT_BLOCK], self._queue[OUTPUT_BLOCK:]
                block[: len(taken)] = (taken * self._gain).astype(np.int16)
            at = self._blocks * BLOCK_SECONDS + OUTPUT_LATENCY
            if block.any():
                sounds, self._busy_until = True, at + BLOCK_SECONDS
            self._take(block, SPEAKER_RATE, at)
            self._path.play(block)
            self._blocks += 1
        return sounds

    def _others(self) -> Sound:
        deviation = 10 ** (self._kind.noise_dbfs / 20)
        sound = np.asarray(self._random.normal(0, deviation, CHUNK_SAMPLES), np.float32)
        position = round(self.now * SAMPLE_RATE)
        if self._kind.fan_dbfs is not None:
            at = position % (len(self._fan) - CHUNK_SAMPLES)
            sound += self._fan[at : at + CHUNK_SAMPLES] * np.float32(10 ** (self._kind.fan_dbfs / 20))
        for moment, other in self._placed:
            start = round(moment * SAMPLE_RATE) - position
            first, last = max(0, start), min(CHUNK_SAMPLES, start + len(other))
            if first < last:
                sound[first:last] += other[first - start : last - start]
        return sound

    def _listen(self, chunk: AudioChunk) -> None:
        cleaned = self.guard.clean(chunk)
        covered = self.guard.covers(cleaned)
        if covered and not self._was_covered:
            self._endpointer.flush(cleaned.started_at)
            self._do(self._barge_in.turn_ended(None))
        if covered != self._was_covered:
            self._detector.reset()
            self._was_covered = covered
        probability = self._detector.probability(cleaned.samples)
        self.guard(cleaned, probability, covered)
        for watch in self.watch:
            watch(self, probability)
        now = chunk.ended_at + INPUT_LATENCY
        if not covered and self._barge_in.is_over_reply:
            self._barge_in.mode = self.guard.duplex.mode
            if not self._barge_in.is_quiet and self.guard.hears_another:
                self._do(self._barge_in.startled(now), "startled")
            self._do(self._barge_in.chunk_came(probability, now, self.guard.explained), "chunk_came")
        if not covered:
            self._cut(probability, cleaned.started_at, now)
        self._do(self._barge_in.time_passed(now))

    def _cut(self, probability: float, at: float, now: float) -> None:
        for signal in self._endpointer.process(probability, at):
            if isinstance(signal, Started):
                self._barge_in.mode = self.guard.duplex.mode
                started = self._barge_in.speech_started(signal.at, now, is_doubtful=self.guard.is_doubtful)
                self._do(started, "speech_started")
            elif isinstance(signal, Committed | Dropped):
                self._do(self._barge_in.turn_ended(None))

    def _do(self, actions: Actions, cause: str = "") -> None:
        for action in actions:
            match action:
                case Pause():
                    self._is_paused = True
                    self.told.pauses.append(self._blocks * BLOCK_SECONDS + OUTPUT_LATENCY)
                    self.told.causes.append(cause)
                case Duck():
                    self._gain = 10 ** (-DUCK_DB / 20)
                case Resume():
                    self._is_paused, self._gain = False, 1.0
                case _:
                    pass


def fan(seed: int, seconds: float = 5.0) -> Sound:
    """Return a fan's noise at 0 dBFS: falls by 6 dB an octave above 100 Hz, two hums in it."""
    count = round(seconds * SAMPLE_RATE)
    spectrum = np.fft.rfft(np.random.default_rng(seed + 77).normal(size=count))
    hertz = np.fft.rfftfreq(count, 1 / SAMPLE_RATE)
    noise = np.fft.irfft(spectrum / np.maximum(hertz, 100.0), count)
    noise /= np.sqrt(np.mean(noise**2))
    time = np.arange(count) / SAMPLE_RATE
    hum = np.sin(2 * np.pi * 120.0 * time) + 0.5 * np.sin(2 * np.pi * 240.0 * time)
    both = noise + 0.5 * hum
    return np.asarray(both / np.sqrt(np.mean(both**2)), np.float32)


def level_of(powers: Sequence[float]) -> float:
    """Return the level (dBFS) of what is active in the chunks of these powers."""
    found = np.array(powers)
    active = found[found > found.max() * 1e-3]
    return float(10 * np.log10(active.mean()))
