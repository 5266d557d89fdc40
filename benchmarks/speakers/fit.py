"""Chooses the mean voice and the thresholds of audio/speakers/gallery.py on its half of the voices in a folder.

`python -m benchmarks.speakers.fit FOLDER` writes audio/speakers/speaker_mean.npy and prints the thresholds to be set.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from audio.speakers.encoder import SpeakerEncoder, unit
from audio.speakers.gallery import LENGTHS, MEAN, NOISE_BELOW_DB, PER_DB, nearness
from audio.speech import Voice
from benchmarks.speakers.people import ROOMS, SNR_DB, Person, Room, Voices, people_in

ENROLLED_SECONDS: Final = 2.4
MISTAKEN: Final = 0.005
"""Of a stranger's utterances that may be taken for one known person's."""

FITTED_ROOMS: Final[tuple[Room, ...]] = ("near", "far", "noisy")


def main() -> None:
    """Write the mean, and print the thresholds."""
    people = [person for person in people_in(Path(sys.argv[1])) if person.is_for_fit]
    voices = Voices(SpeakerEncoder(), seed=1)
    many = [
        voice.vector
        for person in people
        for room in ROOMS
        for clip in person.clips[:3]
        if (voice := voices.heard(clip, ENROLLED_SECONDS, room))
    ]
    np.save(MEAN, np.mean(many, axis=0).astype(np.float32))
    print(f"{MEAN}: of {len(people)} people, {len(many)} pieces")
    for seconds in LENGTHS:
        told = [f"{room} {_needed(voices, people, seconds, room):.3f}" for room in FITTED_ROOMS]
        print(f"{seconds} s: {', '.join(told)}, each less what noise adds")


def _needed(voices: Voices, people: Sequence[Person], seconds: float, room: Room) -> float:
    """Return the nearness that one in `1 / MISTAKEN` strangers reaches, heard in the same room as the known person."""
    strangers = list(_of(voices, people, seconds, room))
    known = list(_of(voices, people, ENROLLED_SECONDS, room))
    scores = [
        nearness(stranger.vector, _three(known, name))
        for name in dict.fromkeys(name for name, _ in known)
        for other, stranger in strangers
        if other != name
    ]
    noise = PER_DB * max(0.0, NOISE_BELOW_DB - SNR_DB[room])
    return float(np.quantile(scores, 1 - MISTAKEN)) - noise


def _of(voices: Voices, people: Sequence[Person], seconds: float, room: Room) -> Iterator[tuple[str, Voice]]:
    for person in people:
        for clip in person.clips[:4]:
            if voice := voices.heard(clip, seconds, room):
                yield person.name, voice


def _three(known: Sequence[tuple[str, Voice]], name: str) -> list[np.ndarray]:
    return [unit(voice.vector) for each, voice in known if each == name][:3]


if __name__ == "__main__":
    main()
