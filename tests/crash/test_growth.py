"""A look back, and a night, killed anywhere come again: each note is there once, the cursor where the end left it."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.event import NIGHT, REFLECTION
from tests.crash.deaths import after_effect, noted
from tests.crash.life import ENDS
from tests.crash.script import GROWING, NIGHTS
from tests.crash.story import Nursery, boundaries, deaths, nursery, told
from tests.crash.verdict import Remains, complaints, remains
from tests.sample import sample

RUNS = 2
"""Of each story; `--every-step` kills at each boundary, by both ways."""

STORIES = {"looks back": [GROWING, GROWING + 1, GROWING + 3], "nights": [NIGHTS, NIGHTS + 1]}
"""One of each, another one after each commit."""


@pytest.fixture(scope="module")
def lives() -> Iterator[Nursery]:
    with nursery() as running:
        yield running


def cursor_in(folder: Path, kind: str) -> int:
    with closing(sqlite3.connect(folder / "nakari.db")) as database:
        row = database.execute("SELECT seq FROM growth WHERE owner_key = 'household' AND kind = ?", (kind,))
        return int(row.fetchone()[0])


def last_words(left: Remains) -> int:
    return max(entry.seq for entry in left.entries if entry.topic == "runs.new" and "words" in entry.body)


async def judge(folder: Path, seed: int) -> list[str]:
    """Return all that is wrong with what a story has left."""
    left = await remains(folder)
    wrong = complaints(left, seed)
    kind = NIGHT if seed >= NIGHTS else REFLECTION
    notes = Counter(line.split()[0] for line in noted(folder / "ledger", "noted"))
    people = [name for name, filed in left.events.items() if filed.event.is_from_person]
    wrong += [
        f"of {name} there are {notes[name]} notes" for name in (ENDS if kind == NIGHT else people) if notes[name] != 1
    ]
    looks = [filed for filed in left.events.values() if filed.event.type == kind]
    if not any(filed.state == "completed" for filed in looks):
        wrong.append("no look was completed")
    if any(filed.state not in {"completed", "withdrawn"} for filed in looks):
        wrong.append("a look was left")
    if cursor_in(folder, kind) < last_words(left):
        wrong.append("what was said is left to be looked back on")
    if kind == NIGHT and not noted(folder / "ledger", "saved"):
        wrong.append("nothing was saved before the night")
    return wrong


@pytest.mark.shows("G15", "G16", "A24")
@pytest.mark.parametrize("kind", STORIES)
async def test_a_look_back_or_a_night_that_is_killed_anywhere_writes_each_thing_once(
    lives: Nursery, tmp_path: Path, kind: str, every_step: bool
) -> None:
    for seed in sample(STORIES[kind], 1, whole=every_step):
        story = tmp_path / str(seed)
        most = boundaries(lives, story / "whole", seed)
        assert await judge(story / "whole", seed) == [], f"seed {seed}"
        some = [deaths(seed, place, most) for place in range(RUNS)]
        every = [(way * step,) for step in range(1, most + 1) for way in (1, -1)]
        for place, killed in enumerate(every if every_step else some):
            folder = story / str(place)
            met = told(lives, folder, seed, killed)
            assert await judge(folder, seed) == [], f"seed {seed}, after deaths at {met}"


@pytest.mark.shows("G15", "A24")
async def test_a_note_is_written_once_although_the_power_goes_right_after_it(lives: Nursery, tmp_path: Path) -> None:
    for number in range(1, 4):
        folder = tmp_path / str(number)
        told(lives, folder, GROWING, [after_effect(number)])
        assert await judge(folder, GROWING) == [], f"after a cut right after note {number}"
