"""What comes again rings each time, also while the mind is busy; what was missed is told once."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.event import TIMER, Event
from agent.time.series import SERIES, described
from appliance.timers.due import DueTimer
from appliance.timers.words import is_stop_for_today, told
from tests.agent.clock import MORNING
from tests.appliance.ringing_room import RingingRoom, ringing_room


def hourly() -> Event:
    series = described("FREQ=HOURLY", MORNING.replace(tzinfo=None), "UTC", "s")
    due = MORNING + timedelta(hours=1)
    return Event(
        TIMER, "Timer 'drink' (1 hour) is due.", "s", not_before=due, metadata={"label": "drink", SERIES: series}
    )


async def pass_an_hour(room: RingingRoom) -> None:
    """Let an hour go by in which the ring of its end ends too."""
    for seconds in (3600 - 120, 120):
        room.clock.advance(seconds)
        await room.settle()
        await room.settle()


@pytest.mark.shows("V23", "A9")
async def test_each_occurrence_rings_once_though_the_mind_takes_none(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.state.mailbox.enqueue(hourly())
        for _ in range(3):
            await pass_an_hour(room)
        assert await room.rang() == [("s", 0.0), ("s.2", 0.0), ("s.3", 0.0)]
        assert (await room.state.mailbox.counts())["pending"] == 4


@pytest.mark.shows("V23")
async def test_a_cancelled_series_rings_no_more(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.state.mailbox.enqueue(hourly())
        await pass_an_hour(room)
        assert await room.state.mailbox.withdraw("s.2", "cancelled")
        await pass_an_hour(room)
        assert await room.rang() == [("s", 0.0)]


@pytest.mark.shows("V23", "A9")
async def test_after_a_day_without_power_one_ring_stands_for_all(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.state.mailbox.enqueue(hourly())
    async with ringing_room(tmp_path, MORNING + timedelta(hours=4, minutes=30)) as room:
        await room.rings(1)
        assert await room.rang() == [("s", 12_600.0)]
        assert room.said[0] == "Timer: drink. It was due three hours ago. And three more times since."
        again = await room.state.mailbox.find("s.2")
        assert again is not None
        assert again.due_at == MORNING + timedelta(hours=5)


@pytest.mark.shows("V23")
async def test_a_snoozed_occurrence_comes_once_and_the_series_goes_on(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.state.mailbox.enqueue(hourly())
        await pass_an_hour(room)
        room.clock.advance(3600)
        await room.rings(2)
        assert await room.here.take("snooze")
    async with ringing_room(tmp_path, MORNING + timedelta(hours=2, minutes=5)) as room:  # a kill, and five minutes
        await room.rings(1)
        assert len(await room.rang()) == 3
        assert (await room.state.mailbox.counts())["pending"] == 4, "s, s.2, the snoozed one, and one s.3"


@pytest.mark.shows("V23")
async def test_stop_for_today_leaves_out_what_is_left_of_the_day(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.state.mailbox.enqueue(hourly())
        room.clock.advance(3600)
        await room.rings(1)
        assert not await room.here.take("what a day today")
        assert await room.here.take("Stop for today.")
        assert await room.stops() == ["Stop for today."]
        waiting = await room.state.mailbox.waiting(TIMER, "household")
        first, *later = [event.not_before for event in waiting]
        assert first == MORNING + timedelta(hours=1), "the mind has not taken it yet"
        assert later == [MORNING + timedelta(hours=14)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [("Stop for today.", True), ("Not today!", True), ("今天别响了", True), ("Stop.", False), ("see you today", False)],
)
def test_which_words_are_for_the_whole_day(words: str, expected: bool) -> None:
    assert is_stop_for_today(words) is expected


def test_what_was_missed_is_said_in_both_languages() -> None:
    late = DueTimer(replace(hourly(), metadata={"label": "tea"}), 7200.0, 1)
    assert told([late], "en").text == "Timer: tea. It was due two hours ago. And once more since."
    chinese = DueTimer(replace(hourly(), metadata={"label": "喝水"}), 7200.0, 2)
    assert told([chinese], "en").text.endswith("两小时前就该响了。 之后还有2次。")
