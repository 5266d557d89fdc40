"""A clock that is set while timers wait: by the network after a boot without a battery, by hand, ahead and back."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.event import TIMER, USER_TEXT, Event
from agent.mailbox.mailbox import SCHEMA, Mailbox
from agent.time.clock_steps import ClockSteps
from agent.tools.timers import Timers
from memory.errors import StateUnusable
from memory.state import journal
from memory.state.database import Database
from tests.agent.clock import Clock

BOOTED = datetime(1970, 1, 1, 0, 0, 20, tzinfo=UTC)
TODAY = datetime(2027, 6, 15, 12, 0, tzinfo=UTC)
ASKED = Event(USER_TEXT, "set it")


class Box:
    """A mailbox, the clock on its wall, and the one that nobody sets."""

    def __init__(self, database: Database, start: datetime, ran: float = 0.0, zone: str = "UTC") -> None:
        self.wall = Clock(start)
        self.ran = ran
        steps = ClockSteps(self.wall, lambda: self.ran, ZoneInfo(zone))
        self.mailbox = Mailbox(database, self.wall, self.wall.wait, clock_steps=steps)
        self.timers = Timers(self.mailbox, self.wall, ZoneInfo(zone))

    def pass_time(self, seconds: float) -> None:
        self.ran += seconds
        self.wall.advance(seconds)

    def set_clock(self, moment: datetime) -> None:
        self.wall.advance((moment - self.wall()).total_seconds())

    async def due(self) -> list[datetime | None]:
        await self.mailbox.follow_clock()
        return [timer.not_before for timer in await self.mailbox.waiting(TIMER, None)]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA, journal.SCHEMA)
    yield database
    await database.close()


async def test_five_minutes_are_five_minutes_though_the_network_sets_the_clock_meanwhile(database: Database) -> None:
    box = Box(database, BOOTED)
    await box.timers.set_timer(ASKED, 300.0)
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(box.mailbox.take())
        await box.wall.someone_sleeps()
        box.pass_time(60.0)
        box.set_clock(TODAY)
        await box.wall.someone_sleeps()
        assert await box.due() == [TODAY + timedelta(seconds=240)]
        box.pass_time(239.0)
        await box.wall.someone_sleeps()
        assert not taken.done()
        box.pass_time(1.0)
        assert (await taken).event.type == TIMER


async def test_what_was_set_before_the_boot_was_set_by_a_clock_that_was_right(database: Database) -> None:
    yesterday = Box(database, TODAY - timedelta(minutes=10))
    await yesterday.timers.set_timer(ASKED, 1800.0)
    box = Box(database, TODAY - timedelta(minutes=9))  # as the disk remembers the time
    box.pass_time(5.0)
    box.set_clock(TODAY)
    assert await box.due() == [TODAY + timedelta(minutes=20)]


@pytest.mark.parametrize("hours", [(1, 1, 1), (-1, -1, -1), (2, -3, 50), (-50, 1, 3)])
async def test_each_step_moves_what_counts_those_set_between_steps_too(
    database: Database, hours: tuple[int, int, int]
) -> None:
    box = Box(database, TODAY)
    rests: list[float] = []
    for each in hours:
        await box.timers.set_timer(ASKED, 1800.0)
        rests = [*rests, 1800.0]
        box.pass_time(15.0)
        rests = [rest - 15.0 for rest in rests]
        box.set_clock(box.wall() + timedelta(hours=each))
        assert await box.due() == [box.wall() + timedelta(seconds=rest) for rest in rests]


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_timer_of_this_boot_is_moved_though_nakari_was_started_anew_between_two_steps(
    database: Database, hours: int
) -> None:
    before = Box(database, TODAY, ran=20.0)
    await before.timers.set_timer(ASKED, 1800.0)
    before.set_clock(TODAY + timedelta(hours=hours))
    await before.mailbox.follow_clock()
    before.pass_time(10.0)
    box = Box(database, before.wall(), before.ran)
    box.pass_time(5.0)
    box.set_clock(box.wall() + timedelta(hours=hours))
    assert await box.due() == [box.wall() + timedelta(seconds=1785)]


async def test_a_step_while_another_is_followed_is_followed_next(database: Database) -> None:
    box = Box(database, TODAY)
    await box.timers.set_timer(ASKED, 1800.0)
    box.set_clock(TODAY + timedelta(hours=1))
    async with asyncio.TaskGroup() as together:
        together.create_task(box.mailbox.follow_clock())
        await asyncio.sleep(0)
        box.set_clock(TODAY + timedelta(hours=2))
    assert await box.due() == [TODAY + timedelta(hours=2, minutes=30)]


async def test_a_series_comes_when_it_is_next_due_though_the_clock_was_years_ahead(database: Database) -> None:
    box = Box(database, TODAY)
    await box.timers.set_alarm(ASKED, "07:00", repeat="FREQ=DAILY")
    box.pass_time(10.0)
    box.set_clock(TODAY + timedelta(days=3000))
    assert (await box.mailbox.take()).event.type == TIMER
    box.pass_time(3.0)
    box.set_clock(TODAY + timedelta(seconds=13))
    assert await box.due() == [datetime(2027, 6, 16, 7, tzinfo=UTC)]


@pytest.mark.parametrize("hours", [-50, -1, 1, 50])
async def test_an_alarm_waits_for_its_time_and_a_timer_for_its_minutes(database: Database, hours: int) -> None:
    box = Box(database, TODAY)
    await box.timers.set_alarm(ASKED, (TODAY + timedelta(days=9)).isoformat())
    await box.timers.set_timer(ASKED, 7200.0, repeat=True)
    box.pass_time(600.0)
    box.set_clock(TODAY + timedelta(seconds=600, hours=hours))
    assert await box.due() == [TODAY + timedelta(hours=2 + hours), TODAY + timedelta(days=9)]


@pytest.mark.parametrize("wrong", [BOOTED, TODAY - timedelta(days=2), TODAY + timedelta(days=3000)])
async def test_an_alarm_that_was_set_by_a_clock_on_another_day_rings_at_its_hour(
    database: Database, wrong: datetime
) -> None:
    """A board without a battery does not know the day before the network tells it; who asks for seven means seven."""
    box = Box(database, wrong, zone="Europe/Berlin")  # an hour ahead of UTC in 1970, two in June
    await box.timers.set_alarm(ASKED, "07:00")
    box.pass_time(60.0)
    box.set_clock(TODAY)
    assert await box.due() == [datetime(2027, 6, 16, 5, tzinfo=UTC)]
    box.set_clock(TODAY + timedelta(days=2))
    assert await box.due() == [datetime(2027, 6, 18, 5, tzinfo=UTC)]


async def test_an_alarm_that_a_small_step_passes_over_is_late_and_not_gone(database: Database) -> None:
    box = Box(database, TODAY)
    await box.timers.set_alarm(ASKED, "12:30")
    box.set_clock(TODAY + timedelta(hours=1))
    assert await box.due() == [TODAY + timedelta(minutes=30)]


async def test_a_clock_that_is_slewed_moves_nothing(database: Database) -> None:
    box = Box(database, TODAY)
    await box.timers.set_timer(ASKED, 300.0)
    for _ in range(100):
        box.pass_time(1.0)
        box.set_clock(box.wall() + timedelta(milliseconds=10))
        assert await box.due() == [TODAY + timedelta(seconds=300)]


async def test_a_step_is_followed_once_the_disk_lets_it_be_written(database: Database) -> None:
    box = Box(database, TODAY)
    await box.timers.set_timer(ASKED, 300.0)
    box.set_clock(TODAY + timedelta(days=1))
    await database.close()
    with pytest.raises(StateUnusable, match="is not open"):
        await box.mailbox.follow_clock()
    await database.open(SCHEMA, journal.SCHEMA)
    assert await box.due() == [TODAY + timedelta(days=1, seconds=300)]
