"""A door that opens on a yes opens once at most, wherever the machine stops between the question and the act."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.crash.deaths import after_effect, noted
from tests.crash.script import OPENING, ORDER
from tests.crash.story import Nursery, boundaries, nursery, told
from tests.crash.verdict import complaints, remains
from tests.sample import sample

EVERY = 7
"""Boundaries from one death to the next; other ones after each commit, and all of them take a minute."""

QUESTION = "I am about to open the door."


@pytest.fixture(scope="module")
def lives() -> Iterator[Nursery]:
    with nursery() as running:
        yield running


async def opened(folder: Path) -> int:
    """Return how often the door was opened, once everything else is as it should be."""
    assert complaints(await remains(folder), OPENING) == []
    ledger = (folder / "ledger").read_text().splitlines()
    door = [place for place, line in enumerate(ledger) if line.startswith("opened ")]
    consent = ledger.index(f"said event-{OPENING}-{ORDER[1]}")
    asked = [sentence for sentence in (await remains(folder)).sound if sentence.startswith(QUESTION)]
    assert asked
    assert all(place > consent for place in door), "before anybody said yes"
    return len(door)


@pytest.mark.shows("A24", "G1")
async def test_a_door_opens_once_where_nothing_stops(lives: Nursery, tmp_path: Path) -> None:
    boundaries(lives, tmp_path / "whole", OPENING)
    assert await opened(tmp_path / "whole") == 1


@pytest.mark.shows("A24", "G1")
async def test_a_door_opens_once_at_most_wherever_the_machine_stops(
    lives: Nursery, tmp_path: Path, every_step: bool
) -> None:
    """By kill -9 and by a cut of the power in turn, at every few boundaries from the order to the answer."""
    most = boundaries(lives, tmp_path / "whole", OPENING)
    found = []
    for first, way in sample([*product(range(2, 2 + EVERY), (1, -1))], 1, whole=every_step):
        for number, place in enumerate(range(first, most + 1, EVERY)):
            folder = tmp_path / f"{place}_{way}"
            told(lives, folder, OPENING, [-way * place if number % 2 else way * place])
            found.append(await opened(folder))
    assert set(found) == {0, 1}


async def test_a_door_that_was_opened_is_not_opened_again(lives: Nursery, tmp_path: Path) -> None:
    """The power goes right after it: nobody knows any more whether it did, and it is not repeated."""
    told(lives, tmp_path / "story", OPENING, [after_effect(1)])
    assert await opened(tmp_path / "story") == 1
    assert len(noted(tmp_path / "story" / "ledger", "born")) == 2
