"""Whisper on CTranslate2 (faster-whisper): loaded once, int8, in the caller's worker thread; short window, hotwords."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from audio.errors import ModelDamaged, ModelNotFound, RecognitionFailed
from audio.pcm import SAMPLE_RATE, Samples, to_float
from audio.recognizer.models.catalog import check_model_folder
from audio.speech import Transcript, Utterance
from audio.turns.evidence import FIRST_SYLLABIC, is_to_be_heard_again

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment

MOST_HOTWORD_TOKENS: Final = 64
"""Of Whisper's 448: prompt and answer share them, and each costs time in every decode (upstream's cap is 223)."""

Hotwords: TypeAlias = Callable[[str], Sequence[str]]
"""Tells the words of this moment in a language (ISO 639-1, "" for unknown), the most important first. Called in the
recognizer's thread; returns at once."""


def no_hotwords(language: str) -> Sequence[str]:
    """Expect no word more than others."""
    return ()


def listed(text: str) -> list[str]:
    """Return the words of a setting that separates them by commas."""
    return [word for each in text.split(",") if (word := each.strip())]


def expecting(text: str, names: Hotwords) -> Hotwords:
    """Return what tells the words of a setting, and behind them these names."""
    configured = listed(text)
    return lambda language: [*configured, *names(language)]


def fitting(words: Iterable[str], tokens_of: Callable[[str], int], most: int = MOST_HOTWORD_TOKENS) -> str:
    """Return the words with commas between them, each once, up to the first that no longer fits; "" for none.

    `tokens_of` counts the tokens of a text as the model's prompt holds it.
    """
    fit = ""
    for word in dict.fromkeys(words):
        longer = f"{fit}, {word}" if fit else word
        if tokens_of(f" {longer}") > most:
            break
        fit = longer
    return fit


_WORD: Final = re.compile(rf"(?=\w)[{FIRST_SYLLABIC}-\U0003ffff]|[^\W{FIRST_SYLLABIC}-\U0003ffff]+")
"""A word, and in scripts without spaces a character."""


def has_helped(text: str, prompt: str) -> bool:
    """Say whether the prompt did what it is for: a name of it is in the text, none twice, and other words as well.

    Without a name a prompt only changes the other words, and rather for the worse. Where there is little to hear,
    Whisper continues the prompt instead: with some of its names and hardly a word beside them, or one again and again.
    """
    heard, found = _found(text, prompt)
    is_repeated = any(found.count(name) > 1 for name in found)
    return len(found) == 1 or (not is_repeated and 0 < sum(map(len, found)) <= len(heard) / 2)


def reads_out(text: str, prompt: str) -> bool:
    """Say whether names of the prompt are in the text, and nobody said them: it is continued instead."""
    return bool(_found(text, prompt)[1]) and not has_helped(text, prompt)


def _found(text: str, prompt: str) -> tuple[list[str], list[list[str]]]:
    """Return the words of the text, and as words the names of the prompt in it, each as often as it is there."""
    heard = _WORD.findall(text.lower())
    names = [_WORD.findall(name) for name in prompt.lower().split(", ")]
    return heard, [name for name in names for at in range(len(heard)) if name and heard[at : at + len(name)] == name]


Features: TypeAlias = NDArray[np.float32]
"""The log-mel spectrogram, shape (bands, frames) or (1, bands, frames)."""

StorageView: TypeAlias = object
"""CTranslate2's handle on what the encoder made."""

Encode: TypeAlias = Callable[[Features], StorageView]

FRAME_SAMPLES: Final = 160
"""A frame is 10 ms (upstream `hop_length`)."""

WHOLE: Final = 3000
"""Frames that Whisper was trained on, and upstream always pads to."""

MARGIN: Final = 100
"""Frames of silence behind the utterance: cut closer, models repeat themselves and invent."""


VERIFIED: Final = 500
"""Frames of the window in which one word is verified: of 90 people's "stop" under its voice 71 were found so at one
false one in 240 clips of others, with a margin of 100 frames 64 (docs/decisions/0147)."""

LEAST_PROBABILITY: Final = 1e-9
"""Less than that is told of no word."""


