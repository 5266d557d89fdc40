"""Whisper on CTranslate2: loaded once, int8, in the caller's worker thread."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from audio.errors import RecognitionFailed
from audio.pcm import SAMPLE_RATE, to_float
from audio.recognizer.models import check_model_folder
from audio.speech import Transcript, Utterance

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment

TEMPERATURES: Final = (0.0, 0.4)
"""Two decodes at most; the library's six can take seconds on a noise."""

TOKENS_PER_SECOND: Final = 8
"""More than anybody says; caps what a hallucination can grow to."""

LEAST_TOKENS: Final = 24


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
        """Load the model and decode a second of silence. Raises `RecognitionFailed` for a damaged file."""
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
                max_new_tokens=LEAST_TOKENS + round(utterance.seconds * TOKENS_PER_SECOND),
            )
            heard = list(segments)
        except (RuntimeError, ValueError, OSError) as error:
            raise RecognitionFailed(f"{self.name} failed on an utterance: {error}") from error
        text = " ".join(segment.text.strip() for segment in heard).strip()
        evidence = _evidence(heard) | {"language_probability": float(information.language_probability)}
        return Transcript(text, information.language, self.name, evidence=evidence)

    def _loaded(self) -> "WhisperModel":
        if self._model is None:
            from faster_whisper import WhisperModel

            self._model = WhisperModel(
                str(self._folder), device="cpu", compute_type="int8", cpu_threads=self._threads, local_files_only=True
            )
        return self._model


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
