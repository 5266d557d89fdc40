"""The data of speech: speech started, utterance, words so far, transcript with its evidence, recognized turn, sound."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples

Confidence = Literal["normal", "low"]
"""`low` is what the last-resort recognizer's free speech gets: the mind should ask back before anything with effect."""


class SpeechStarted(Struct, frozen=True):
    """The first chunk judged to be speech; published before it is known whether it becomes an utterance."""

    at: float
    """Seconds on the source's clock."""
    peek: Callable[[], None]
    """Has the words so far of whatever turn is open recognized and told; at once, nothing while none is."""


class Utterance(Struct, frozen=True):
    """The sound between two silences, pre-roll included."""

    samples: Samples
    """int16, shape (n,), 16 kHz; begins with the pre-roll and ends with the soft-end silence."""
    started_at: float
    """Seconds on the source's clock at which speech began (after the pre-roll)."""
    ended_at: float
    """Seconds on the source's clock at which speech ended (before the closing silence)."""
    committed_at: float
    """Seconds on the source's clock at which the turn was committed."""
    speech_seconds: float
    """How much of it the voice detector called speech."""
    level_dbfs: float = 0.0
    """RMS level of the speech part, dB relative to full scale."""
    noise_dbfs: float = -120.0
    """RMS level of the background around it, dB relative to full scale: what is left between words."""
    echo_suspicion: float = 0.0
    """In [0, 1]: how likely it is the residual echo of nakari's voice (`EchoGuard.suspicion`)."""
    probability: float | None = None
    """Mean of the voice detector's probability over its speech, in [0, 1]; None when nobody measured it."""

    @property
    def seconds(self) -> float:
        """Length of the samples, pre-roll included."""
        return len(self.samples) / SAMPLE_RATE

    @property
    def span(self) -> tuple[float, float]:
        """When its speech began and ended: `started_at` and `ended_at`."""
        return self.started_at, self.ended_at


class Voice(Struct, frozen=True, eq=False):
    """How somebody sounds in one utterance; it is kept in memory only, unless they want to be known by it."""

    vector: NDArray[np.float32]
    """Shape (256,), of length 1 (`audio.speakers.encoder`)."""
    seconds: float
    """How much speech it was made of."""
    snr_db: float
    """How far the speech stood out of the background."""
    is_one: bool = True
    """Whether one person speaks in it, as far as its parts tell."""


class Transcript(Struct, frozen=True):
    """What a recognizer made of an utterance, with its evidence."""

    text: str
    """Stripped; empty when nothing was understood."""
    language: str
    """ISO 639-1, or "" when unknown."""
    recognizer: str
    """Name of who heard it, e.g. `faster-whisper:base` or `pocketsphinx`."""
    confidence: Confidence = "normal"
    evidence: Mapping[str, float] = {}
    """What speaks for or against it: avg_logprob, no_speech_prob, compression_ratio, language_probability …"""
    voice: Voice | None = None
    """Of whoever said it; None where nobody listened for it, or too little was said."""


class PartialWords(Struct, frozen=True):
    """What a turn that is under way has come to, by a recognizer that follows it; more will come, or other words."""

    text: str
    """Stripped; empty while nothing was understood."""
    language: str
    """ISO 639-1, or "" when unknown."""


class RecognizedTurn(Struct, frozen=True):
    """One committed turn: the utterance and its words."""

    utterance: Utterance
    transcript: Transcript
    recognized_at: float
    """Seconds on the clock of `time.monotonic` at which the text was there."""


class WordTiming(Struct, frozen=True):
    """The position of a word in a synthesized sentence; tells later which words were heard."""

    text: str
    start: float
    """Seconds from the first sample of its sentence."""
    end: float
    """Seconds from the first sample of its sentence."""


class SpeechAudio(Struct, frozen=True):
    """A piece of a synthesized sentence, in order."""

    samples: Samples
    """int16, shape (n,), mono."""
    sample_rate: int
    """Hz; the same for every piece of one sentence."""
    words: tuple[WordTiming, ...] = ()
    """Timings that became known with this piece, if the voice reports them."""