def short_window(samples: int) -> int:
    """Return the frames for an utterance of so many samples at 16 kHz, even and at most `WHOLE`."""
    frames = -(-samples // FRAME_SAMPLES) + MARGIN
    return min(WHOLE, frames + frames % 2)


class Window:
    """Wraps the encoder, which the library always gives the whole window: cuts its input, and keeps its last answer.

    Upstream encodes once to detect the language and once to decode, and that is most of the cost of an utterance.
    """

    def __init__(self, encode: Encode) -> None:
        self.encoder = encode
        self.cut_to(WHOLE)

    def cut_to(self, frames: int) -> None:
        """Encode so many frames from now on; what was encoded before is forgotten."""
        self._frames = frames
        self._last: tuple[Features, StorageView] | None = None

    def __call__(self, features: Features) -> StorageView:
        """Return what the encoder makes of the first frames; for the same ones again what it made of them."""
        cut = features[..., : self._frames]
        if self._last is None or not np.array_equal(self._last[0], cut):
            kept = np.array(cut, order="C")  # a copy: the library may write into its own
            self._last = kept, self.encoder(kept)
        return self._last[1]


TEMPERATURES: Final = (0.0, 0.4)
"""Two decodes at most; the library's six can take seconds on a noise."""

TOKENS_PER_SECOND: Final = 12
"""More than anybody says, in Chinese too; caps what a hallucination can grow to."""

LEAST_TOKENS: Final = 24

MOST_TOKENS: Final = 224
"""Half of Whisper's text context, as upstream leaves for one window."""

SURE_OF_LANGUAGE: Final = 0.5
"""A language found with this probability is not looked for again when the window changes (upstream's bound)."""


class WhisperOptions(Struct, frozen=True):
    """How it recognizes."""

    short_window: bool = False
    """Encode the utterance and a margin instead of 30 s: far faster, but not what the model was trained on."""
    hotwords: Hotwords = no_hotwords
    """Names and words to be expected."""


class FasterWhisperRecognizer:
    """A `Recognizer` over one model folder. Raises `ModelNotFound` at once for a folder that is no model.

    With the short window an utterance is decoded once; where that gives no words, or words that their own evidence
    speaks against, again in the whole window with the two temperatures. With hotwords it is decoded twice from what the
    encoder made, and what they lead to is taken only where one of them is heard, and surer: they do no harm.
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
        self._heard_language = ""
        """What the last words were in, where that was sure: whose names are to be expected next."""
        self._loaded: _Loaded | None = None

    def warm(self) -> None:
        """Load the model and decode a second of silence. Raises `ModelDamaged`, `ModelNotFound` (another language).

        In a window of its length, whatever window it hears in: the whole one costs ten times that here, and the first
        utterance after it comes no sooner.
        """
        silence = Utterance(np.zeros(SAMPLE_RATE, np.int16), 0.0, 1.0, 1.0, 1.0)
        self._transcribe(silence, short_window(len(silence.samples)), self._language)
        self._load().window.cut_to(WHOLE)  # forgets what the encoder made of it: megabytes

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

    def log_probability(self, words: str, samples: Samples) -> float | None:
        """Return how likely English words are the first of a sound; None before `warm`. Raises `RecognitionFailed`."""
        return None if self._loaded is None else self._loaded.log_probability(words, samples)

    def _transcribe(self, utterance: Utterance, frames: int, language: str | None) -> Transcript:
        loaded = self._load()
        loaded.window.cut_to(frames)
        prompt = loaded.hotwords(self._options.hotwords(language or self._heard_language))
        heard = self._decode(utterance, frames, language, "")
        if prompt:
            named = self._decode(utterance, frames, language, prompt)
            if has_helped(named.text, prompt) and _is_surer(named, heard) and not _is_to_be_retried(named, utterance):
                heard = named
        if heard.evidence["language_probability"] >= SURE_OF_LANGUAGE:
            self._heard_language = heard.language
        return heard

    def _decode(self, utterance: Utterance, frames: int, language: str | None, prompt: str) -> Transcript:
        loaded = self._load()
        try:
            segments, information = loaded.model.transcribe(
                to_float(utterance.samples),
                language=language,
                beam_size=1,
                temperature=list(TEMPERATURES if frames == WHOLE and not prompt else TEMPERATURES[:1]),
                condition_on_previous_text=False,
                without_timestamps=True,
                max_new_tokens=min(MOST_TOKENS, LEAST_TOKENS + round(utterance.seconds * TOKENS_PER_SECOND)),
                hotwords=prompt or None,
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

    def hotwords(self, told: Sequence[str]) -> str:
        words = tuple(told)
        if words != self._words:
            self._words, self._prompt = words, fitting(words, self._tokens_of)
        return self._prompt

    def log_probability(self, words: str, samples: Samples) -> float:
        from faster_whisper.audio import pad_or_trim
        from faster_whisper.tokenizer import Tokenizer

        network = self.model.model
        tokenizer = Tokenizer(self.model.hf_tokenizer, network.is_multilingual, task="transcribe", language="en")
        self.window.cut_to(VERIFIED)
        try:
            encoded = self.window(pad_or_trim(self.model.feature_extractor(to_float(samples))))
            tokens = tokenizer.encode(f" {words.capitalize()}")
            told = network.align(encoded, tokenizer.sot_sequence, [tokens], VERIFIED)[0].text_token_probs
        except (RuntimeError, ValueError) as error:
            raise RecognitionFailed(f"Whisper failed on a word: {error}") from error
        return sum(math.log(max(each, LEAST_PROBABILITY)) for each in told)

    def _tokens_of(self, text: str) -> int:
        return len(self.model.hf_tokenizer.encode(text, add_special_tokens=False).ids)


def is_installed() -> bool:
    """Say whether Whisper can run on this machine: it is an extra. Imports nothing."""
    return find_spec("faster_whisper") is not None


def _load(folder: Path, threads: int, language: str | None) -> "WhisperModel":
    from faster_whisper import WhisperModel

    try:
        model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True)
    except Exception as error:  # of a damaged tokenizer.json `tokenizers` says so by one of no class of its own
        raise ModelDamaged(
            f"the Whisper model in {folder} is damaged ({error}); remove it and fetch it again"
        ) from error
    if language is not None and language not in model.supported_languages:
        raise ModelNotFound(f"the Whisper model in {folder} does not know the language {language!r}; take another one")
    return model


def _is_to_be_retried(heard: Transcript, utterance: Utterance) -> bool:
    """Say whether what the short window gave is nothing, or has anything in its own figures against it."""
    return not heard.text or is_to_be_heard_again(heard, utterance)


def _is_surer(named: Transcript, heard: Transcript) -> bool:
    """Say whether Whisper is at least as sure of the words with a name as of those without: "Maya" is "May I", too."""
    worst = float("-inf")
    return named.evidence.get("avg_logprob", worst) >= heard.evidence.get("avg_logprob", worst)


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
