"""Windows to train on: made voices and, for what is no reflex word, people of a folder's `fit` split, in any room."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE
from audio.reflexes.keyword_search import BANDS, BEFORE_FRAMES, WINDOW_FRAMES, bands, window
from audio.reflexes.words import asked
from benchmarks.ears.material.corpus import Clip
from benchmarks.keywords import rooms
from benchmarks.keywords.rooms import Random, Sound
from benchmarks.keywords.vocabulary import NEAR_WORDS, OTHER_WORDS, REFLEX_WORDS
from benchmarks.keywords.voices import Spoken

NONE: Final = "none"

CLASSES: Final = (NONE, *dict.fromkeys((*REFLEX_WORDS, *NEAR_WORDS, *OTHER_WORDS)))
"""Every word is told apart, not only reflex words: what differs between near words is learned so."""

ENGINES: Final[Mapping[str, float]] = {"espeak": 0.4, "flite": 0.28, "festival": 0.1, "pico": 0.22}
"""How often each is heard."""

CORE: Final = REFLEX_WORDS[:3]
CORE_SHARES: Final = (0.5, 0.28, 0.22)

SOURCES: Final = ("core", "reflex", "near", "other", "longer", "person", "noise")
SOURCE_SHARES: Final = (0.26, 0.13, 0.18, 0.12, 0.06, 0.21, 0.04)

BEFORE_SECONDS: Final = BEFORE_FRAMES / 100
LONG_SECONDS: Final = 2.5
"""A clip of a person that is longer gives pieces, which are no word."""

RANGE: Final = 1.2 / 255
"""One step of a stored window, which `bands` gives from 0 to 1.2."""


class Dataset:
    """Draws windows with their class."""

    def __init__(self, spoken: Sequence[Spoken], clips: Sequence[Clip], random: Random) -> None:
        """`clips` are the folder's; only those of the split `fit` are used, and no reflex word of any person."""
        self._random = random
        self._voices: dict[str, dict[str, list[Spoken]]] = {}
        for each in spoken:
            word = each.words if each.words in CLASSES else NONE
            self._voices.setdefault(word, {}).setdefault(each.engine, []).append(each)
        fit = [clip for clip in clips if clip.split == "fit" and not asked(clip.text)]
        self._people = [clip for clip in fit if clip.is_speech]
        self._noises = [clip for clip in fit if not clip.is_speech]

    def windows(self, count: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return so many windows (count, 144, 40) in steps of `RANGE`, and their places in `CLASSES`."""
        made, places = np.zeros((count, WINDOW_FRAMES, BANDS), np.uint8), np.zeros(count, np.int32)
        for number in range(count):
            word, sound = self._said()
            made[number] = np.round(self._heard(sound) / RANGE)
            places[number] = CLASSES.index(word)
        return made, places

    def _said(self) -> tuple[str, Sound]:
        source = str(self._random.choice(SOURCES, p=SOURCE_SHARES))
        if source == "person":
            word, sound = self._person()
        elif source == "noise":
            word, sound = NONE, rooms.faded(self._noise(int(self._random.uniform(0.1, 1.2) * SAMPLE_RATE)), 400)
        elif source == "core":
            word = str(self._random.choice(CORE, p=CORE_SHARES))
            sound = self._voice(word)
        else:
            words = {"reflex": REFLEX_WORDS[3:], "near": NEAR_WORDS, "other": OTHER_WORDS, "longer": (NONE,)}[source]
            word = str(self._random.choice(words))
            sound = self._voice(word)
        if self._random.random() < 0.8:
            sound = rooms.faster(sound, self._random.uniform(0.8, 1.25))
        if word in CORE and self._random.random() < 0.06:
            return NONE, self._spoiled(sound)
        return word, sound

    def _spoiled(self, sound: Sound) -> Sound:
        """Return a word broken off, or run on into another."""
        if self._random.random() < 0.5:
            return rooms.faded(sound[: int(len(sound) * self._random.uniform(0.3, 0.6))], 200)
        kept = int(len(sound) * self._random.uniform(0.85, 1))
        return np.concatenate([sound[:kept], self._voice(str(self._random.choice(OTHER_WORDS)))])

    def _heard(self, word: Sound) -> NDArray[np.float32]:
        """Return the window of a stretch with this word, in a room of the draw."""
        draw = self._random
        sound = rooms.coloured(word / rooms.rms(word) * 1000, draw)
        if draw.random() < 0.6:
            sound = rooms.in_a_room(sound, draw)
        before = int((BEFORE_SECONDS + draw.uniform(-0.1, 0.14)) * SAMPLE_RATE)
        after = int((0.19 + draw.uniform(-0.05, 0.1)) * SAMPLE_RATE)
        if draw.random() < 0.3:
            sound = rooms.suppressed(sound, draw)
        whole = np.pad(sound, (before, after))
        kind = draw.random()
        if kind < 0.35:
            whole = rooms.beside(whole, self._noise(len(whole)), draw.uniform(-6, 22))
        if 0.25 < kind < 0.6:
            whole = rooms.beside(whole, self._residual(len(whole)), draw.uniform(-1, 27))
        whole = rooms.beside(whole, rooms.hiss(len(whole), draw), draw.uniform(5, 57))
        return window(bands(rooms.recorded(whole, draw)), BEFORE_SECONDS)

    def _voice(self, word: str) -> Sound:
        engines = self._voices[word]
        shares = np.array([ENGINES[engine] for engine in engines])
        takes = engines[str(self._random.choice(list(engines), p=shares / shares.sum()))]
        return takes[self._random.integers(len(takes))].samples.astype(np.float64)

    def _person(self) -> tuple[str, Sound]:
        clip = self._people[self._random.integers(len(self._people))]
        sound, text = _sound(clip), clip.text.casefold().strip(" .")
        if text in CLASSES and len(sound) < LONG_SECONDS * SAMPLE_RATE:
            loudness = np.convolve(np.abs(sound), np.ones(400) / 400, "same")
            loud = np.flatnonzero(loudness > loudness.max() / 12)
            return text, sound[max(0, loud[0] - 400) : loud[-1] + 600]
        samples = int(self._random.uniform(0.3, 1.5) * SAMPLE_RATE)
        begins = int(self._random.integers(max(1, len(sound) - samples)))
        return NONE, rooms.faded(sound[begins : begins + samples], 200)

    def _noise(self, samples: int) -> Sound:
        clip = self._noises[self._random.integers(len(self._noises))]
        return rooms.looped(_sound(clip)[: 20 * SAMPLE_RATE], samples, self._random)

    def _residual(self, samples: int) -> Sound:
        words = [str(word) for word in self._random.choice(CLASSES[1:], 3)]
        voice = np.concatenate([self._voice(word) for word in words])
        return rooms.residual_of(rooms.looped(voice, samples, self._random), self._random)


@cache
def _sound(clip: Clip) -> Sound:
    sound = clip.samples().astype(np.float64)
    return sound + np.random.default_rng(0).normal(0, 20, len(sound)) if rooms.rms(sound) < 20 else sound
