"""Wake word detection with the models of pymicro-wakeword."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import structlog

from audio.errors import ModelNotFound
from audio.pcm import AudioChunk
from audio.turns.endpointer import SPEECH_GOES_ON

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray
    from pymicro_wakeword import MicroWakeWord

log = structlog.get_logger()

ALONE_CHUNKS: Final = 10
"""0.32 s of silence after the word: whoever woke its waits for a sign, and a sign does not fall into a sentence."""

PAUSE_SECONDS: Final = 2.0
"""After a wake in which the word is not taken again: the model reports one word in several strides."""


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
        """Chunks of silence still to come before the word counts as said alone; 0 when nobody waits for that."""
        self._woken_at = float("-inf")
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
            if self._model.process_streaming(features) and chunk.ended_at - self._woken_at > PAUSE_SECONDS:
                self._woken_at = chunk.ended_at
                self._silence_left = ALONE_CHUNKS
                log.info("wake_word_heard", name=self.name)
                self._on_wake(chunk.ended_at)

    def _follow(self, probability: float) -> None:
        """Count the silence after the word, and call back when it is long enough; speech after it ends the count."""
        if not self._silence_left:
            return
        if probability < SPEECH_GOES_ON:
            self._silence_left -= 1
            if not self._silence_left:
                self._on_alone()
        elif self._silence_left < ALONE_CHUNKS:  # speech before any silence is the word's own last sound
            self._silence_left = 0


def _loaded(name: str) -> "tuple[MicroWakeWord, Callable[[bytes], Iterable[NDArray[np.float32]]]]":
    if name not in wake_words():
        raise ModelNotFound(f"there is no wake word {name!r}; there are {', '.join(wake_words())}")
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

    return MicroWakeWord.from_builtin(Model(name)), MicroWakeWordFeatures().process_streaming
