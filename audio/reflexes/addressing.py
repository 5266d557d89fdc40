"""Addressing: whether words are addressed to nakari; a guard with a wake word, evidence for the agent without."""

from collections.abc import Callable, Collection
from time import monotonic
from typing import Final

from audio.playback.speech_output import Speaks, SpeechObserver
from audio.reflexes.words import NAMES, calls, plain
from audio.speech import RecognizedTurn

NOT_ADDRESSED: Final = "not addressed to nakari"
"""Why nobody gets words that were said to somebody else."""

ONLY_WOKEN: Final = "only the wake word"
"""Why nobody gets a turn that held its name or the wake word and nothing else."""

FOLLOW_UP_SECONDS: Final = 8.0
"""Seconds after a reply, or after the wake word, in which words are addressed to nakari without another wake word."""

LATE_SECONDS: Final = 0.3
"""How long after the end of the speech the wake word's model may still report it."""

WORD_SECONDS: Final = 1.2
"""The longest wake word: a turn that began so shortly before the word's end, and ended with it, held nothing else."""


class Addressing(SpeechObserver):
    """Judges whether words are addressed to nakari: rejects others with a wake word, gives evidence without one.

    All times are seconds on the source's clock, which for a microphone is `time.monotonic`.
    """

    def __init__(
        self,
        speech: Speaks,
        wake_word: str = "",
        names: Collection[str] = NAMES,
        follow_up: float = FOLLOW_UP_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Follow `speech`; `wake_word` is the model's name, "" for the mode without; `follow_up` is in seconds."""
        self.wake_word = wake_word
        self._needs_wake = bool(wake_word)
        self._names = names
        self._called = (*names, wake_word.replace("_", " ")) if wake_word else names
        self._follow_up = follow_up
        self._clock = clock
        self._woken_at = float("-inf")
        self._replied_at = float("-inf")
        self._is_replying = False
        self._awaits_until = float("-inf")
        self.wakes = 0
        """Since the start."""
        speech.observe(self)

    def wake(self, at: float) -> None:
        """Take the end of a wake word, or of its name said alone."""
        self._woken_at = at
        self.wakes += 1

    def speaking_changed(self, speaking: bool) -> None:
        """Take that it begins to answer, or has ended: the window for the next words opens then."""
        self._is_replying = speaking
        if not speaking:
            self._replied_at = self._clock()

    def await_answer(self, until: float) -> None:
        """Take words that begin before this moment as addressed: it has asked something beside its replies."""
        self._awaits_until = until

    def is_called(self, heard: RecognizedTurn) -> bool:
        """Whether the turn itself holds its name or the wake word."""
        is_woken = heard.utterance.started_at <= self._woken_at <= heard.utterance.ended_at + LATE_SECONDS
        return is_woken or calls(heard.transcript.text, self._called)

    def guard(self, heard: RecognizedTurn) -> str:
        """Return "" for words that are for it, else the reason; without a wake word all may be."""
        if not self._needs_wake:
            return ""
        if not plain(heard.transcript.text, self._called) or self._is_word_alone(heard):
            self._woken_at = max(self._woken_at, heard.utterance.ended_at)
            return ONLY_WOKEN
        return "" if any(self.evidence(heard).values()) else NOT_ADDRESSED

    def marks(self, heard: RecognizedTurn) -> dict[str, str]:
        """Return the evidence that holds, as words of one attribute; nothing where none does."""
        marks = [name for name, holds in self.evidence(heard).items() if holds]
        return {"addressed": " ".join(marks) or "unknown"}

    def evidence(self, heard: RecognizedTurn) -> dict[str, bool]:
        """Return what speaks for it: the wake word, its name, words that follow its reply."""
        began, ended = heard.utterance.span
        return {
            "woken": self._is_woken(began, ended),
            "named": calls(heard.transcript.text, self._names),
            "follow_up": self._follows(began),
        }

    def is_open(self, began: float, ended: float) -> bool:
        """Whether words of that time count as addressed to nakari, whatever they are."""
        return not self._needs_wake or self._is_woken(began, ended) or self._follows(began)

    def _is_woken(self, began: float, ended: float) -> bool:
        return began - self._follow_up <= self._woken_at <= ended + LATE_SECONDS

    def _follows(self, began: float) -> bool:
        return self._is_replying or began <= max(self._replied_at + self._follow_up, self._awaits_until)

    def _is_word_alone(self, heard: RecognizedTurn) -> bool:
        """Whether the turn was the wake word and nothing else, whatever the recognizer made of it."""
        began, ended = heard.utterance.span
        return began <= self._woken_at <= began + WORD_SECONDS and ended <= self._woken_at + LATE_SECONDS
