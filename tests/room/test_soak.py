"""Four minutes of a household in seconds, of the four hours of `benchmarks/appliance/room_soak.py`: nothing grows."""

from pathlib import Path

import pytest

from tests.figures import figure
from tests.room.house import live
from tests.room.soak import AROUND, Soak, soak

pytestmark = [pytest.mark.room, pytest.mark.processor_seconds(400.0)]

LOOPS = 4


@pytest.mark.shows("V1")
def test_the_ears_leave_nothing_behind(tmp_path: Path) -> None:
    found = live(tmp_path, lambda house: soak(house, LOOPS), AROUND)
    figure(
        f"ears for {LOOPS} minutes, on three clocks up to 140 ppm apart",
        f"{found.resident[-1]:.0f} MB, {found.growth(found.resident):+.1%} over the second half, "
        f"objects {found.growth(found.objects):+.1%}, onsets drift by {found.drift * 1000:+.0f} ms, "
        f"{found.dropped_chunks} chunks lost, {found.taken_up} of {found.asked} questions taken up",
    )
    assert_nothing_grew(found)


def assert_nothing_grew(found: Soak) -> None:
    assert found.dropped_chunks == 0
    assert len(set(found.tasks)) == 1, found.tasks
    assert found.growth(found.resident) < 0.05, found.resident
    assert found.growth(found.objects) < 0.05, found.objects
    assert abs(found.drift) < 0.02, found.onset_errors
    assert found.taken_up >= 0.97 * found.asked - 1
