"""Scripted parts of the mouth, each with a record of what happened, and what the tests of the mouth share."""

import asyncio
import time
import wave
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from audio.errors import AudioError, SynthesisFailed
from audio.interfaces import Synthesizer
from audio.pcm import Samples
from audio.playback.speech_output import SpeechObserver, SpokenSentence
from audio.speech import SpeechAudio, WordTiming


@dataclass
class Outcome:
    """What a voice gave of a sentence."""

    pieces: list[SpeechAudio] = field(default_factory=list)
    failure: str = ""

    @property
    def seconds(self) -> float:
        return sum(len(piece.samples) / piece.sample_rate for piece in self.pieces)

    @property
    def samples(self) -> Samples:
        return np.concatenate([np.zeros(0, np.int16), *(piece.samples for piece in self.pieces)])

    @property
    def words(self) -> list[str]:
        return words_of(self.pieces)


async def listen(pieces: AsyncIterator[SpeechAudio]) -> Outcome:
    """Take a sentence to its end, or to its failure."""
    outcome = Outcome()
    try:
        async for piece in pieces:
            outcome.pieces.append(piece)
    except SynthesisFailed as error:
        outcome.failure = str(error)
    return outcome


def words_of(pieces: Sequence[SpeechAudio]) -> list[str]:
    return [word.text for piece in pieces for word in piece.words]


class Clock:
    """Monotonic seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def note(hertz: float, seconds: float, sample_rate: int) -> Samples:
    """A sine at a quarter of full scale."""
    time = np.arange(round(seconds * sample_rate), dtype=np.float64) / sample_rate
    return (np.sin(2 * np.pi * hertz * time) * 8192).astype(np.int16)


def read_wav(file: Path) -> tuple[Samples, int]:
    """The samples and the sample rate of a mono 16-bit WAV."""
    with wave.open(str(file)) as reader:
        assert (reader.getnchannels(), reader.getsampwidth()) == (1, 2)
        return np.frombuffer(reader.readframes(reader.getnframes()), np.int16), reader.getframerate()


def is_tone(samples: Samples, sample_rate: int, hertz: float) -> bool:
    """Say whether this frequency is the loudest in the samples."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return bool(abs(float(np.argmax(spectrum)) * sample_rate / len(samples) - hertz) < 15)


@dataclass
class ScriptedVoice(Synthesizer):
    """A voice that says word `n` of a sentence as `seconds_a_word` of the constant `level + n`."""

    name: str = "scripted"
    sends_to = ()
    sample_rate: int = 24_000
    seconds_a_word: float = 0.2
    level: int = 1000
    times_words: bool = True
    failures: dict[int, int] = field(default_factory=dict)
    """Number of the request -> words after which it fails; always, under the key -1."""
    hold: asyncio.Event | None = None
    """Waited for before the first word."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(sentence, language) of each request."""
    expected: int = 0
    """How often it was told that a sentence is likely to follow."""
    given_up: int = 0
    """Sentences whose iterator was closed before its end."""
    held: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a sentence waits for `hold`."""
    words_said: int = 0
    word_said: asyncio.Event = field(default_factory=asyncio.Event)
    made: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    """Released once for each whole sentence."""

    def expect(self) -> None:
        self.expected += 1

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        fails_after = self.failures.get(len(self.asked), self.failures.get(-1))
        self.asked.append((sentence, language))
        whole = False
        try:
            if self.hold is not None:
                self.held.set()
                await self.hold.wait()
            for number, word in enumerate(sentence.split()):
                if number == fails_after:
                    break
                self.words_said += 1
                self.word_said.set()
                yield self._word(number, word)
            if fails_after is not None:
                raise SynthesisFailed(f"{self.name} failed as its script says")
            whole = True
            self.made.release()
        finally:
            self.given_up += not whole

    def _word(self, number: int, word: str) -> SpeechAudio:
        samples = np.full(round(self.seconds_a_word * self.sample_rate), self.level + number, np.int16)
        start = number * self.seconds_a_word
        timing = WordTiming(word.strip(".,!?"), start, start + self.seconds_a_word)
        return SpeechAudio(samples, self.sample_rate, (timing,) if self.times_words else ())


@dataclass
class ScriptedPlayer:
    """A player in whose room time passes only by script."""

    name: str = "scripted"
    at_once: bool = True
    """Whether `drain` returns at once; else it waits for `go_on`, or for `stop`."""
    unheard: float = 0.0
    """What `stop` will say was dropped."""
    latency: float = 0.0
    """Seconds from `play` to the loudspeaker."""
    fails: type[AudioError] | None = None
    full: bool = False
    """Whether `play` waits for `go_on` too."""
    levels: list[int] = field(default_factory=list)
    """The first sample of each piece played."""
    happened: list[str] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a sentence was handed over whole."""
    busy_until: float = 0.0
    gains: list[float] = field(default_factory=list)
    """Every gain it was set to."""
    resumed: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> None:
        self.happened.append("start")

    async def play(self, audio: SpeechAudio) -> None:
        if self.fails:
            raise self.fails("the loudspeaker is gone: plug it in")
        self.levels.append(int(audio.samples[0]))
        self.happened.append(f"play {audio.samples[0]}")
        begins = max(self.busy_until, time.monotonic() + self.latency)
        self.busy_until = begins + len(audio.samples) / audio.sample_rate
        if self.full:
            await self.go_on.wait()
        await asyncio.sleep(0)

    async def drain(self) -> None:
        if not self.at_once:
            self.draining.set()
            await self.go_on.wait()
            self.go_on.clear()
            self.draining.clear()
        self.happened.append("drain")

    def stop(self) -> float:
        self.happened.append("stop")
        self.go_on.set()
        unheard, self.unheard = self.unheard, 0.0
        return unheard

    def pause(self) -> None:
        self.happened.append("pause")

    def resume(self) -> None:
        self.happened.append("resume")
        self.resumed.set()

    def set_gain(self, factor: float) -> None:
        self.gains.append(factor)

    async def aclose(self) -> None:
        self.happened.append("aclose")


class SilentPlayer:
    """A `Player` of nothing: sentences are over as soon as they are made, and nothing ever sounds."""

    name = "nothing (no loudspeaker)"

    async def start(self) -> None:
        """There is nothing to open."""

    async def play(self, audio: SpeechAudio) -> None:
        """Take the samples."""

    async def drain(self) -> None:
        """Nothing is ever queued."""

    def stop(self) -> float:
        """Return 0.0: nothing is ever queued."""
        return 0.0

    def pause(self) -> None:
        """Nothing sounds."""

    def resume(self) -> None:
        """Nothing waits."""

    def set_gain(self, factor: float) -> None:
        """Nothing is quieter than nothing."""

    @property
    def busy_until(self) -> float:
        """0.0: nothing ever played."""
        return 0.0

    async def aclose(self) -> None:
        """There is nothing to close."""


@dataclass
class Following(SpeechObserver):
    """A `SpeechObserver` that calls what a test gives it."""

    first: Callable[[SpokenSentence, float], object] = lambda sentence, at: None
    ended: Callable[[str, bool], object] = lambda heard, whole: None
    changed: Callable[[bool], object] = lambda speaking: None

    def first_sound(self, sentence: SpokenSentence, at: float, made_at: float | None = None) -> None:
        self.first(sentence, at)

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        self.ended(heard, whole)

    def speaking_changed(self, speaking: bool) -> None:
        self.changed(speaking)
