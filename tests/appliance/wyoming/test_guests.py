"""Who may come in by Wyoming: by the address at the other end, and on this machine by its user."""

import pytest
from structlog.testing import capture_logs

from appliance.wyoming.guests import Guests, guests_of
from tests.appliance.wyoming.rig import Rig

pytestmark = pytest.mark.shows("X13", "H5")

HERE = ("127.0.0.1", 10300)


def of_user(uid: int | None, *networks: str) -> Guests:
    return Guests(guests_of(networks).networks, lambda peer, here: uid, lambda user: user == 7)


@pytest.mark.parametrize(
    ("peer", "networks", "fix"),
    [
        ("192.168.1.5", ["192.168.1.0/24"], ""),
        ("::ffff:192.168.1.5", ["192.168.1.0/24"], ""),
        ("fd00::5", ["fd00::/8"], ""),
        ("192.168.2.5", ["192.168.1.0/24"], "192.168.2.5 is not named in [wyoming] networks"),
        ("192.168.1.5", [], "192.168.1.5 is not named in [wyoming] networks"),
        ("127.0.0.1", [], "user 8 of this machine is not of the household"),
        ("127.0.0.1", ["127.0.0.1"], ""),
    ],
)
def test_others_come_from_where_they_were_named(peer: str, networks: list[str], fix: str) -> None:
    told = of_user(8, *networks).refusal((peer, 5000), HERE)
    assert told.startswith(fix)
    assert bool(told) == bool(fix)


def test_a_program_of_this_machine_comes_as_its_user() -> None:
    assert of_user(7).refusal(("127.0.0.1", 5000), HERE) == ""
    assert "put the user into the group nakari" in of_user(8).refusal(("127.0.0.1", 5000), HERE)
    assert "gone at once" in of_user(None).refusal(("127.0.0.1", 5000), HERE)


async def test_whoever_may_not_come_is_sent_away_before_a_word_is_read() -> None:
    async with Rig(guests=of_user(8)).open() as rig:
        with capture_logs() as logs:
            assert await rig.sends(b'{"type": "describe"}\n') == b""
        assert [line["event"] for line in logs] == ["wyoming_connection_refused"]
        assert rig.server.describe() == {"connections": 0, "last": ""}


async def test_the_household_comes_by_the_kernels_table() -> None:
    async with Rig(guests=guests_of([])).open() as rig:
        assert await rig.still_answers()
