"""Self-echo guard: rejects a transcript that repeats what nakari is saying or has just said."""

import math
import re
from collections import deque
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from audio.playback.queued_sentence import SpokenSentence
from audio.playback.speech_output import Speaks, SpeechObserver
from audio.speech import RecognizedTurn
from audio.tts.speakable import speakable

MOST_SENTENCES: Final = 32
"""Remembered; more are not spoken within one utterance."""

TAIL_SECONDS: Final = 0.4
"""After a sentence, in which its echo may begin to be heard: the room's, and the devices' own delay."""

SHARE: Final = 0.7
"""Share of the words heard that have to be nakari's own: a recognizer that hears an echo gets some of them wrong."""

FEWEST_WORDS: Final = 3
"""Heard; fewer may be an answer that repeats a word of the question, unless the sound itself is suspected as well."""

FEWEST_CHARACTERS: Final = 4
"""As `FEWEST_WORDS`, of Chinese."""

SUSPECTED: Final = 0.8
"""Of `echo_suspicion`, from which on the words may be few."""

ALIKE: Final = 0.6
"""Of two words' letters in common: recognition errors."""

REASON: Final = "its own words"

_WORDS: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:'[^\W_]+)?")
"""A word, or a Han character."""

_HAN: Final = re.compile("[\u3400-\u9fff]")


class _Spoken(Struct, frozen=True):
    words: tuple[str, ...]
    started_at: float
    ended_at: float


class SelfEcho(SpeechObserver):
    """Remembers what was spoken when, on the clock of the utterances; a `Guard` for the intake."""

    def __init__(self, speech: Speaks, clock: Callable[[], float]) -> None:
        """Follow what `speech` says; `clock` is that of the utterances, in seconds."""
        self._clock = clock
        self._began: dict[SpokenSentence, float] = {}
        """When each sentence under way began: in several rooms there may be several."""
        self._spoken: deque[_Spoken] = deque(maxlen=MOST_SENTENCES)
        speech.observe(self)

    def spoken(self, text: str, started_at: float, ended_at: float = math.inf) -> None:
        """Take a sentence that is spoken from `started_at` on; told again with its end, and the text that was heard.

        Seconds on the clock of the utterances; the end is open while the sentence is spoken. Text as it is written.
        """
        known = [sentence for sentence in self._spoken if sentence.started_at != started_at]
        self._spoken = deque(known, maxlen=MOST_SENTENCES)
        self._spoken.append(_Spoken(words_of(text), started_at, ended_at))

    def forget(self) -> None:
        """Forget all sentences but the one that is being spoken."""
        under_way = [sentence for sentence in self._spoken if sentence.ended_at == math.inf]
        self._spoken = deque(under_way, maxlen=MOST_SENTENCES)

    def first_sound(self, sentence: SpokenSentence, at: float, made_at: float | None = None) -> None:
        """Take the beginning of a sentence."""
        self._began[sentence] = at
        self.spoken(sentence.text, at)

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Take the end of a sentence: of the whole one, or of the part that was heard."""
        began = self._began.pop(sentence, None)
        if heard and began is not None:
            self.spoken(heard, began, self._clock())

    def announced(self, sentence: SpokenSentence, at: float, ended_at: float) -> None:
        """Take an announcement as it begins, and again with its end."""
        self.spoken(sentence.text, at, ended_at)

    def __call__(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets these words, "" when they are somebody's."""
        utterance = heard.utterance
        own = [
            word
            for sentence in self._spoken
            if sentence.started_at < utterance.ended_at and utterance.started_at < sentence.ended_at + TAIL_SECONDS
            for word in sentence.words
        ]
        return REASON if repeats(words_of(heard.transcript.text), own, utterance.echo_suspicion) else ""


def words_of(text: str) -> tuple[str, ...]:
    """Return the words as they are said, lower case; of Chinese each character."""
    return tuple(_WORDS.findall(speakable(text, "zh" if _HAN.search(text) else "en").lower()))


def repeats(heard: tuple[str, ...], own: list[str], suspicion: float = 0.0) -> bool:
    """Whether the words heard are, but for recognition errors, a run of `own`; `suspicion` is the sound's, 0 to 1."""
    if not heard or not own:
        return False
    fewest = FEWEST_CHARACTERS if all(_HAN.match(word) for word in heard) else FEWEST_WORDS
    if len(heard) < fewest and suspicion < SUSPECTED:
        return False
    alike = {word: [_alike(word, other) for other in heard] for word in set(own)}
    longest, enough = len(heard) + max(2, len(heard) // 2), SHARE * len(heard)
    starts = range(max(1, len(own) - len(heard) + 1))
    stretches = ([alike[word] for word in own[start : start + longest]] for start in starts)
    # The words without their order first: seldom enough, and counted in a fraction of the time.
    likely = (stretch for stretch in stretches if sum(map(any, zip(*stretch, strict=True))) >= enough)
    return any(_in_common(stretch) >= enough for stretch in likely)


def _in_common(alike: list[list[bool]]) -> int:
    """Return how many words heard are alike, in order, to words of a stretch of own words.

    A row for each own word tells which words heard are like it.
    """
    row = [0] * (len(alike[0]) + 1)
    for likes in alike:
        before = row.copy()
        for at, like in enumerate(likes, 1):
            row[at] = max(before[at], row[at - 1], before[at - 1] + like)
    return row[-1]


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < 3:
        return False
    letters = SequenceMatcher(None, one, other, autojunk=False)
    # Cheap upper bounds first: a long reply against a long turn is ten thousand pairs, and the listener waits.
    return letters.real_quick_ratio() >= ALIKE and letters.quick_ratio() >= ALIKE and letters.ratio() >= ALIKE
