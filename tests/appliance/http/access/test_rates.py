import pytest

from appliance.http.access.who import MOST, Rate
from tests.appliance.http.served import Clock

pytestmark = pytest.mark.shows("F25")


def test_all_of_a_minute_may_be_used_at_once_and_comes_back_evenly() -> None:
    clock = Clock()
    rate = Rate(60, clock)
    assert [rate.take("ada") for _ in range(60)] == [0.0] * 60
    assert rate.take("ada") == 1.0
    assert rate.take("bob") == 0.0
    clock.now += 0.5
    assert rate.take("ada") == 0.5
    clock.now += 2.5
    assert [rate.take("ada") for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]
    clock.now += 3600
    assert rate.wait("ada") == 0.0
    assert [rate.take("ada") for _ in range(61)][-2:] == [0.0, 1.0], "what is not used is not saved up"


def test_many_who_ask_take_no_more_room_than_so_many() -> None:
    rate = Rate(1, Clock())
    assert rate.take("first") == 0.0
    for number in range(MOST):
        assert rate.take(str(number)) == 0.0
    assert rate.take("first") == 0.0
    assert rate.take(str(MOST - 1)) > 0
