"""The reflex word that is all of a sound, by a small network and pocketsphinx together: English."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Final
from zipfile import BadZipFile

import numpy as np
import structlog
from msgspec import Struct
from numpy.typing import NDArray

from audio.errors import RecognitionFailed
from audio.interfaces import WordVerifier
from audio.pcm import SAMPLE_RATE, Samples, to_float
from audio.recognizer.apart import ApartKeywords
from audio.recognizer.keyword_decoder import LAXEST, KeywordFinder
from audio.reflexes.cutting import Noticed, Stretch
from audio.reflexes.words import REFLEXES, Reflex, asked

MODEL: Final = Path(__file__).with_name("keyword_model.npz")
"""Made by benchmarks/keywords/train.py; its note is docs/decisions/0064."""

BANDS: Final = 40
FRAME_SAMPLES: Final = 400
"""25 ms."""
STEP_SAMPLES: Final = 160
"""10 ms."""
WINDOW_FRAMES: Final = 144
"""1.44 s: what the network sees."""
BEFORE_FRAMES: Final = 32
"""Of them before the speech began: 0.32 s, the stretch's pre-roll."""
RANGE_DB: Final = 60.0
"""What is so much below the loudest counts as silence: level and gain make no difference."""


def bands(samples: Samples) -> NDArray[np.float32]:
    """Return the log-mel bands (frames, 40) of a sound (int16, 16 kHz): 0 is 60 dB below the loudest, 1 the loudest."""
    sound = to_float(samples)
    if len(sound) < FRAME_SAMPLES:
        sound = np.pad(sound, (0, FRAME_SAMPLES - len(sound)))
    sound = np.append(sound[0], sound[1:] - np.float32(0.9) * sound[:-1])
    frames = np.lib.stride_tricks.sliding_window_view(sound, FRAME_SAMPLES)[::STEP_SAMPLES]
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME_SAMPLES).astype(np.float32), 512)) ** 2
    levels = 10 * np.log10(power @ _filters() + 1e-12)
    loudest = np.sort(levels, axis=None)[-max(1, levels.size // 200)]
    return np.asarray(np.clip((levels - loudest) / RANGE_DB + 1, 0, 1.2), np.float32)


def window(sound: NDArray[np.float32], first: float) -> NDArray[np.float32]:
    """Return the 144 bands' frames around the beginning of the speech (`first`: seconds), 0 where there is no sound."""
    start = round(first * SAMPLE_RATE / STEP_SAMPLES) - BEFORE_FRAMES
    padded = np.pad(sound, ((max(0, -start), WINDOW_FRAMES), (0, 0)))
    return padded[max(0, start) :][:WINDOW_FRAMES]


@cache
def _filters() -> NDArray[np.float32]:
    """Return triangles (257, 40), equally wide in mel from 80 to 7600 Hz."""
    mel = np.linspace(1127 * np.log1p(80 / 700), 1127 * np.log1p(7600 / 700), BANDS + 2)
    edges = 700 * np.expm1(mel / 1127)
    bins = np.arange(257) * SAMPLE_RATE / 512
    rising = (bins[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins[:, None]) / (edges[2:] - edges[1:-1])
    return np.asarray(np.maximum(0, np.minimum(rising, falling)), np.float32)


class KeywordModel:
    """The network, loaded: 2 ms for a word on one core. Any thread; nothing is kept from one sound to the next."""

    def __init__(self, file: Path = MODEL) -> None:
        """Read the weights. Raises OSError or ValueError for a file that is none."""
        with np.load(file, allow_pickle=False) as stored:
            self.words = tuple(str(word) for word in stored["words"])
            """What is told apart; the first is none of the others."""
            self._shapes = [(int(width), int(step), int(apart)) for width, step, apart in stored["shapes"]]
            self._layers = [
                (
                    stored[f"weights_{number}"].astype(np.float32) * stored[f"scales_{number}"],
                    stored[f"offsets_{number}"],
                )
                for number in range(len(self._shapes) + 2)
            ]

    def probabilities(self, samples: Samples, first: float) -> Mapping[str, float]:
        """Return how likely each word is all that is said (int16, 16 kHz; speech begins `first` seconds into it)."""
        seen = window(bands(samples), first)
        sound = np.float32(0.5) * (seen[0::2] + seen[1::2])
        for (width, step, apart), (weights, offsets) in zip(self._shapes, self._layers, strict=False):
            made = np.maximum(0, _columns(sound, width, step, apart) @ weights + offsets)
            sound = sound + made if made.shape == sound.shape else made
        (hidden, hidden_offsets), (last, last_offsets) = self._layers[-2:]
        pooled = np.maximum(0, np.concatenate([sound.mean(0), sound.max(0)]) @ hidden + hidden_offsets)
        scores = pooled @ last + last_offsets
        likely = np.exp(scores - scores.max())
        return dict(zip(self.words, (likely / likely.sum()).tolist(), strict=True))


def _columns(sound: NDArray[np.float32], width: int, step: int, apart: int) -> NDArray[np.float32]:
    """Return for each place (every `step` frames) the `width` frames around it, `apart` from each other, in a row."""
    around = apart * (width - 1) // 2
    places = -(-len(sound) // step)
    padded = np.pad(sound, ((around, around + step), (0, 0)))
    return np.concatenate([padded[at * apart :][: (places - 1) * step + 1 : step] for at in range(width)], axis=1)


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
