"""Replay: a recorded turn again through the real pipeline, with its settings or with others."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from math import ceil
from time import perf_counter
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import fields

from appliance.config.edit import with_value
from appliance.config.file import SettingsText
from appliance.config.meaning import toml_value
from appliance.config.sections import EarsSettings
from appliance.errors import Exit, Problem
from appliance.input.not_understood import NOT_UNDERSTOOD, understood_guard
from appliance.recorder.recorder import decided_of
from appliance.recorder.recording import Recording
from audio.echo.guard import PLAIN_CHUNKS
from audio.interfaces import Recognizer, TurnObserver, always_awake
from audio.loops import first_of
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk
from audio.recognizer.wrapped import WrappedRecognizer
from audio.speech import RecognizedTurn, Transcript, Utterance
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import REFUSED, evidence_guard
from audio.turns.listener import NO_WORDS, Listener, Surroundings
from audio.turns.vad import LoadDetector
from memory.json_value import Json, number

NEVER: Final = 2**31
"""Chunks: more than any recording has."""

NO_TURN: Final = "no turn"
"""The reason where nothing came of the sound."""


class Replayed(Struct, frozen=True):
    """What came of a turn this time."""

    decided: Mapping[str, Json]
    """By the names of `Recording.decided`."""
    probabilities: tuple[float, ...]
    """Of speech, of each chunk from the recording's `first` on."""


class Difference(Struct, frozen=True):
    """One decision, or a figure that it went by, as it was and as it would be."""

    name: str
    recorded: Json
    replayed: Json

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return self.recorded == self.replayed


def compared(recording: Recording, replayed: Replayed) -> list[Difference]:
    """Return every decision of both, the recorded ones in their order and then what is new."""
    names = dict.fromkeys((*recording.decided, *replayed.decided))
    return [Difference(name, recording.decided.get(name), replayed.decided.get(name)) for name in names]


async def replay(recording: Recording, ears: EarsSettings, recognizer: Recognizer, load: LoadDetector) -> Replayed:
    """Run a turn through detector, endpointer, recognizer and evidence, and return what comes of it.

    Sound passes as fast as it is worked on. A recognizer of the recorded one's name takes as many chunks for its words
    as it took then, any other as long as it takes now. With the recorded settings the decisions are the recorded ones.
    What only the moment could tell (whether words were meant for it, or its own) is taken over from the recording.
    """
    return await _Replay(recording, ears, recognizer, load).run()


class _Paced(WrappedRecognizer):
    """A recognizer that hands its words over once so many chunks have come as had when it was recorded."""

    def __init__(self, recognizer: Recognizer, due: Callable[[Utterance, float], int]) -> None:
        """`due` says how many chunks have to have come, given what the recognition took (s); 0 for at once."""
        super().__init__(recognizer)
        self._due = due
        self._loop = asyncio.get_running_loop()
        self._let_go = threading.Event()
        self._is_open = False
        self.held = asyncio.Event()
        """Set while words are known, and not handed over yet."""
        self.due = 0
        """Of the words that are held."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words of the other one, when they are due. Blocking. Raises `RecognitionFailed`."""
        began = perf_counter()
        transcript = super().transcribe(utterance)
        due = self._due(utterance, perf_counter() - began)
        if due and not self._is_open:
            self._loop.call_soon_threadsafe(self._hold, due)
            self._let_go.wait()
            self._let_go.clear()
        return transcript

    def release(self) -> None:
        """Hand over what is held."""
        self.held.clear()
        self._let_go.set()

    def open(self) -> None:
        """Hold nothing any more."""
        self._is_open = True
        self.release()

    def _hold(self, due: int) -> None:
        self.due = due
        self.held.set()


