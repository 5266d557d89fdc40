"""Whisper on CTranslate2: loaded once, int8, in the caller's worker thread."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from audio.errors import ModelDamaged, ModelNotFound, RecognitionFailed
from audio.pcm import SAMPLE_RATE, to_float
from audio.recognizer.hotwords import Hotwords, fitting, no_hotwords
from audio.recognizer.models import check_model_folder
from audio.recognizer.window import WHOLE, Window, short_window
from audio.speech import Transcript, Utterance
from audio.turns.evidence import Evidence, judge, letters_of, thresholds_for

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment

TEMPERATURES: Final = (0.0, 0.4)
"""Two decodes at most; the library's six can take seconds on a noise."""

TOKENS_PER_SECOND: Final = 12
"""More than anybody says, in Chinese too; caps what a hallucination can grow to."""

LEAST_TOKENS: Final = 24

MOST_TOKENS: Final = 224
"""Half of Whisper's text context, as upstream leaves for one window."""

SURE_OF_LANGUAGE: Final = 0.5
"""A language found with this probability is not looked for again when the window changes (upstream's bound)."""


@dataclass(frozen=True, slots=True)
class WhisperOptions:
    """How it listens."""

    short_window: bool = False
    """Encode the utterance and a margin instead of 30 s: far faster, but not what the model was trained on."""
    hotwords: Hotwords = no_hotwords
    """Names and words to be expected."""


class FasterWhisperRecognizer:
    """A `Recognizer` over one model folder. Raises `ModelNotFound` at once for a folder that is no model.

    With the short window an utterance is decoded once; where that gives no words, or words that their own evidence
    speaks against, again in the whole window with the two temperatures.
    """

    sends_to = ()

    def __init__(
        self, folder: Path, language: str = "", threads: int = 0, options: WhisperOptions | None = None
    ) -> None:
        check_model_folder(folder)
        self.name = f"faster-whisper:{folder.name}"
        self._folder = folder
        self._language = language or None
        """None detects it, once for each utterance."""
        self._threads = threads
        self._options = options or WhisperOptions()
        self._loaded: _Loaded | None = None

    def warm(self) -> None:
        """Load the model and decode a second of silence. Raises `ModelDamaged`, `ModelNotFound` (another language)."""
        silence = Utterance(np.zeros(SAMPLE_RATE, np.int16), 0.0, 1.0, 1.0, 1.0)
        self._transcribe(silence, WHOLE, self._language)

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words with Whisper's own evidence, and `window_frames`. Raises `RecognitionFailed`."""
        return self.transcribe_in(utterance, is_short=self._options.short_window)

    def transcribe_in(self, utterance: Utterance, *, is_short: bool) -> Transcript:
        """Return the words as the one or the other window gives them, whatever the options say."""
        frames = short_window(len(utterance.samples)) if is_short else WHOLE
        heard = self._transcribe(utterance, frames, self._language)
        if frames == WHOLE or not _is_to_be_retried(heard, utterance):
            return heard
        is_sure = heard.evidence["language_probability"] >= SURE_OF_LANGUAGE
        again = self._transcribe(utterance, WHOLE, heard.language if is_sure else self._language)
        return replace(again, evidence={**again.evidence, "retried": 1.0})

    def _transcribe(self, utterance: Utterance, frames: int, language: str | None) -> Transcript:
        loaded = self._load()
        loaded.window.cut_to(frames)
        try:
            segments, information = loaded.model.transcribe(
                to_float(utterance.samples),
                language=language,
                beam_size=1,
                temperature=list(TEMPERATURES if frames == WHOLE else TEMPERATURES[:1]),
                condition_on_previous_text=False,
                without_timestamps=True,
                max_new_tokens=min(MOST_TOKENS, LEAST_TOKENS + round(utterance.seconds * TOKENS_PER_SECOND)),
                hotwords=loaded.hotwords(self._options.hotwords) or None,
            )
            heard = list(segments)
        except (RuntimeError, ValueError, OSError) as error:
            raise RecognitionFailed(f"{self.name} failed on an utterance: {error}") from error
        text = "".join(segment.text for segment in heard).strip()
        about = {"language_probability": float(information.language_probability), "window_frames": float(frames)}
        return Transcript(text, information.language, self.name, evidence=_evidence(heard) | about)

    def _load(self) -> "_Loaded":
        if self._loaded is None:
            self._loaded = _Loaded(_load(self._folder, self._threads, self._language))
        return self._loaded


class _Loaded:
    """The model with our window before its encoder."""

    def __init__(self, model: "WhisperModel") -> None:
        self.model = model
        self.window = model.encode = Window(model.encode)
        self._words: tuple[str, ...] = ()
        self._prompt = ""
        """What fits of the words: counted again only when they change."""

    def hotwords(self, tell: Hotwords) -> str:
        words = tuple(tell())
        if words != self._words:
            self._words, self._prompt = words, fitting(words, self._tokens_of)
        return self._prompt

    def _tokens_of(self, text: str) -> int:
        return len(self.model.hf_tokenizer.encode(text, add_special_tokens=False).ids)


def _load(folder: Path, threads: int, language: str | None) -> "WhisperModel":
    from faster_whisper import WhisperModel

    try:
        model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True)
    except (
        Exception
    ) as error:  # of a damaged tokenizer.json `tokenizers` says so by an Exception of no class of its own
        raise ModelDamaged(
            f"the Whisper model in {folder} is damaged ({error}); remove it and fetch it again"
        ) from error
    if language is not None and language not in model.supported_languages:
        raise ModelNotFound(f"the Whisper model in {folder} does not know the language {language!r}; take another one")
    return model


def _is_to_be_retried(heard: Transcript, utterance: Utterance) -> bool:
    """Say whether what the short window gave is nothing, or has anything in its own figures against it."""
    if not heard.text:
        return True
    figures = Evidence(
        speech_seconds=utterance.speech_seconds,
        letters=letters_of(heard.text),
        avg_logprob=heard.evidence.get("avg_logprob"),
        no_speech_prob=heard.evidence.get("no_speech_prob"),
        compression_ratio=heard.evidence.get("compression_ratio"),
    )
    return any(doubt.weight >= 0.5 for doubt in judge(figures, thresholds_for(heard.recognizer)).doubts)


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
