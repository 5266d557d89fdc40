"""Human voices in a folder, one folder a person, and what a room makes of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from msgspec import Struct

from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE
from audio.speakers.encoder import SpeakerEncoder, speech_of
from audio.speakers.recognizer import voice_in
from audio.speech import Utterance, Voice
from benchmarks.ears.material.corpus import SOUND_FILES, split_of
from tests.room.acoustics import Sound, at_level, impulse_response
from tests.room.sounds import music, pink

Room: TypeAlias = Literal["near", "far", "noisy", "music"]
"""Near a microphone; across a room of 0.4 s reverberation with 15 dB of signal to noise; the same with 8 dB; the same
with a band that plays 10 dB below the voice."""

ROOMS: Final[tuple[Room, ...]] = get_args(Room)

SNR_DB: Final[Mapping[Room, float]] = {"near": 35.0, "far": 15.0, "noisy": 8.0, "music": 10.0}

LEVEL_DBFS: Final[Mapping[Room, float]] = {"near": -20.0, "far": -32.0, "noisy": -32.0, "music": -32.0}

DECAY_SECONDS: Final = 0.4
TAIL_DB: Final = 2.0
"""Of the reflections against the direct sound: more than half of what is heard."""

SPARE: Final = 1.1
"""How much more is cut than is asked for: a piece has some quiet blocks again."""


class Person(Struct, frozen=True, dict=True):
    """Somebody, and their clips."""

    name: str
    files: tuple[Path, ...]

    @property
    def is_for_fit(self) -> bool:
        """Whether thresholds are chosen by their voice; else figures are told of it."""
        return split_of(self.name) == "fit"

    @cached_property
    def clips(self) -> tuple[Sound, ...]:
        """Their speech, without its silences: the lengths here are of speech."""
        return tuple(speech_of(read_recording(file)) for file in self.files)


def people_in(folder: Path) -> list[Person]:
    """Return everybody, by name. Raises FileNotFoundError for a folder without anybody."""
    found = [
        Person(each.name, tuple(sorted(file for file in each.iterdir() if file.suffix.lower() in SOUND_FILES)))
        for each in sorted(folder.iterdir() if folder.is_dir() else ())
        if each.is_dir()
    ]
    if not any(person.files for person in found):
        raise FileNotFoundError(f"{folder} holds nobody's voice: a folder for each person, with sound files in it")
    return [person for person in found if person.files]


class Voices:
    """Voices of people as the box would have them, cut and heard in rooms; the same for the same seed."""

    def __init__(self, encoder: SpeakerEncoder, seed: int = 0) -> None:
        self.encoder = encoder
        self._random = np.random.default_rng(seed)

    def heard(
        self, clip: Sound, seconds: float, room: Room, change: Callable[[Sound], Sound] = lambda sound: sound
    ) -> Voice | None:
        """Return the voice of a piece of a clip; None where the clip is too short, or too little of it is speech."""
        count = round(SPARE * seconds * SAMPLE_RATE)
        if len(clip) < count:
            return None
        first = int(self._random.integers(0, len(clip) - count + 1))
        sound = in_room(change(clip[first : first + count]), room, self._random)
        return voice_in(utterance_of(sound, room), self.encoder)


def in_room(sound: Sound, room: Room, random: np.random.Generator) -> Sound:
    """Return what a microphone in the room hears of a voice."""
    if room != "near":
        response = impulse_response(DECAY_SECONDS, int(random.integers(1 << 30)), TAIL_DB)
        size = 1 << (len(sound) + len(response)).bit_length()
        spectrum = np.fft.rfft(sound, size) * np.fft.rfft(response, size)
        sound = np.fft.irfft(spectrum)[: len(sound)].astype(np.float32)
    other, level = _band() if room == "music" else _hiss(), LEVEL_DBFS[room]
    first = int(random.integers(0, len(other) - len(sound)))
    return at_level(sound, level) + at_level(other[first : first + len(sound)], level - SNR_DB[room])


@cache
def _band() -> Sound:
    return music(60.0)


@cache
def _hiss() -> Sound:
    return pink(60.0)


def utterance_of(sound: Sound, room: Room) -> Utterance:
    """Return the sound as the endpointer would hand it on."""
    samples = (np.clip(sound, -1.0, 1.0) * 32767).astype(np.int16)
    seconds, level = len(samples) / SAMPLE_RATE, LEVEL_DBFS[room]
    return Utterance(samples, 0.0, seconds, seconds, seconds, level, level - SNR_DB[room])


def equal_error_rate(own: Sequence[float], others: Sequence[float]) -> float:
    """Return the share at which as many of their own are refused as of the others are taken."""
    places = np.sort(np.concatenate([own, others]))
    refused = np.searchsorted(np.sort(own), places) / len(own)
    taken = 1 - np.searchsorted(np.sort(others), places) / len(others)
    at = int(np.argmin(np.abs(refused - taken)))
    return float(refused[at] + taken[at]) / 2
