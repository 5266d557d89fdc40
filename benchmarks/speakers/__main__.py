"""Measures who is told from whom: `python -m benchmarks.speakers FOLDER`, a folder of sound files for each person.

Everything is told of the half of the people whose voices chose no threshold: error rates by length and room, how often
somebody known is named right, and wrong, and how often a stranger, a child or a television is taken for somebody known.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from audio.pcm import SAMPLE_RATE
from audio.speakers.encoder import SpeakerEncoder, Vector, unit
from audio.speakers.gallery import LENGTHS, UNKNOWN, guess, nearness
from audio.speech import Voice
from benchmarks.speakers.people import ROOMS, Person, Room, Voices, equal_error_rate, people_in
from tests.room.acoustics import Sound

ENROLLED_SECONDS: Final = 2.4
HOUSEHOLD: Final = 4
"""People who are known at a time; all others are strangers."""


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speakers", description="Measure who is told apart.")
    parser.add_argument("folder", type=Path, help="of folders, one a person, with sound files")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    try:
        people = people_in(wanted.folder)
    except FileNotFoundError as error:
        sys.exit(f"nakari: {error}")
    held_out = [person for person in people if not person.is_for_fit]
    members = [person for person in held_out if len(person.clips) > 3]
    strangers = [person for person in held_out if len(person.clips) <= 3]
    print(
        f"{wanted.folder}: {len(people)} people; {len(people) - len(held_out)} chose the thresholds, told is of the "
        f"other {len(held_out)}: {len(members)} with several clips, {len(strangers)} strangers; seed {wanted.seed}"
    )
    voices = Voices(SpeakerEncoder(), wanted.seed)
    for count in (1, 3):
        for room in ROOMS:
            rates = [
                f"{seconds} s {_rate(voices, members, strangers, seconds, room, count):.1%}" for seconds in LENGTHS
            ]
            print(f"equal error rate, {count} clip(s) enrolled, {room}: {', '.join(rates)}")
    _named(voices, members, strangers)
    _costs(voices, members)


def _rate(
    voices: Voices, members: Sequence[Person], strangers: Sequence[Person], seconds: float, room: Room, count: int
) -> float:
    own, others = list[float](), list[float]()
    for person in members:
        known = _enrolled(voices, person, room, count)
        own += [nearness(voice.vector, known) for voice in _pieces(voices, person.clips[5:], seconds, room)]
        for other in (*members, *strangers):
            if other is not person:
                others += [nearness(voice.vector, known) for voice in _pieces(voices, other.clips[-2:], seconds, room)]
    return equal_error_rate(own, others)


def _enrolled(voices: Voices, person: Person, room: Room, count: int) -> list[Vector]:
    long = [clip for clip in person.clips[:5] if len(clip) > 1.2 * ENROLLED_SECONDS * SAMPLE_RATE]
    return [unit(voice.vector) for voice in _pieces(voices, long[:count], ENROLLED_SECONDS, room)]


def _pieces(
    voices: Voices,
    clips: Sequence[Sound],
    seconds: float,
    room: Room,
    change: Callable[[Sound], Sound] = lambda sound: sound,
) -> Iterator[Voice]:
    yield from (voice for clip in clips if (voice := voices.heard(clip, seconds, room, change)))


def _named(voices: Voices, members: Sequence[Person], strangers: Sequence[Person]) -> None:
    """Tell what a household of four would be told, by the thresholds in use."""
    home = members[:HOUSEHOLD]
    others = (*members[HOUSEHOLD:], *strangers)
    for room in ROOMS:
        known = {person.name: _enrolled(voices, person, room, 3) for person in home}
        for seconds in LENGTHS:
            told = [
                (person.name, guess(voice, known))
                for person in home
                for _ in range(3)
                for voice in _pieces(voices, person.clips[5:], seconds, room)
            ]
            right = np.mean([one.is_sure and one.name == name for name, one in told])
            wrong = np.mean([one.is_sure and one.name != name for name, one in told])
            taken = {
                "strangers": _taken(voices, others, known, seconds, room),
                "children": _taken(voices, others, known, seconds, room, _as_a_child),
            }
            if room == "music":
                taken["a television"] = taken.pop("strangers")
            lines = ", ".join(f"{who} {share:.1%} of {count}" for who, (share, count) in taken.items())
            named = f"named right {right:.0%}, wrong {wrong:.1%} of {len(told)}"
            print(f"{room}, {seconds} s: {named}; taken for one: {lines}", flush=True)


def _taken(
    voices: Voices,
    others: Sequence[Person],
    known: Mapping[str, Sequence[Vector]],
    seconds: float,
    room: Room,
    change: Callable[[Sound], Sound] = lambda sound: sound,
) -> tuple[float, int]:
    told = [
        guess(voice, known)
        for person in others
        for _ in range(4)
        for voice in _pieces(voices, person.clips[-2:], seconds, room, change)
    ]
    return float(np.mean([one.is_sure and one.name != UNKNOWN for one in told])), len(told)


def _as_a_child(sound: Sound) -> Sound:
    """Return a voice with pitch and formants a third higher: no child, whose voice differs in more than that."""
    places = np.arange(0, len(sound) - 1, 1.3)
    higher = np.interp(places, np.arange(len(sound)), sound)
    return np.resize(higher, len(sound)).astype(np.float32)


def _costs(voices: Voices, members: Sequence[Person]) -> None:
    """Tell what the voice of an utterance costs, halves included."""
    for seconds in LENGTHS:
        taken = []
        for person in members:
            for clip in person.clips[:4]:
                began = time.process_time()
                if voice := voices.heard(clip, seconds, "near"):
                    taken.append((time.process_time() - began) / voice.seconds)
        print(
            f"{seconds} s: {1000 * float(np.median(taken)):.1f} ms of processor time a second of speech, with the cut"
        )


if __name__ == "__main__":
    main()
