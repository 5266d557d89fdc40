"""Noise, music, silence and noises of people: none of it becomes words that reach the mailbox.

A sample of six minutes, each kind once and at its loudest; `benchmarks/room/noises.py` has the half hour.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.figures import figure
from tests.room.acoustics import Sound, at_level
from tests.room.house import House, live
from tests.room.sounds import cough, door, hum, music, pink, song, vacuum_cleaner, white
from tests.room.virtual_time import passed

pytestmark = pytest.mark.room

PART_SECONDS = 45.0
"""Of continuous sound; it begins anew after it, at another level."""

CONTINUOUS: dict[str, tuple[Callable[[float], Sound] | None, float]] = {
    "silence": (None, 0.0),
    "white noise": (white, -40.0),
    "pink noise": (pink, -36.0),
    "hum": (hum, -36.0),
    "a vacuum cleaner": (vacuum_cleaner, -28.0),
    "music": (music, -32.0),
    "wordless song": (song, -32.0),
}
"""Each with its loudest level, dBFS; every other part is 8 dB softer."""

SINGLE = (cough, door)
"""An "mhm" is a word, and for others than a closed set of sentences: `test_interruptions` has it."""


def part(name: str, number: int) -> list[tuple[float, Sound, float]]:
    """Return what sounds in one part: seconds from its beginning, the sound, dBFS."""
    if name == "coughs and doors":
        return [(2.0 + 4.0 * place, SINGLE[(place + number) % 2](), -28.0 - place % 3 * 4) for place in range(10)]
    make, loudest = CONTINUOUS[name]
    return [(0.0, make(PART_SECONDS - 2), loudest - number % 2 * 8)] if make else []


KINDS = (*CONTINUOUS, "coughs and doors")


def made_of_noise(folder: Path, parts: int) -> list[str]:
    """Let so many parts of each kind sound in one house, tell what came of each, and return what was taken up."""

    async def listen(house: House) -> list[str]:
        for name in KINDS:
            before = len(house.turns.ended)
            for number in range(parts):
                for after, sound, dbfs in part(name, number):
                    house.card.room.put(at_level(sound, dbfs), house.now + after)
                await passed(PART_SECONDS)
            await passed(3.0)  # what was taken for a turn of this kind ends before the next begins
            ended = Counter(suppressed for _, _, suppressed in house.turns.ended[before:])
            why = ", ".join(f"{count} {reason or 'TAKEN UP'}" for reason, count in sorted(ended.items()))
            taken_up = len(house.turns.since(before))
            told = f"{taken_up} ({why or 'no turn at all'})"
            figure(f"invented words, {parts * PART_SECONDS / 60:.1f} minutes of {name}", told)
        assert house.box.input.ears is not None
        assert house.box.input.ears.listener.counters.chunks > len(KINDS) * parts * PART_SECONDS * 31
        return house.turns.taken_up

    return live(folder, listen)


@pytest.mark.shows("V11", "V12")
def test_nothing_is_made_of_noise(tmp_path: Path) -> None:
    assert made_of_noise(tmp_path, 1) == []
