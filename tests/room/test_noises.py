"""Half an hour of noise, music, silence and noises of people: none of it becomes words that reach the mailbox."""

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

MINUTES = 30.0
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


@pytest.mark.shows("V11", "V12")
@pytest.mark.parametrize("name", [*CONTINUOUS, "coughs and doors"])
def test_nothing_is_made_of_noise(tmp_path: Path, name: str) -> None:
    parts = round(MINUTES * 60 / PART_SECONDS / (len(CONTINUOUS) + 1))

    async def listen(house: House) -> tuple[list[str], Counter[str]]:
        for number in range(parts):
            for after, sound, dbfs in part(name, number):
                house.card.room.put(at_level(sound, dbfs), house.now + after)
            await passed(PART_SECONDS)
        assert house.box.input.ears is not None
        assert house.box.input.ears.listener.counters.chunks > parts * PART_SECONDS * 31
        return house.turns.taken_up, Counter(suppressed for _, _, suppressed in house.turns.ended)

    taken_up, ended = live(tmp_path, listen)
    why = ", ".join(f"{count} {reason or 'TAKEN UP'}" for reason, count in sorted(ended.items())) or "no turn at all"
    figure(f"invented words, {parts * PART_SECONDS / 60:.1f} minutes of {name}", f"{len(taken_up)} ({why})")
    assert taken_up == []
