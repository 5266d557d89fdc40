"""Scripted stand-ins for the seams of the ears: a source, a voice detector, a recognizer."""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from audio.errors import RecognitionFailed
from audio.interfaces import VoiceDetector, always_awake
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.playback.speech_output import SpeechObserver
from audio.speech import PartialWords, RecognizedTurn, SpeechStarted, Transcript, Utterance

PROBABILITIES = {"#": 0.9, "+": 0.4, ".": 0.05}
"""A pattern reads `...###...`: speech, hardly speech (above the release, below the onset), silence."""


def marked(number: int) -> Samples:
    """Return a chunk that carries its number as its level, so that a test finds it again in an utterance."""
    return np.tile(np.array([number + 1, -number - 1], np.int16), CHUNK_SAMPLES // 2)


@dataclass
class ScriptedSource:
    """An `AudioSource` of numbered chunks, one a character of the pattern, beginning at `began` seconds."""

    pattern: str
    began: float = 1000.0
    is_live: bool = True
    name: str = "a script"
    dropped_chunks: int = 0
    error: Exception | None = None
    """Raised after the last chunk."""
    pace: Callable[[], Awaitable[object]] | None = None
    """Awaited after each chunk: a microphone leaves 32 ms."""

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        for number in range(len(self.pattern)):
            yield AudioChunk(marked(number), self.at(number))
            if self.pace is not None:
                await self.pace()
        if self.error is not None:
            raise self.error

    def at(self, number: int) -> float:
        """Seconds at which a chunk begins."""
        return self.began + number * CHUNK_SECONDS


@dataclass
class ScriptedDetector(VoiceDetector):
    """A `VoiceDetector` that reads the pattern at the number that each chunk carries."""

    pattern: str
    resets: int = 0

    def probability(self, samples: Samples) -> float:
        return PROBABILITIES[self.pattern[int(samples[0]) - 1]]

    def reset(self) -> None:
        self.resets += 1


@dataclass
class ScriptedRecognizer:
    """A `Recognizer` that answers from a list; an exception in it is raised. Keeps every utterance."""

    script: Sequence[str | Exception] = ()
    name: str = "scripted"
    sends_to = ()
    heard: list[Utterance] = field(default_factory=list)
    is_warm: bool = False
    may_answer: threading.Event = field(default_factory=threading.Event)
    """Cleared, a worker thread waits in `transcribe`."""
    has_begun: threading.Event = field(default_factory=threading.Event)
    """Set once a worker thread is in `transcribe`."""

    def __post_init__(self) -> None:
        self.may_answer.set()

    def warm(self) -> None:
        self.is_warm = True

    def transcribe(self, utterance: Utterance) -> Transcript:
        assert self.is_warm
        self.has_begun.set()
        assert self.may_answer.wait(30)
        number = len(self.heard)
        self.heard.append(utterance)
        said = self.script[number] if number < len(self.script) else f"utterance {number}"
        if isinstance(said, Exception):
            raise said
        return Transcript(said, "en", self.name)


@dataclass
class ScriptedStreams:
    """A `StreamingRecognizer` that has heard words once so many chunks of a turn came; an exception is raised then.

    Each turn has its own script, by the number of its chunk: `{20: "turn on", 30: "turn on the light"}`.
    """

    scripts: Sequence[dict[int, str | Exception]] = ()
    name: str = "streaming"
    sends_to = ()
    turns: list["ScriptedStream"] = field(default_factory=list)
    may_take: threading.Event = field(default_factory=threading.Event)
    """Cleared, the thread waits in `take`."""
    refusal: Exception | None = None
    """Raised instead of following a turn."""

    def __post_init__(self) -> None:
        self.may_take.set()

    def warm(self) -> None:
        """Load nothing."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        raise AssertionError("the listener asks its own recognizer")

    def follow(self) -> "ScriptedStream":
        if self.refusal is not None:
            raise self.refusal
        number = len(self.turns)
        self.turns.append(ScriptedStream(self.scripts[number] if number < len(self.scripts) else {}, self))
        return self.turns[-1]


@dataclass
class ScriptedStream:
    """A `TurnStream` of `ScriptedStreams`."""

    script: dict[int, str | Exception]
    of: ScriptedStreams
    taken: list[int] = field(default_factory=list)
    """Numbers of the chunks that came."""
    threads: set[str] = field(default_factory=set)

    def take(self, samples: Samples) -> PartialWords:
        assert self.of.may_take.wait(30)
        self.threads.add(threading.current_thread().name)
        self.taken += [int(value) - 1 for value in samples[::CHUNK_SAMPLES]]
        said = [words for at, words in sorted(self.script.items()) if at <= len(self.taken)]
        if said and isinstance(said[-1], Exception):
            raise said[-1]
        return PartialWords(str(said[-1]) if said else "", "en")


@dataclass
class Intake:
    """A `TurnIntake` that keeps what it is given; what `held_back` names by its words it does not admit."""

    heard: list[RecognizedTurn] = field(default_factory=list)
    held_back: dict[str, str] = field(default_factory=dict)
    """Reason by words."""

    async def admit(self, heard: RecognizedTurn) -> str:
        return self.held_back.get(heard.transcript.text, "")

    async def accept(self, heard: RecognizedTurn) -> None:
        self.heard.append(heard)


class Unfollowed:
    """A `Speaks` that says nothing."""

    def observe(self, observer: SpeechObserver) -> None:
        """Never tell it anything."""


def unasked() -> None:
    """Peek at nothing."""


@dataclass
class RecordingObserver:
    """A `TurnObserver` that keeps what it is told."""

    started: list[SpeechStarted] = field(default_factory=list)
    so_far: list[RecognizedTurn] = field(default_factory=list)
    ended: list[tuple[str | None, str]] = field(default_factory=list)
    """Words (None: never recognized) and why nobody got them."""

    def speech_started(self, started: SpeechStarted) -> None:
        self.started.append(started)

    def words_so_far(self, heard: RecognizedTurn) -> None:
        self.so_far.append(heard)

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        self.ended.append((heard.transcript.text if heard else None, suppressed))


def chunk_numbers(utterance: Utterance) -> range:
    """Return the numbers of the chunks that an utterance is made of; fails when they are not in one row."""
    numbers = [int(value) - 1 for value in utterance.samples[::CHUNK_SAMPLES]]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    return range(numbers[0], numbers[-1] + 1)


FAILED = RecognitionFailed("the recognizer stumbled")
