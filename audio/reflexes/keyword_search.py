"""The reflex word that is all of a sound, by a small network and pocketsphinx together: English."""

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Final
from zipfile import BadZipFile

import structlog
from msgspec import Struct

from audio.errors import RecognitionFailed
from audio.interfaces import WordVerifier
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.apart import ApartKeywords
from audio.recognizer.keyword_decoder import LAXEST, KeywordFinder
from audio.reflexes.keyword_model import KeywordModel
from audio.reflexes.noticed import Noticed
from audio.reflexes.stretches import Stretch
from audio.reflexes.words import REFLEXES, Reflex, asked

log = structlog.get_logger()

THRESHOLDS: Final[Mapping[str, float]] = {
    **{"stop": -12, "stop it": -18, "stop talking": -20, "be quiet": -20, "shut up": -12, "quiet": 0, "enough": -2},
    **{"wait": -10, "hold on": -20, "pause": -9, "go on": -18, "continue": -20, "resume": -10},
    **{"quieter": -14, "softer": -22, "volume down": -20, "turn it down": -20},
    **{"louder": -18, "volume up": -20, "turn it up": -20, "speak up": -20},
    **{"repeat": -20, "repeat that": -20, "say that again": -20, "say again": -20},
    **{"mute": -10, "mute yourself": -20},
}
"""What is listened for, and the decimal exponent by which it may be less likely than any other string of phones.

Measured (docs/decisions/0016): each stood above the best of 572 pieces of human speech that is none of these, cut at
every pause, and at -20 where no such piece came near it; others come above it, and the network knows them."""

EXPONENTS_A_NAT: Final = 10.0
"""Of the decoder's exponent above the threshold, as much evidence as e times the odds of the network."""

MOST_FOR_PHONES: Final = 3.0
"""Nats: however sure the decoder is of the phones, the network may say that more was said than the word."""

ENOUGH: Final = 0.4
"""Nats that the sum of both has to reach: the best of 482 clips of people who say something else (split `choose`) comes
to 0.2."""

BARS: Final[Mapping[str, float]] = {"stop": -2.5}
"""What is enough for a word of which a wrong one does little where nothing of its own sounds (docs/decisions/0139)."""

BARS_OVER_OWN_VOICE: Final[Mapping[str, float]] = {"stop": -0.6, "wait": 1.2}
"""The same while nakari speaks, which a wrong one silences ("right" sounds like "wait" there: docs/decisions/0146)."""

BARS_NOTICED: Final[Mapping[str, float]] = {"stop": -1.0}
"""The same for whoever is noticed under nakari's voice, by both sounds of it (docs/decisions/0146)."""

SURE_NOTICED: Final[Mapping[str, float]] = {"stop": 0.0}
"""What is enough where a recognizer could verify it, and is not asked."""

VERIFIED_NOTICED: Final[Mapping[str, float]] = {"stop": -4.5}
"""What the recognizer's and `WEIGHT_BESIDE` of the network's evidence for who is noticed have to come to together
(docs/decisions/0147: chosen on `choose` and `fit` with Whisper base)."""

WEIGHT_BESIDE: Final = 0.5
"""Of the network's evidence beside the recognizer's, which hears more words than those it was asked about."""

WORTH_VERIFYING: Final = -5.0
"""The network's evidence (nats) from which on the recognizer is asked: of 258 of 263 people's "stop", of a third of
others (docs/decisions/0147)."""

NOTICED_LATE_SECONDS: Final = (0.1, 0.2, 0.3)
"""By which a word began before somebody was noticed, as the network is asked: 0.05 to 0.5 s, mostly 0.2."""

UNHEARD: Final = 1.0
"""Nats taken off where there is no decoder: the best of those clips comes to 1.2 then."""

SEEN_SECONDS: Final = 1.1
"""Longest speech that the network sees whole."""

TOUCHES: Final = 0.3
"""Share of the speech that a word of the decoder has to cover to count beside the network."""

COVERS: Final = 0.6
"""Share of the speech that the word has to fill: "stop" in "stop by the shop" fills less."""

EARLIER_SECONDS: Final = (0.0, 0.15, 0.3)
"""Over its own voice the detector notices a word late: the network is asked as if it began so much earlier too."""


class Spotted(Struct, frozen=True):
    """A reflex word that was all somebody said."""

    reflex: Reflex
    words: str
    started_at: float
    """Seconds on the source's clock at which the speech began."""
    ended_at: float
    """Seconds on the source's clock at which it ended."""


