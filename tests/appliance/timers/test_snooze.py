"""Snooze: for how long, in English and Chinese, and that the same timer rings again."""

from pathlib import Path

import pytest

from appliance.timers.due import STOPPED
from appliance.timers.words import snooze_minutes
from tests.appliance.ringing_room import ringing_room


@pytest.mark.shows("V16", "V23")
@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("Snooze.", 5),
        ("Nakari, snooze please", 5),
        ("remind me later", 5),
        ("snooze ten minutes", 10),
        ("Snooze for 10 minutes.", 10),
        ("snooze for an hour", 60),
        ("half an hour", 30),
        ("seventy minutes", 70),
        ("ring again in twenty five minutes", 25),
        ("five more minutes", 5),
        ("five minutes longer", 5),
        ("snooze for thirty seconds", 0.5),
        ("稍后提醒我", 5),
        ("再过十分钟", 10),
        ("推迟十五分钟", 15),
        ("再睡二十五分钟吧", 25),
        ("过半个小时再响", 30),
        ("30秒后再响", 0.5),
        ("stop", None),
        ("snooze for ever", None),
        ("snooze for fish minutes", None),
        ("ten twenty minutes", None),
        ("snooze for 900 hours", None),
        ("zero minutes", None),
        (f"snooze for {'9' * 5000} minutes", None),
        ("how many minutes are left", None),
        ("停", None),
        ("过十十分钟", None),
    ],
)
def test_how_long_is_meant(words: str, minutes: float | None) -> None:
    assert snooze_minutes(words) == (None if minutes is None else pytest.approx(minutes))


@pytest.mark.shows("V16", "V23")
async def test_a_snoozed_timer_is_silent_at_once_and_rings_again(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        first = await room.set(5)
        await room.settle()
        room.clock.advance(5)
        await room.rings(1)
        assert not await room.here.take("what time is it")
        assert await room.here.take("snooze ten minutes")
        assert not room.ringer.is_ringing
        await room.settle()
        room.clock.advance(9 * 60 + 59)
        await room.settle()
        assert len(await room.rang()) == 1
        room.clock.advance(1)
        await room.rings(2)
        (_, (again, late)) = await room.rang()
        assert late == 0.0
        assert again != first.id
        assert room.said == ["Timer: pasta."] * 2
        assert [entry.event_id for entry in await room.state.journal.entries(topic=STOPPED)] == [first.id]


async def test_words_that_ask_for_a_time_mean_nothing_while_nothing_rings(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        assert not await room.here.take("snooze")
        assert not await room.here.take("ten minutes")
