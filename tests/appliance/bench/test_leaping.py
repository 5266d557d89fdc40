"""Time that leaps: what was to happen meanwhile happens then, and everybody is told the time of the calendar."""

import asyncio
from datetime import UTC, datetime, timedelta

from agent.event import Event
from appliance.bench.rehearsal import Calendar, LeapingLoop
from memory.clock import utc_now, wall_clock
from memory.state.journal import Entry

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_what_was_to_happen_before_the_leap_is_over_happens_in_its_order() -> None:
    async def story() -> list[int]:
        loop, rang = asyncio.get_running_loop(), list[int]()
        assert isinstance(loop, LeapingLoop)
        for hours in (3, 1, 48):
            loop.call_later(hours * 3600, rang.append, hours)
        loop.leap(10 * 3600)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return rang

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        assert runner.run(story()) == [1, 3]


def test_events_and_entries_have_the_time_of_the_calendar() -> None:
    async def story() -> list[datetime]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, LeapingLoop)
        calendar = Calendar(loop, MONDAY)
        with wall_clock(calendar.now):
            calendar.leap_to(MONDAY + timedelta(days=100))
            calendar.leap_to(MONDAY)
            return [Event("x").created_at, Entry("x").at, await asyncio.to_thread(utc_now)]

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        for told in runner.run(story()):
            assert timedelta(days=100) <= told - MONDAY < timedelta(days=101)
    assert abs(utc_now() - datetime.now(UTC)) < timedelta(minutes=1), "afterwards the machine's own counts"
