"""Whether Whisper hears the same in the short window as in the whole one: both on the same utterances, word by word."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final, Protocol

from msgspec import Struct

from audio.speech import Transcript, Utterance

LEAST_WORDS: Final = 20
"""With fewer words compared nothing is known."""

MOST_DIFFERING: Final = 0.03
"""Of the words; two decodes of a true model in the same window differ as much when the sound is shifted a little."""

_WORD: Final = re.compile(r"[\u2e80-\u9fff]|[^\W_\u2e80-\u9fff]+(?:'\w+)?")


class TwoWindows(Protocol):
    """A recognizer that can do both."""

    def transcribe_in(self, utterance: Utterance, *, is_short: bool) -> Transcript:
        """Return the words by the short window, or by the whole one. Blocking. Raises `RecognitionFailed`."""


class Comparison(Struct, frozen=True):
    """What both windows made of some speech."""

    words: int = 0
    """Heard in the whole window."""
    differing: int = 0
    """Heard otherwise, not, or besides in the short one, its retries included."""
    whole_seconds: float = 0.0
    """What the decodes took."""
    short_seconds: float = 0.0

    @property
    def is_for_short(self) -> bool:
        """Whether the short window is as good, and faster."""
        is_as_good = self.words >= LEAST_WORDS and self.differing <= MOST_DIFFERING * self.words
        return is_as_good and self.short_seconds < self.whole_seconds

    def __add__(self, other: "Comparison") -> "Comparison":
        """Return both together."""
        return Comparison(
            self.words + other.words,
            self.differing + other.differing,
            self.whole_seconds + other.whole_seconds,
            self.short_seconds + other.short_seconds,
        )


def compare(
    recognizer: TwoWindows, utterances: Iterable[Utterance], clock: Callable[[], float] = time.perf_counter
) -> Iterator[Comparison]:
    """Yield what comes of each utterance, in order. Blocking: two or three decodes each. Raises `RecognitionFailed`."""
    for utterance in utterances:
        began = clock()
        whole = recognizer.transcribe_in(utterance, is_short=False)
        between = clock()
        short = recognizer.transcribe_in(utterance, is_short=True)
        words = words_of(whole.text)
        differing = differing_words(words, words_of(short.text))
        yield Comparison(len(words), differing, between - began, clock() - between)


def words_of(text: str) -> list[str]:
    """Return the words without case and punctuation; each Chinese character is one."""
    return _WORD.findall(text.lower())


def differing_words(one: list[str], other: list[str]) -> int:
    """Return how many words are changed, added or left out."""
    changes = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return sum(max(end - start, until - since) for kind, start, end, since, until in changes if kind != "equal")