class KeywordSearch:
    """Finds the reflex word that is all of a stretch, by two evidences: one thread at a time.

    The network says how likely each word is everything that was said, the decoder how likely the word's phones are.
    Neither is asked alone, except for phrases that the network was not taught, and for speech longer than it sees.
    """

    def __init__(
        self,
        active: Collection[str] = REFLEXES,
        decoder: KeywordFinder | None = None,
        verifier: WordVerifier | None = None,
    ) -> None:
        """Listen for the `active` reflexes.

        `decoder` is for another one than pocketsphinx's keyword search; `verifier` is asked about who is noticed under
        nakari's voice.
        """
        self._reflexes = {words: reflex for words in THRESHOLDS if (reflex := asked(words, active))}
        self._decoder: KeywordFinder | None = decoder or ApartKeywords(self._reflexes)
        self._verifier = verifier
        self._model: KeywordModel | None = None

    def warm(self) -> None:
        """Load both. Where pocketsphinx is not installed, or broken, the network has to be surer of its words.

        Raises `RecognitionFailed` where there is no network either.
        """
        self._taught()
        try:
            if self._decoder is not None:
                self._decoder.warm()
        except RecognitionFailed as error:
            self._decoder = None
            log.info("reflex_words_without_decoder", reason=str(error))

    def find(self, stretch: Stretch, *, over_own_voice: bool = False, without: Collection[str] = ()) -> Spotted | None:
        """Return the likeliest word that is all of the stretch; over its own voice less is enough. Blocking (30 ms/s).

        `without` names words that are looked for elsewhere. Raises `RecognitionFailed`.
        """
        seconds = stretch.ended_at - stretch.started_at
        exponents = self._exponents(stretch)
        likely = self._likely(stretch, EARLIER_SECONDS if over_own_voice else (0.0,)) if seconds <= SEEN_SECONDS else {}
        found = [
            (self._evidence(words, likely.get(words), exponents.get(words)), words)
            for words in self._reflexes
            if words not in without and (words in likely or words in exponents)
        ]
        bars = {**BARS, **BARS_OVER_OWN_VOICE} if over_own_voice else BARS
        above, words = max(
            ((evidence - bars.get(words, ENOUGH), words) for evidence, words in found), default=(-1.0, "")
        )
        if above < 0:
            return None
        return Spotted(self._reflexes[words], words, stretch.started_at, stretch.ended_at)

    def find_noticed(self, noticed: Noticed) -> Spotted | None:
        """Return the word of `BARS_NOTICED` that somebody said under its voice. Blocking (20 ms, seldom 150).

        What is in both sounds is the person, what is in one of them may be what the canceller or the filter did: their
        evidence is averaged, over the places where the word may begin too. The decoder is asked only where it can
        decide, and the verifier about the mean of both where they are not sure. Raises `RecognitionFailed`.
        """
        model = self._taught()
        likely = [
            model.probabilities(sound, max(0.0, len(sound) / SAMPLE_RATE - noticed.before_end - late))
            for sound in noticed.sounds
            for late in NOTICED_LATE_SECONDS
        ]
        for words in BARS_NOTICED.keys() & self._reflexes.keys():
            if self._is_noticed(words, noticed, fmean(_log_odds(found[words]) for found in likely)):
                span = (noticed.at - NOTICED_LATE_SECONDS[-1], noticed.at + noticed.before_end)
                return Spotted(self._reflexes[words], words, *span)
        return None

    def _is_noticed(self, words: str, noticed: Noticed, odds: float) -> bool:
        """Say whether a word was said, by the network's log odds, the decoder, and a recognizer that can tell."""
        evidence, bar, verifier = odds, BARS_NOTICED[words], self._verifier
        if odds + MOST_FOR_PHONES >= bar:
            evidence += fmean(self._for_phones(words, self._strongest(words, sound)) for sound in noticed.sounds)
        if verifier is None or odds < WORTH_VERIFYING or evidence >= SURE_NOTICED[words]:
            return evidence >= bar
        try:
            told = verifier.log_probability(words, noticed.mean)
        except RecognitionFailed as error:
            log.warning("reflex_word_not_verified", reason=str(error))
            told = None
        return evidence >= bar if told is None else told + WEIGHT_BESIDE * odds >= VERIFIED_NOTICED[words]

    def _strongest(self, words: str, sound: Samples) -> float:
        """Return the exponent of a word where the decoder finds it in a sound."""
        found = self._decoder.find(sound) if self._decoder is not None else ()
        return max((each.exponent for each in found if each.words == words), default=LAXEST)

    def _likely(self, stretch: Stretch, earlier: Sequence[float]) -> dict[str, float]:
        """Return of each word how likely it is, wherever of these places it is likeliest."""
        asked_at = (self._taught().probabilities(stretch.samples, max(0.0, stretch.first - by)) for by in earlier)
        best: dict[str, float] = {}
        for found in asked_at:
            best |= {words: likely for words, likely in found.items() if likely > best.get(words, 0.0)}
        return best

    def _exponents(self, stretch: Stretch) -> dict[str, tuple[float, float]]:
        """Return of each word that the decoder found the exponent, and the share of the speech that it covers."""
        seconds = stretch.ended_at - stretch.started_at
        span = (stretch.first, stretch.first + seconds)
        best: dict[str, tuple[float, float]] = {}
        for each in self._decoder.find(stretch.samples) if self._decoder is not None else ():
            covered = overlap((each.start, each.end), span) / seconds
            if covered >= TOUCHES:
                best[each.words] = max(best.get(each.words, (-math.inf, 0.0)), (each.exponent, covered))
        return best

    def _evidence(self, words: str, probability: float | None, heard: tuple[float, float] | None) -> float:
        """Return the sum of both, in nats."""
        exponent, covered = heard or (LAXEST, 0.0)
        if probability is None:
            return self._for_phones(words, exponent, most=math.inf) if covered >= COVERS else -math.inf
        return _log_odds(probability) + self._for_phones(words, exponent)

    def _for_phones(self, words: str, exponent: float, *, most: float = MOST_FOR_PHONES) -> float:
        """Return how much the decoder's exponent says for a word, in nats."""
        if self._decoder is None:
            return -UNHEARD
        return min((exponent - THRESHOLDS[words]) / EXPONENTS_A_NAT, most)

    def _taught(self) -> KeywordModel:
        if self._model is None:
            try:
                self._model = KeywordModel()
            except (OSError, ValueError, KeyError, BadZipFile) as error:
                raise RecognitionFailed(f"the keyword model cannot be read: {error}; install nakari again") from error
        return self._model


def overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return how many seconds two spans share, never less than 0."""
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))


def _log_odds(probability: float) -> float:
    return math.log(max(probability, 1e-9) / max(1 - probability, 1e-9))
