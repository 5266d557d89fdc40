"""Keyword spotting by pocketsphinx: where phrases are in a sound, and how likely against any string of phones."""

import math
import tempfile
from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from audio.errors import RecognitionFailed
from audio.recognizer.sphinx_search import FRAMES_A_SECOND, decoder_with, loading, utterance

if TYPE_CHECKING:
    from pocketsphinx import Decoder

    from audio.pcm import Samples

LAXEST: Final = -40
"""Exponent at which the decoder itself gives up; callers apply their own thresholds to what it reports."""

_LOG_BASE: Final = math.log(1.0001)
_KEYWORD_OFFSET: Final = 1500
_SCORE_SHIFT: Final = 1024
"""The decoder's logarithm, and what its keyword search takes off each score (upstream `KWS_MAX`, `SENSCR_SHIFT`)."""


class Keyword(Struct, frozen=True):
    """A phrase that was found."""

    words: str
    start: float
    """Seconds from the first sample."""
    end: float
    """Seconds from the first sample."""
    exponent: float
    """Decimal exponent of how much likelier it was than any string of phones."""


class KeywordFinder(Protocol):
    """Whatever finds phrases in a sound. One thread at a time."""

    def warm(self) -> None:
        """Load what is needed. Blocking. Raises `RecognitionFailed` where it is not installed, or broken."""

    def find(self, samples: "Samples") -> list[Keyword]:
        """Return the phrases in a sound (int16, shape (n,), 16 kHz), in order. Blocking. Raises `RecognitionFailed`."""


class KeywordDecoder:
    """A keyword search over the wheel's English model. One thread at a time. Loads in 0.3 s, 60 MB."""

    def __init__(self, phrases: Collection[str]) -> None:
        self._phrases = phrases
        self._decoder: Decoder | None = None

    def warm(self) -> None:
        """Load the model. Raises `RecognitionFailed` where it is not installed, or broken."""
        self._decoder = self._loaded()

    def find(self, pcm: bytes) -> list[Keyword]:
        """Return the phrases in a sound (int16, 16 kHz, mono), in order. Blocking, about 30 ms a second.

        Raises `RecognitionFailed`.
        """
        decoder = self._decoder = self._loaded()
        try:
            with utterance(decoder):
                decoder.process_raw(pcm, full_utt=True)
        except RuntimeError as error:
            raise RecognitionFailed(f"the keyword search failed: {error}") from error
        return [
            Keyword(
                each.word.strip(),
                each.start_frame / FRAMES_A_SECOND,
                each.end_frame / FRAMES_A_SECOND,
                exponent_of(each.prob),
            )
            for each in (decoder.seg() if decoder.hyp() else ())
        ]

    def _loaded(self) -> "Decoder":
        if self._decoder is not None:
            return self._decoder
        decoder = decoder_with()
        with loading(), tempfile.NamedTemporaryFile("w", suffix=".kws") as words:
            words.writelines(f"{phrase} /1e{LAXEST}/\n" for phrase in self._phrases)
            words.flush()
            decoder.add_kws("reflexes", words.name)
            decoder.activate_search("reflexes")
        return decoder


def exponent_of(prob: float) -> float:
    """Return the threshold's decimal exponent that a segment's `prob` would just meet."""
    return (math.log(prob) / _LOG_BASE + _KEYWORD_OFFSET) * _SCORE_SHIFT * _LOG_BASE / math.log(10)