class _Outcome(TurnObserver):
    """The `TurnIntake` and `TurnObserver` of a replay: what is held back, and which turn is the recorded one."""

    def __init__(self, recording: Recording, language: str) -> None:
        self._recorded = recording.decided
        self._understood = understood_guard(language)
        self._turns: list[dict[str, Json]] = []

    async def admit(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words: by the evidence; else, of the moment, as it was."""
        if reason := evidence_guard(heard) or self._understood(heard):
            return reason
        recorded = str(self._recorded.get("reason", ""))
        is_of_words = recorded in {NO_WORDS, NOT_UNDERSTOOD} or recorded.startswith(REFUSED)
        return "" if is_of_words else recorded

    async def accept(self, heard: RecognizedTurn) -> None:
        """Nobody is there."""

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Keep what was decided."""
        if heard is not None:
            self._turns.append(decided_of(heard, suppressed))

    @property
    def decided(self) -> dict[str, Json]:
        """The turn that has most of the recorded speech."""
        shared = [(self._shared(turn), turn) for turn in self._turns]
        most, turn = max(shared, key=lambda each: each[0], default=(0.0, {}))
        return turn if most > 0.0 else {"text": "", "reason": NO_TURN}

    def _shared(self, turn: Mapping[str, Json]) -> float:
        began = max(number(each.get("speech_began")) for each in (turn, self._recorded))
        return min(number(each.get("speech_ended")) for each in (turn, self._recorded)) - began


class _Replay:
    """The source, echo guard and watcher of the listener that works on a recording."""

    def __init__(self, recording: Recording, ears: EarsSettings, recognizer: Recognizer, load: LoadDetector) -> None:
        self._recording = recording
        self._raw = recording.chunks(cleaned=False)
        self._cleaned = recording.chunks(cleaned=True) if ears.cancel_echo else self._raw
        self._delays = {
            (told["committed_at"], told["ended_at"]): told["told_chunk"] - told["asked_chunk"]
            for told in recording.hypotheses
        }
        self._is_same_recognizer = recognizer.name == recording.decided.get("recognizer")
        self._asked: dict[float, int] = {}
        """By when speech had ended, how many chunks had come when its words were asked for."""
        self._asks = self._held_since = 0
        """How often words were asked for, or a turn ended; and how often when those were that are held for ever."""
        self._count = recording.first
        """Chunks that have come."""
        self._probabilities: list[float] = []
        self._paced = _Paced(recognizer, self._due)
        self._outcome = _Outcome(recording, ears.language)
        self._listener = Listener(
            self,
            load(self._is_plain),
            Endpointer(ears.commit_silence),
            self._paced,
            self._outcome,
            Surroundings(echo=self),
        )
        self._listener.watch(self)
        self._listener.observe(self._outcome)
        self.name, self.is_live, self.dropped_chunks = f"the recording {recording.id}", True, 0

    async def run(self) -> Replayed:
        """Work on all of it."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listener.recognize(), name="replay: utterances to words")
                group.create_task(self._listener.listen(), name="replay: chunks to utterances")
        finally:
            self._paced.open()
        return Replayed(self._outcome.decided, tuple(self._probabilities))

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        """Yield the microphone's chunks, each when the words are handed over that were known by then."""
        await self._listener.ready.wait()
        first = self._recording.first
        if self._recording.state:
            self._listener.recall(self._recording.state, self._cleaned[:first])
        for chunk in self._raw[first:]:
            yield chunk
            for told in self._recording.suspicions:
                if told["is_peek"] and told["chunk"] == self._count:
                    self._listener.peek()
            await self._settle()
        self._paced.open()

    async def _settle(self) -> None:
        """Return when nothing is being recognized, or its words are not due yet."""
        while not self._listener.recognition.settled.is_set():
            if not self._paced.held.is_set():
                await first_of(self._listener.recognition.settled.wait(), self._paced.held.wait())
            elif self._paced.due <= self._count or (self._paced.due == NEVER and self._asks > self._held_since):
                self._paced.release()
            else:
                return

    def _due(self, utterance: Utterance, took: float) -> int:
        """Return how many chunks have to have come for the words of an utterance; 0 for none."""
        asked = self._asked.get(utterance.ended_at, self._count)
        if not self._is_same_recognizer:
            return asked + ceil(took / CHUNK_SECONDS)
        delay = self._delays.get((utterance.committed_at, utterance.ended_at))
        if delay is not None:
            return asked + delay
        if utterance.committed_at >= number(self._recording.decided.get("committed")):
            return 0
        self._held_since = self._asks  # nobody was told: they came when speech had gone on, or the turn was over
        return NEVER

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return the chunk as it was cleaned then."""
        return self._cleaned[self._count]

    def _is_plain(self) -> bool:
        """Whether nothing of nakari's voice was to be heard then, as far as what it played tells."""
        end = (self._count + 1) * CHUNK_SAMPLES
        return not np.any(self._recording.reference[max(0, end - PLAIN_CHUNKS * CHUNK_SAMPLES) : end])

    def passes(self, chunk: AudioChunk) -> bool:
        """Let none pass: what passed was recorded as cleaned."""
        return False

    def covers(self, chunk: AudioChunk) -> bool:
        """Whether it was covered then."""
        return bool(self._recording.covered[self._count])

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Return what was said of this stretch, else of the one that ended next to it."""
        self._asked[ended_at] = self._count
        self._asks += 1
        told = self._recording.suspicions
        apart = [abs(each["started_at"] - started_at) + abs(each["ended_at"] - ended_at) for each in told]
        if not told:
            return 0.0
        nearest = told[apart.index(min(apart))]
        if self._is_same_recognizer:
            self._listener.recognition.last_took = nearest["last_took"]
        return nearest["value"]

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Count a chunk, as a `ChunkWatcher`."""
        self._probabilities.append(probability)
        self._count += 1


USED: Final = ("cancel_echo", "commit_silence", "hotwords", "language", "model", "short_window", "threads")
"""Keys of `[ears]` that a replay goes by; the others are about devices, or about the moment."""

_NAME: Final = "--set"


def ears_with(recorded: Mapping[str, Json], changes: Iterable[Sequence[str]]) -> EarsSettings:
    """Return the recorded `[ears]` with changes, each a key and a value as they are typed.

    Raises `ConfigError` for a value that is wrong, `Problem` for a key that a replay does not go by.
    """
    known = {field.name for field in fields(EarsSettings)}
    lines = [f"{key} = {toml_value(value)}" for key, value in recorded.items() if key in known]
    text = "\n".join(["[ears]", *lines, ""])
    for key, value in changes:
        section, _, name = key.strip().rpartition(".")
        if section not in {"", "ears"} or name not in USED:
            used = ", ".join(f"ears.{each}" for each in USED)
            raise Problem(f"--set {key}: a replay goes by {used}", Exit.USAGE)
        text = with_value(text, _NAME, f"ears.{name}", value.strip())
    return SettingsText(_NAME, text).parse().ears
