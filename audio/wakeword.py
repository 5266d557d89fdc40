"""The wake word, by pymicro-wakeword's bundled models; and who is addressing her, with one and without."""

from collections.abc import Callable, Collection
from time import monotonic
from typing import TYPE_CHECKING, Final

import structlog

from audio.errors import ModelNotFound
from audio.pcm import AudioChunk
from audio.reflexes.words import NAMES, calls, plain
from audio.speech import Heard

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray
    from pymicro_wakeword import MicroWakeWord

log = structlog.get_logger()

NOT_ADDRESSED: Final = "not addressed to her"
ONLY_WOKEN: Final = "only the wake word"

FOLLOW_UP_SECONDS: Final = 8.0
"""After a reply in which no wake word is needed."""

LATE_SECONDS: Final = 0.3
"""By how much the model may tell the wake word after the detector called the speech over."""

WORD_SECONDS: Final = 1.2
"""The longest wake word: what began that shortly before its end and ended with it was the word alone."""

ALONE_CHUNKS: Final = 10
"""0.32 s of silence after the word: whoever woke her waits for a sign, and a sign does not fall into a sentence."""

SPEECH_GOES_ON: Final = 0.35
"""Probability of speech above which somebody still speaks (upstream Silero's threshold for the end)."""

PAUSE_SECONDS: Final = 2.0
"""After a wake in which the same word is not taken again: one word is reported in several strides."""


def wake_words() -> tuple[str, ...]:
    """Return the names of the models that are installed. Raises `ModelNotFound` where the package is not."""
    try:
        from pymicro_wakeword import Model
    except ImportError as error:
        raise ModelNotFound("wake words need the package pymicro-wakeword; install nakari again") from error
    return tuple(model.value for model in Model)


class WakeWord:
    """A `ChunkWatcher` that tells when the wake word was said. Inline: 0.08 ms a chunk. Not told while covered."""

    def __init__(
        self, name: str, on_wake: Callable[[float], None], on_alone: Callable[[], None] = lambda: None
    ) -> None:
        """Load the model `name`; `on_alone` is told when a silence follows the word.

        Raises `ModelNotFound` for a name that is none, with those that are.
        """
        self.name = name
        self._on_wake = on_wake
        self._on_alone = on_alone
        self._silence_left = 0
        """Chunks of silence until the word stood alone; 0 when nobody waits for that."""
        self._last = float("-inf")
        self._is_covered = False
        self._model, self._features = _loaded(name)

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk; calls back with seconds on the source's clock as soon as the word is over."""
        if covered:
            self._is_covered = True
            return
        if self._is_covered:
            self._model.reset()
            self._is_covered = False
        self._follow(probability)
        for features in self._features(chunk.samples.tobytes()):
            if self._model.process_streaming(features) and chunk.ended_at - self._last > PAUSE_SECONDS:
                self._last = chunk.ended_at
                self._silence_left = ALONE_CHUNKS
                log.info("wake_word_heard", name=self.name)
                self._on_wake(chunk.ended_at)

    def _follow(self, probability: float) -> None:
        """Count the silence after the word, but for the word's own last sound."""
        if not self._silence_left:
            return
        if probability >= SPEECH_GOES_ON:
            self._silence_left = 0 if self._silence_left < ALONE_CHUNKS else ALONE_CHUNKS
            return
        self._silence_left -= 1
        if not self._silence_left:
            self._on_alone()


class Attention:
    """Knows whom words are for. With a wake word it is a guard; without one it only gives its evidence.

    All times are seconds on the source's clock, which for a microphone is `time.monotonic`.
    """

    def __init__(
        self,
        wake_word: str = "",
        names: Collection[str] = NAMES,
        follow_up: float = FOLLOW_UP_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`wake_word` is the model's name, "" for the mode without; `follow_up` is in seconds."""
        self._needs_wake = bool(wake_word)
        self._names = names
        self._called = (*names, wake_word.replace("_", " ")) if wake_word else names
        self._follow_up = follow_up
        self._clock = clock
        self._woken_at = float("-inf")
        self._replied_at = float("-inf")
        self._is_replying = False
        self.wakes = 0
        """Since the start."""

    def wake(self, at: float) -> None:
        """Take the end of a wake word, or of her name said alone."""
        self._woken_at = at
        self.wakes += 1

    def speaking(self, speaking: bool) -> None:
        """Take that she begins to answer, or has ended: the window for the next words opens then."""
        self._is_replying = speaking
        if not speaking:
            self._replied_at = self._clock()

    def guard(self, heard: Heard) -> str:
        """Return "" for words that are for her, else the reason; without a wake word all may be."""
        if not self._needs_wake:
            return ""
        if not plain(heard.transcript.text, self._called) or self._is_word_alone(heard):
            self._woken_at = max(self._woken_at, heard.utterance.ended_at)
            return ONLY_WOKEN
        return "" if any(self.evidence(heard).values()) else NOT_ADDRESSED

    def marks(self, heard: Heard) -> dict[str, str]:
        """Return the evidence that holds, as words of one attribute; nothing where none does."""
        marks = [name for name, holds in self.evidence(heard).items() if holds]
        return {"addressed": " ".join(marks) or "unknown"}

    def evidence(self, heard: Heard) -> dict[str, bool]:
        """Return what speaks for it: the wake word, her name, words that follow her reply."""
        began, ended = heard.utterance.started_at, heard.utterance.ended_at
        return {
            "woken": self._is_woken(began, ended),
            "named": calls(heard.transcript.text, self._names),
            "follow_up": self._follows(began),
        }

    def is_open(self, began: float, ended: float) -> bool:
        """Whether words of that time are taken for hers, whatever they are."""
        return not self._needs_wake or self._is_woken(began, ended) or self._follows(began)

    def _is_woken(self, began: float, ended: float) -> bool:
        return began - self._follow_up <= self._woken_at <= ended + LATE_SECONDS

    def _follows(self, began: float) -> bool:
        return self._is_replying or began <= self._replied_at + self._follow_up

    def _is_word_alone(self, heard: Heard) -> bool:
        """Whether the turn was the wake word and nothing else, whatever the recognizer made of it."""
        began, ended = heard.utterance.started_at, heard.utterance.ended_at
        return began <= self._woken_at <= began + WORD_SECONDS and ended <= self._woken_at + LATE_SECONDS


def _loaded(name: str) -> "tuple[MicroWakeWord, Callable[[bytes], Iterable[NDArray[np.float32]]]]":
    if name not in wake_words():
        raise ModelNotFound(f"there is no wake word {name!r}; there are {', '.join(wake_words())}")
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

    return MicroWakeWord.from_builtin(Model(name)), MicroWakeWordFeatures().process_streaming
