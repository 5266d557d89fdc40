"""The recognizers that a measurement runs with: those of the box, one that knows the words, and any Whisper model."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np

from agent.intents.language.grammar import command_grammar
from audio.interfaces import Recognizer
from audio.recognizer.faster_whisper import FasterWhisperRecognizer, WhisperOptions
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import Transcript, Utterance
from tests.audio.spoken import HOUSEHOLD_WHISPER

RecognizerName: TypeAlias = Literal["oracle", "simulated", "pocketsphinx", "household", "whisper"]

ABOUT: Final[dict[RecognizerName, str]] = {
    "oracle": "a recognizer that knows the words and is sure of them, and hears nothing in noise",
    "simulated": "a recognizer that knows the words, and invents some for noise, with figures drawn like Whisper's",
    "pocketsphinx": "pocketsphinx with the commands of the box",
    "household": "the tests' small Whisper, which makes one of its sentences of any sound",
    "whisper": "the Whisper model of --model in any language, in the short window as where the box found it as good",
}

LETTERS_A_SECOND: Final = 13.0
"""Of speech whose words nobody knows."""

INVENTED: Final = ("Thank you.", "you", "Bye.", "Thanks for watching!", "Okay.", "I'm going to go to the next room.")
"""The kind of words that Whisper makes of noise."""


class KnowsClip(Protocol):
    """A recognizer that is told what it is going to hear."""

    def tell(self, text: str, begins: float, ends: float) -> None:
        """Take the words ("" for unknown ones) said between two moments (s) of the next sound; equal ones: none."""


@dataclass
class Oracle:
    """Hears what is said, whatever sounds beside it, with the figures of a sure Whisper (`is_sure`) or drawn ones.

    Nobody has Whisper's figures on these sounds: drawn ones are normal around what upstream's thresholds part, worse
    for noise than for speech by about their spread, so that neither figure alone tells the two apart.
    """

    is_sure: bool = True
    name: str = "oracle"
    sends_to = ()
    _said: tuple[str, float, float] = ("", 0.0, 0.0)
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def warm(self) -> None:
        """Be ready."""

    def tell(self, text: str, begins: float, ends: float) -> None:
        """Take what is said next, and draw the same figures for it each time."""
        self._said = (text, begins, ends)
        self._random = np.random.default_rng([len(text), round(ends * 1000)])

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words said in the utterance; of noise none, or where it is not sure some of `INVENTED`."""
        text, begins, ends = self._said
        shared = min(utterance.ended_at, ends) - max(utterance.started_at, begins)
        is_speech = shared > 0.5 * (utterance.ended_at - utterance.started_at)
        if is_speech:
            share = min(1.0, shared / max(1e-3, ends - begins))
            said = _part_of(text, share) or "x" * max(2, round(LETTERS_A_SECOND * utterance.speech_seconds))
        else:
            said = "" if self.is_sure else INVENTED[self._random.integers(len(INVENTED))]
        return Transcript(said, "en" if said else "", self.name, evidence=self._figures(is_speech=is_speech))

    def _figures(self, *, is_speech: bool) -> dict[str, float]:
        if self.is_sure:
            return {"avg_logprob": -0.3, "no_speech_prob": 0.02, "compression_ratio": 0.9}
        logprob, spread, silence = (-0.4, 0.2, -3.0) if is_speech else (-0.8, 0.3, 0.3)
        return {
            "avg_logprob": min(-0.02, float(self._random.normal(logprob, spread))),
            "no_speech_prob": float(1 / (1 + np.exp(-self._random.normal(silence, 1.5)))),
            "compression_ratio": float(self._random.normal(0.9, 0.15)),
        }


def recognizer_of(name: RecognizerName, model: Path | None = None) -> Recognizer:
    """Return one by its name; loaded when it is warmed. Raises `ModelNotFound` for a folder without a model."""
    if name == "whisper" and model is not None:
        return FasterWhisperRecognizer(model, threads=1, options=WhisperOptions(short_window=True))
    if name == "pocketsphinx":
        return PocketsphinxRecognizer(command_grammar("en"))
    if name == "household":
        return FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", threads=1)
    return Oracle(name == "oracle", name)


def _part_of(text: str, share: float) -> str:
    """Return about so much of a text, whole words, one at least."""
    words = text.split()
    return " ".join(words[: max(1, round(len(words) * share))]) if words else ""
