"""The real listener over one sound after the other, faster than real time; each turn with why nobody got it."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from msgspec import Struct

from audio.interfaces import Recognizer, VoiceDetector
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import evidence_guard
from audio.turns.listener import TOO_SHORT, Listener
from audio.turns.vad import load_detector
from benchmarks.ears.material.mixing import Mixed
from benchmarks.ears.recognizers import Oracle, RecognizerName, recognizer_of
from tests.audio.cutting import Played

LEAST_SHARE = 0.5
"""Of a turn's span that the clip has to fill for the turn to be of the clip."""


class Heard(Struct, frozen=True):
    """What became of one sound."""

    turns: tuple[tuple[RecognizedTurn, str], ...]
    """Each with why nobody got it, "" when somebody did."""
    too_short: int = 0
    """What the endpointer dropped as no speech."""

    def of(self, sound: Mixed) -> tuple[tuple[RecognizedTurn, str], ...]:
        """Return the turns that are of the clip, and not of the noise beside it."""
        return tuple((heard, why) for heard, why in self.turns if _shared(heard, sound) >= LEAST_SHARE)


@dataclass
class Ears:
    """Detector, energy gate, endpointer, recognizer and evidence guard, as the box joins them; a `TurnIntake`."""

    name: RecognizerName
    model: Path | None = None
    """The folder of the Whisper model, for the recognizer "whisper"."""
    detector: VoiceDetector = field(default_factory=load_detector)
    recognizer: Recognizer = field(init=False)

    def __post_init__(self) -> None:
        self.recognizer = recognizer_of(self.name, self.model)

    async def admit(self, heard: RecognizedTurn) -> str:
        """Return what the evidence guard says."""
        return evidence_guard(heard)

    async def accept(self, heard: RecognizedTurn) -> None:
        """Have it."""

    def hear(self, sound: Mixed, text: str = "", *, is_noise: bool = False) -> Heard:
        """Return the turns of a sound. `text` is for a recognizer that knows the words."""
        if isinstance(self.recognizer, Oracle):
            self.recognizer.tell(text, *((0.0, 0.0) if is_noise else (sound.begins, sound.ends)))
        return asyncio.run(self._hear(sound))

    async def _hear(self, sound: Mixed) -> Heard:
        ended = _Ended()
        # A source that has given its last chunk may leave a turn open: the quiet behind ends it.
        played = Played(np.concatenate([sound.samples, np.zeros(16_000, np.int16)]))
        listener = Listener(played, self.detector, Endpointer(), self.recognizer, self)
        listener.observe(ended)
        async with asyncio.TaskGroup() as group:
            group.create_task(listener.listen(), name="ears: chunks to utterances")
            group.create_task(listener.recognize(), name="ears: utterances to transcripts")
        return Heard(tuple(ended.turns), ended.too_short)


class _Ended:
    """A `TurnObserver` that keeps the ends of turns."""

    def __init__(self) -> None:
        self.turns: list[tuple[RecognizedTurn, str]] = []
        self.too_short = 0

    def speech_started(self, started: SpeechStarted) -> None:
        """Nothing is over."""

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Nothing is over."""

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Keep it."""
        self.too_short += suppressed == TOO_SHORT
        if heard is not None:
            self.turns.append((heard, suppressed))


def _shared(heard: RecognizedTurn, sound: Mixed) -> float:
    """Return which share of a turn's span lies in the clip."""
    begins, ends = heard.utterance.started_at, heard.utterance.ended_at
    return (min(ends, sound.ends) - max(begins, sound.begins)) / max(1e-3, ends - begins)
