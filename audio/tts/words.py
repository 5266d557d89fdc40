"""Aligns words with synthesized sound, and cuts sound at the ends of words."""

from collections.abc import Sequence

import numpy as np

from audio.language import is_cjk
from audio.pcm import Samples
from audio.speech import SpeechAudio, WordTiming

FURTHEST_WORD = 40
"""Characters that may be skipped to find the next word of a voice: what it says differently than it is written."""

LETTERS_PER_SECOND = 15.0
"""How fast an unknown voice is assumed to speak; espeak-ng at its default 175 words a minute says about as much."""

CJK_PER_SECOND = 4.5
"""The same in CJK characters."""

UNTIMED_SECONDS = 1.0
"""Sound held back for a first word timing; past it the voice is taken for one that times no words."""

WORD_MARKS = " \t\n,.;:!?…-—，。；：！？、)]}”’\"'"
"""What may follow a word, and begins no sentence."""

QUIET = 100
"""int16 level (-50 dBFS) below which the end of a sentence counts as silence."""

TAIL_SECONDS = 0.15
"""Silence left after the last sound of a sentence; edge-tts adds most of a second."""


def position_after(text: str, words: Sequence[WordTiming]) -> int:
    """Return the index in `text` just after the last of `words`, which are searched in order.

    A word that is not near is skipped: voices report "twenty" for "20", and drop marks.
    """
    position = 0
    for word in words:
        found = text.find(word.text, position, position + FURTHEST_WORD + len(word.text))
        if found >= 0:
            position = found + len(word.text)
    return position


def heard_part(text: str, words: Sequence[WordTiming], heard: float, total: float | None) -> str:
    """Return the beginning of `text` that was heard: whole words only, stripped at its end.

    `words` are the timings known, `heard` the seconds of sound that were heard, `total` the seconds of the whole
    sentence, None while it is not known. Where the timings end, the rest is taken in proportion to the time, and never
    beyond what is known to exist: with timings and without `total`, they have the last word.
    """
    position = position_after(text, [word for word in words if word.end <= heard])
    timed = words[-1].end if words else 0.0
    if heard < timed or (words and total is None):
        return text[:position].rstrip()
    rest = text[position:]
    length = (total or estimated_seconds(text)) - timed
    share = 1.0 if length <= 0 else min(1.0, (heard - timed) / length)
    return text[: position + _whole_words(rest, share)].rstrip()


def estimated_seconds(text: str) -> float:
    """Return how long a voice is likely to speak the text."""
    cjk = sum(is_cjk(character) for character in text)
    return cjk / CJK_PER_SECOND + (len(text) - cjk) / LETTERS_PER_SECOND


def _whole_words(text: str, share: float) -> int:
    """Return how many characters of `text` this share of it holds, none of a word that it cuts."""
    end = int(len(text) * share)
    while 0 < end < len(text) and text[end].isalnum() and text[end - 1].isalnum() and not is_cjk(text[end]):
        end -= 1
    return end


class WordAligner:
    """Holds back the sound of a word until it is whole, so that a failing voice fails between words.

    Feed timings and samples in any order; pieces come out in order and together are all the samples.
    """

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._held: list[Samples] = []
        self._words: list[WordTiming] = []
        self._given = 0
        """Samples handed out."""
        self._received = 0
        """Samples received."""
        self.last_end = 0.0
        """Seconds from the first sample to the end of the last word reported so far."""

    @property
    def seconds(self) -> float:
        """Seconds of sound received."""
        return self._received / self._sample_rate

    def add_word(self, word: WordTiming) -> None:
        """Take a word's timing."""
        self._words.append(word)
        self.last_end = max(self.last_end, word.end)

    def add_samples(self, samples: Samples) -> SpeechAudio | None:
        """Take samples; return what ends with a whole word now, None when no further word is whole."""
        self._held.append(samples)
        self._received += len(samples)
        if self.last_end == 0.0 and self.seconds > UNTIMED_SECONDS:
            return self._piece(self._received)
        whole = [word for word in self._words if word.end <= self.seconds]
        return self._piece(round(whole[-1].end * self._sample_rate)) if whole else None

    def flush(self) -> SpeechAudio | None:
        """Return what is held, the last silence shortened to `TAIL_SECONDS`; None when nothing is."""
        piece = self._piece(self._received)
        if piece is None:
            return None
        loud = np.flatnonzero(np.abs(piece.samples.astype(np.int32)) > QUIET)
        last = int(loud[-1]) + 1 if len(loud) else 0
        kept = piece.samples[: last + round(TAIL_SECONDS * self._sample_rate)]
        return SpeechAudio(kept, self._sample_rate, piece.words)

    def _piece(self, end: int) -> SpeechAudio | None:
        """Hand out the samples up to `end`, counted from the sentence's first, with the words that end there."""
        held = np.concatenate(self._held) if self._held else np.zeros(0, np.int16)
        cut = end - self._given
        if cut <= 0:
            return None
        words = tuple(word for word in self._words if round(word.end * self._sample_rate) <= end)
        self._words = self._words[len(words) :]
        self._held, self._given = [held[cut:]], end
        return SpeechAudio(held[:cut], self._sample_rate, words)
