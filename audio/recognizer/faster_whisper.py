"""Whisper on CTranslate2: loaded once, int8, in the caller's worker thread."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.errors import ModelNotFound, RecognitionFailed
from audio.pcm import SAMPLE_RATE, to_float
from audio.recognizer.models import check_model_folder
from audio.speech import Transcript, Utterance

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment

StorageView: TypeAlias = object
"""CTranslate2's handle on what the encoder made."""

Encode: TypeAlias = Callable[[NDArray[np.float32]], StorageView]

TEMPERATURES: Final = (0.0, 0.4)
"""Two decodes at most; the library's six can take seconds on a noise."""

TOKENS_PER_SECOND: Final = 12
"""More than anybody says, in Chinese too; caps what a hallucination can grow to."""

LEAST_TOKENS: Final = 24

MOST_TOKENS: Final = 224
"""Half of Whisper's text context, as upstream leaves for one window."""


class FasterWhisperRecognizer:
    """A `Recognizer` over one model folder. Raises `ModelNotFound` at once for a folder that is no model."""

    def __init__(self, folder: Path, language: str = "", threads: int = 0) -> None:
        check_model_folder(folder)
        self.name = f"faster-whisper:{folder.name}"
        self._folder = folder
        self._language = language or None
        """None detects it, once for each utterance."""
        self._threads = threads
        self._model: WhisperModel | None = None

    def warm(self) -> None:
        """Load the model and decode a second of silence. Raises `ModelNotFound`: damaged, or of another language."""
        silence = Utterance(np.zeros(SAMPLE_RATE, np.int16), 0.0, 1.0, 1.0, 1.0)
        self.transcribe(silence)

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words with Whisper's own evidence. Raises `RecognitionFailed`."""
        try:
            segments, information = self._loaded().transcribe(
                to_float(utterance.samples),
                language=self._language,
                beam_size=1,
                temperature=list(TEMPERATURES),
                condition_on_previous_text=False,
                without_timestamps=True,
                max_new_tokens=min(MOST_TOKENS, LEAST_TOKENS + round(utterance.seconds * TOKENS_PER_SECOND)),
            )
            heard = list(segments)
        except (RuntimeError, ValueError, OSError) as error:
            raise RecognitionFailed(f"{self.name} failed on an utterance: {error}") from error
        text = "".join(segment.text for segment in heard).strip()
        evidence = _evidence(heard) | {"language_probability": float(information.language_probability)}
        return Transcript(text, information.language, self.name, evidence=evidence)

    def _loaded(self) -> "WhisperModel":
        if self._model is None:
            self._model = _load(self._folder, self._threads, self._language)
        return self._model


def _load(folder: Path, threads: int, language: str | None) -> "WhisperModel":
    from faster_whisper import WhisperModel

    try:
        model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True)
    except (RuntimeError, ValueError, OSError) as error:
        raise ModelNotFound(f"the Whisper model in {folder} is damaged ({error}); fetch it again") from error
    if language is not None and language not in model.supported_languages:
        raise ModelNotFound(f"the Whisper model in {folder} does not know the language {language!r}; take another one")
    model.encode = encoded_once(model.encode)
    return model


def encoded_once(encode: Encode) -> Encode:
    """Return `encode` that keeps its last answer, and gives it for the same features again.

    Upstream encodes once to detect the language and once to decode, and that is most of the cost of an utterance.
    """
    last: list[tuple[NDArray[np.float32], StorageView]] = []

    def encode_once(features: NDArray[np.float32]) -> StorageView:
        if not last or not np.array_equal(last[0][0], features):
            last[:] = [(features.copy(), encode(features))]
        return last[0][1]

    return encode_once


def _evidence(segments: Iterable["Segment"]) -> dict[str, float]:
    """Return the worst of each figure over the segments; empty when there are none."""
    found = list(segments)
    if not found:
        return {}
    return {
        "avg_logprob": min(segment.avg_logprob for segment in found),
        "no_speech_prob": max(segment.no_speech_prob for segment in found),
        "compression_ratio": max(segment.compression_ratio for segment in found),
    }
