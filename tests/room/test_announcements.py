"""In the simulated room nothing unasked is said over anybody: a seeded sample of `benchmarks/room/announcements.py`."""

from pathlib import Path

import pytest

from tests.room.announcing import AROUND, Manners, manners
from tests.room.house import House, live

pytestmark = pytest.mark.room


@pytest.mark.shows("V24", "G14")
def test_nothing_unasked_is_said_over_anybody(tmp_path: Path) -> None:
    async def story(house: House) -> Manners:
        return await manners(house, 8, seed=3)

    told = live(tmp_path, story, AROUND)
    assert told.over_somebody == ()
    assert told.said >= 5
    assert told.wanted == 8 == sum(told.outcomes.values()) + told.left
    assert told.median_wait < 60
