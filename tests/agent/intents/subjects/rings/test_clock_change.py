"""An alarm in the hour that a change of the clocks skips or doubles: what is said is when it really rings."""

import pytest

from tests.agent.offline_talk import Talk, a_timer, at

SPRING = "2027-03-27"
SKIPPED = a_timer("", "14 hours", "2027-03-28 03:30:00 CEST")
DOUBLED = a_timer("", "14 hours", "2026-10-25 02:30:00 CEST")


@pytest.mark.shows("V23", "G13")
async def test_a_time_that_is_skipped(talk: Talk) -> None:
    talk.hear("set an alarm for half past two at night", at=at(20).replace(year=2027, month=3, day=27))
    assert await talk.calls(SKIPPED) == [("set_alarm", {"at": "2027-03-28T02:30", "label": ""})]
    assert await talk.says() == (
        "The alarm is set for half past three at night tomorrow. "
        "The clocks go forward then, and there is no earlier one."
    )


@pytest.mark.shows("V23", "G13")
async def test_a_time_that_is_skipped_in_chinese(talk: Talk) -> None:
    talk.hear("明天凌晨两点半叫我", at=at(20).replace(year=2027, month=3, day=27))
    assert await talk.calls(SKIPPED) == [("set_alarm", {"at": "2027-03-28T02:30", "label": ""})]
    assert (await talk.says()).startswith("闹钟已设在明天凌晨3点半。")


async def test_a_time_that_comes_twice(talk: Talk) -> None:
    summer = "Europe/Berlin (UTC+02:00)"
    talk.hear("set an alarm for half past two at night", at=at(20).replace(month=10, day=24), zone=summer)
    await talk.calls(DOUBLED)
    assert await talk.says() == (
        "The alarm is set for half past two at night tomorrow. The clocks go back then; it rings the first time."
    )


@pytest.mark.parametrize("zone", ["Europe/Berlin (UTC+01:00)", "nonsense", "", "../etc (UTC+01:00)", "UTC+08:00"])
async def test_any_other_time_is_told_as_it_is(talk: Talk, zone: str) -> None:
    talk.hear("set an alarm for half past two in the afternoon", zone=zone)
    await talk.calls("{}")
    assert "clocks" not in await talk.says()
