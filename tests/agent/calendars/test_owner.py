"""A calendar over the days: looked at, kept, and reminded of once each, over restarts, changes and outages."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.tools.tool import unmarked
from tests.agent.calendars.entries import alarm, calendar
from tests.agent.calendars.household import Home, a_home, at
from tests.agent.clock import MORNING

MINUTE, HOUR, DAY = 60, 3600, 86_400
QUARTER = alarm(":-PT15M")
IN_AN_HOUR = MORNING + timedelta(hours=1)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    async with a_home(tmp_path) as found:
        yield found


@pytest.mark.shows("X11")
async def test_an_alarm_comes_at_its_moment_and_once(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        await home.passes(44 * MINUTE)
        assert await home.reminders() == []
        await home.passes(MINUTE)
        (event,) = await home.reminders()
        assert event.content.startswith("A reminder of the calendar family: tell them in one sentence")
        told = json.loads(unmarked(event.content))
        assert told == {"title": "Dentist", "when": "Saturday 2026-11-21 12:00 to 13:00", "begin": "2026-11-21T12:00"}
        await home.passes(10 * MINUTE)
        await home.passes(HOUR)
    assert await home.titles() == ["Dentist"]


async def test_an_alarm_comes_once_over_restarts_whatever_became_of_its_event(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        await home.passes(46 * MINUTE)
    lease = await home.mailbox.take()
    await home.mailbox.complete(lease.event.id, "told", {})
    (home.folder / "calendars" / "family" / "index.json").unlink()  # not even the copy is there
    async with home.running():
        await home.passes(MINUTE)
    assert await home.reminders() == []


async def test_a_restart_without_a_network_reminds_from_the_copy(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        pass
    home.source.is_away = True
    async with home.running() as calendars:
        assert [name for name, _, _ in calendars.stale()] == ["family"]
        await home.passes(45 * MINUTE)
    assert await home.titles() == ["Dentist"]


async def test_after_a_day_off_nothing_past_is_reminded_of(home: Home) -> None:
    """Ten o'clock is over; what begins in five minutes was due while the machine was off, and is still worth a word."""
    soon = MORNING + timedelta(days=1, minutes=5)
    home.source.write(at(IN_AN_HOUR, *QUARTER), at(soon, *alarm(":-PT3H"), uid="2", title="Train"))
    async with home.running():
        pass
    home.clock.advance(DAY)
    async with home.running():
        pass
    assert await home.titles() == ["Train"]


async def test_what_was_moved_is_reminded_of_at_its_new_time_only(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        home.source.write(at(IN_AN_HOUR + timedelta(hours=2), *QUARTER))
        await home.passes(5 * MINUTE)
        await home.passes(40 * MINUTE)
        assert await home.reminders() == []
        await home.passes(2 * HOUR)
        assert await home.titles() == ["Dentist"]


async def test_what_was_moved_after_its_reminder_is_reminded_of_again(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        await home.passes(46 * MINUTE)
        home.source.write(at(IN_AN_HOUR + timedelta(hours=2), *QUARTER, title="Dentist, later"))
        await home.passes(5 * MINUTE)
        await home.passes(2 * HOUR)
    assert await home.titles() == ["Dentist", "Dentist, later"]


async def test_what_was_taken_out_is_not_reminded_of(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        home.source.write()
        await home.passes(5 * MINUTE)
        await home.passes(HOUR)
    assert await home.reminders() == []


async def test_minutes_of_the_configuration_are_for_what_has_no_alarm(home: Home) -> None:
    home.minutes = 30
    birthday = at(MORNING, uid="3", title="Birthday").replace("DTSTART:20261121T100000Z", "DTSTART;VALUE=DATE:20261122")
    home.source.write(at(IN_AN_HOUR), at(IN_AN_HOUR, *QUARTER, uid="2", title="Train"), birthday)
    async with home.running():
        await home.passes(30 * MINUTE)
        assert await home.titles() == ["Dentist"]
        await home.passes(15 * MINUTE)
        await home.passes(DAY)
    assert await home.titles() == ["Dentist", "Train"]  # a whole day has no minutes before it


async def test_alarms_of_strangers_do_not_ring(home: Home) -> None:
    home.has_alarms = False
    home.source.write(at(IN_AN_HOUR, *QUARTER))
    async with home.running():
        await home.passes(HOUR)
    assert await home.reminders() == []


async def test_a_hundred_alarms_at_once_are_five(home: Home) -> None:
    home.source.write(*(at(IN_AN_HOUR, *QUARTER, uid=f"{n}", title=f"{n}") for n in range(100)))
    async with home.running():
        await home.passes(45 * MINUTE)
        await home.passes(MINUTE)
    assert len(await home.reminders()) == 5


async def test_an_unchanged_calendar_is_looked_at_and_not_fetched_again_until_the_next_day(home: Home) -> None:
    async with home.running():
        assert (home.source.looks, home.source.bodies) == (1, 1)
        for _ in range(12):
            await home.passes(5 * MINUTE)
        assert (home.source.looks, home.source.bodies) == (13, 1)
        await home.passes(DAY)
        assert home.source.bodies == 2


async def test_a_calendar_that_is_away_is_left_alone_for_longer_and_longer(home: Home) -> None:
    home.source.is_away = True
    async with home.running() as calendars:
        waits = []
        for _ in range(8):
            until = home.clock.waits[-1]
            assert until is not None
            waits.append(round((until - home.clock()).total_seconds()))
            await home.passes(waits[-1])
        assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]
        assert calendars.describe()["family"]["reason"] == "it cannot be reached"  # type: ignore[index, call-overload]
        home.source.is_away = False
        await home.passes(HOUR)
        assert list(calendars.stale()) == []


async def test_what_is_no_calendar_any_more_leaves_the_copy_as_it_was(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR))
    async with home.running() as calendars:
        home.source.text = "<html>Please log in</html>"
        await home.passes(5 * MINUTE)
        assert calendars.all["family"].reason == "what it sends is no calendar"
        found = await calendars.find(MORNING, MORNING + timedelta(days=1))
    assert [each.occurrence.entry.title for each in found] == ["Dentist"]
    assert sorted(file.name for file in (home.folder / "calendars" / "family").iterdir()) == ["0.body", "index.json"]


async def test_a_clock_that_is_set_back_does_not_stop_the_looks(home: Home) -> None:
    async with home.running():
        await home.passes(-DAY)
        assert home.source.looks == 2


async def test_what_was_added_is_read_at_once(home: Home) -> None:
    async with home.running() as calendars:
        place = calendars.place()
        assert place is not None
        home.source.write(at(IN_AN_HOUR))
        await calendars.add(place, "tea", {"title": "Tea", "begin": "2026-11-24", "end": "2026-11-25"})
        found = await calendars.find(MORNING, MORNING + timedelta(days=1))
        assert [each.occurrence.entry.title for each in found] == ["Dentist"]


async def test_a_damaged_copy_is_none(home: Home) -> None:
    home.source.write(at(IN_AN_HOUR))
    async with home.running():
        pass
    (home.folder / "calendars" / "family" / "0.body").write_bytes(b"\x00")
    home.source.is_away = True
    async with home.running() as calendars:
        assert calendars.all["family"].agenda is None


def test_the_words_of_the_test_are_a_calendar() -> None:
    assert calendar(at(IN_AN_HOUR, *QUARTER)).count("BEGIN:VALARM") == 1
