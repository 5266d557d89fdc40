"""What comes again keeps to the clock on the wall over changes of the clocks, kills and outages, and comes once."""

import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.event import TIMER, Event
from agent.time.series import SERIES, BadRule, at_home, described, missed, occurrences, rule_of, successor
from agent.tools.timers import timer_tools
from agent.tools.tool import Call, run_tool
from memory.json_value import Json
from tests.agent.mailboxes import NothingDue, Rig, finish

BERLIN = ZoneInfo("Europe/Berlin")
ASKED = Event("asr_transcript", "wake me", session_id="desk", id="asked")


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    return wall(text).replace(tzinfo=UTC)


def local_times(rule: str, start: str, count: int) -> list[str]:
    """Return the first occurrences, as a clock on the wall in Berlin shows them."""
    begin = wall(start).replace(tzinfo=BERLIN) - timedelta(seconds=1)
    found = islice(occurrences(rule, wall(start), BERLIN, begin), count)
    return [f"{moment.astimezone(BERLIN):%m-%d %H:%M %Z}" for moment in found]


@pytest.mark.shows("V23", "G13")
@pytest.mark.parametrize(
    ("rule", "start", "expected"),
    [
        ("FREQ=DAILY", "2027-03-27T07:00", ["03-27 07:00 CET", "03-28 07:00 CEST", "03-29 07:00 CEST"]),
        ("FREQ=DAILY", "2027-10-30T07:00", ["10-30 07:00 CEST", "10-31 07:00 CET", "11-01 07:00 CET"]),
        ("FREQ=DAILY", "2027-03-27T02:30", ["03-27 02:30 CET", "03-28 03:30 CEST", "03-29 02:30 CEST"]),  # not there
        ("FREQ=DAILY", "2027-10-30T02:30", ["10-30 02:30 CEST", "10-31 02:30 CEST", "11-01 02:30 CET"]),  # twice there
        ("FREQ=WEEKLY;BYDAY=SA,SU", "2027-03-27T07:00", ["03-27 07:00 CET", "03-28 07:00 CEST", "04-03 07:00 CEST"]),
        ("FREQ=HOURLY;INTERVAL=12", "2027-03-27T20:00", ["03-27 20:00 CET", "03-28 09:00 CEST", "03-28 21:00 CEST"]),
        ("FREQ=DAILY;BYHOUR=7,19", "2027-10-30T07:00", ["10-30 07:00 CEST", "10-30 19:00 CEST", "10-31 07:00 CET"]),
        ("RRULE:FREQ=MONTHLY;BYMONTHDAY=31", "2027-01-31T09:00", ["01-31 09:00 CET", "03-31 09:00 CEST"]),
        ("freq=daily;count=2", "2027-01-01T09:00", ["01-01 09:00 CET", "01-02 09:00 CET"]),
    ],
)
def test_a_rule_keeps_to_the_wall_and_an_interval_to_what_has_passed(
    rule: str, start: str, expected: list[str]
) -> None:
    assert local_times(rule, start, 3)[: len(expected)] == expected


@pytest.mark.shows("V23")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    start=st.datetimes(wall("2026-01-01"), wall("2028-01-01")).map(lambda at: at.replace(microsecond=0)),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "UTC"]),
)
def test_every_day_comes_every_day_once_at_its_time_of_day_over_both_changes(start: datetime, zone: str) -> None:
    home = ZoneInfo(zone)
    begin = start.replace(tzinfo=home)
    moments = list(islice(occurrences("FREQ=DAILY", start, home, begin - timedelta(seconds=1)), 370))
    assert moments == sorted(set(moments))
    shown = [moment.astimezone(home).replace(tzinfo=None) for moment in moments]
    due = [start + timedelta(days=day) for day in range(len(shown))]
    moved = [at for at, wanted in zip(shown, due, strict=True) if at != wanted]
    assert len(moved) <= 2, "only a time that a change skips moves"
    assert all(
        timedelta(0) < at - wanted <= timedelta(hours=1) for at, wanted in zip(shown, due, strict=True) if at in moved
    )


@pytest.mark.parametrize(
    "rule",
    [
        *("", "daily", "FREQ=DAYLY", "FREQ=DAILY;COUNT=0", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=SECONDLY"),
        *("FREQ=DAILY\nEXRULE:FREQ=DAILY", "FREQ=DAILY;UNTIL=20200101T000000"),
        *("FREQ=DAILY;INTERVAL=0;BYMONTHDAY=31", "FREQ=YEARLY;BYMONTH=2;INTERVAL=-1", "FREQ=DAILY;BYEASTER=400"),
        *("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYSETPOS=5"),
        "FREQ=MINUTELY;BYSETPOS=5",
    ],
)
def test_what_is_no_recurrence_is_told(rule: str) -> None:
    with pytest.raises(BadRule):
        rule_of(rule, wall("2027-01-01T07:00"))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    start=st.datetimes(wall("2026-01-01"), wall("2400-12-31")),
    rule=st.sampled_from(
        ["FREQ=DAILY;COUNT=1", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "FREQ=WEEKLY;BYDAY=FR"]
    ),
)
def test_a_rule_that_comes_is_one_in_whatever_year_it_begins(start: datetime, rule: str) -> None:
    assert rule_of(rule, start)


def test_a_series_that_cannot_be_read_any_more_ends_and_costs_nobody_else_anything() -> None:
    event = daily(utc("2027-03-26T06:00"))
    series = event.metadata[SERIES]
    assert isinstance(series, dict)
    for broken in ({"zone": "Europe/Atlantis"}, {"rule": "FREQ=NEVER"}, {"number": "x"}):
        changed = replace(event, metadata={SERIES: {**series, **broken}})
        assert successor(changed, utc("2027-03-27T00:00")) is None


def daily(due: datetime) -> Event:
    start = due.astimezone(BERLIN).replace(tzinfo=None)
    return Event(TIMER, id="s", not_before=due, metadata={SERIES: described("FREQ=DAILY", start, "Europe/Berlin", "s")})


def test_the_next_one_is_later_than_now_and_one_stands_for_all_that_were_missed() -> None:
    event = daily(utc("2027-03-26T06:00"))
    assert missed(event, utc("2027-03-26T06:00:01")) == 0
    assert missed(event, utc("2027-03-29T12:00")) == 3
    again = successor(event, utc("2027-03-29T12:00"))
    assert again is not None
    assert (again.id, again.not_before) == ("s.2", utc("2027-03-30T05:00"))
    third = successor(again, utc("2027-03-20T00:00"))  # the clock was set back: it does not come again for that
    assert third is not None
    assert (third.id, third.not_before) == ("s.3", utc("2027-03-31T05:00"))
    assert successor(Event(TIMER, not_before=utc("2027-01-01")), utc("2027-01-02")) is None
    assert missed(Event(TIMER), utc("2027-01-02")) == 0
    skipped = successor(event, utc("2027-03-26T00:00"), after=utc("2027-03-27T22:59"))
    assert skipped is not None
    assert skipped.not_before == utc("2027-03-28T05:00")


def test_an_interval_that_began_years_ago_is_counted_from_its_last() -> None:
    series = described("FREQ=SECONDLY;INTERVAL=600", wall("1990-01-01T00:00"), "UTC", "s")
    event = Event(TIMER, id="s", not_before=utc("2026-11-21T10:03"), metadata={SERIES: series})
    again = successor(event, utc("2026-11-21T10:40"))
    assert again is not None
    assert again.not_before == utc("2026-11-21T10:43")


async def call(rig: Rig, name: str, **arguments: Json) -> dict[str, Json]:
    tools = {tool.name: tool for tool in timer_tools(rig.mailbox, rig.clock, "Europe/Berlin")}
    told = await run_tool(tools[name], json.dumps(arguments), Call("c1", ASKED))
    assert not told.startswith("error"), told
    found: dict[str, Json] = json.loads(told)
    return found


async def fires(rig: Rig) -> list[datetime]:
    """Handle what is due, and return for when it was set."""
    found: list[datetime] = []
    while True:
        try:
            hand = await rig.take_now()
        except NothingDue:
            return found
        await finish(rig, hand.event.id)
        assert hand.event.not_before is not None
        found.append(hand.event.not_before)


@pytest.mark.shows("V23", "G13", "A9")
async def test_every_day_at_seven_over_a_change_of_the_clocks_a_kill_and_a_weekend_without_power(rig: Rig) -> None:
    rig.clock.advance((utc("2027-03-26T20:00") - rig.clock()).total_seconds())
    told = await call(rig, "set_alarm", at="07:00", label="school", repeat="FREQ=DAILY")
    assert (told["due"], told["repeats"]) == ("2027-03-27 07:00:00 CET", "FREQ=DAILY")
    seen = []
    for hours in (10, 1, 23, 1):
        rig.clock.advance(hours * 3600)
        seen += await fires(rig)
    assert seen == [utc("2027-03-27T06:00"), utc("2027-03-28T05:00")]
    rig.clock.advance(24 * 3600)
    await rig.take_now()
    await rig.restart()
    assert await fires(rig) == [utc("2027-03-29T05:00")], "killed with it in hand: once, and the series goes on once"
    rig.clock.advance(3 * 86_400)
    assert await fires(rig) == [utc("2027-03-30T05:00")], "one stands for those that were missed"
    rig.clock.advance(86_400)
    assert len(await fires(rig)) == 1
    assert (await rig.mailbox.counts())["pending"] == 1


@pytest.mark.shows("V23", "A9")
async def test_an_interval_comes_again_until_it_is_cancelled_by_its_label(rig: Rig) -> None:
    await call(rig, "set_timer", seconds=1800, label="drink", repeat=True)
    for _ in range(3):
        rig.clock.advance(1800)
        assert len(await fires(rig)) == 1
    await call(rig, "cancel_timer", which="drink")
    rig.clock.advance(7200)
    assert await fires(rig) == []


@pytest.mark.shows("V23")
async def test_an_interval_that_is_set_between_two_seconds_comes_after_one_interval(rig: Rig) -> None:
    rig.clock.advance(0.4)
    await call(rig, "set_timer", seconds=1800, repeat=True)
    rig.clock.advance(1799.5)
    assert await fires(rig) == []
    for _ in range(3):
        rig.clock.advance(1800)
        assert len(await fires(rig)) == 1


@pytest.mark.shows("V23")
async def test_not_today_leaves_out_what_is_left_of_today_and_no_more(rig: Rig) -> None:
    await call(rig, "set_timer", seconds=3600, label="drink", repeat=True)
    told = await call(rig, "cancel_timer", which="drink", day="today")
    assert told["next"]["due"] == "2026-11-22 00:00:00 CET"  # type: ignore[index, call-overload]
    rig.clock.advance(12 * 3600)
    assert await fires(rig) == []
    rig.clock.advance(3600)
    assert len(await fires(rig)) == 1


@pytest.mark.shows("V23")
async def test_not_tomorrow_leaves_out_one_day_and_no_more(rig: Rig) -> None:
    await call(rig, "set_alarm", at="07:30", repeat="FREQ=DAILY")
    told = await call(rig, "cancel_timer", day="tomorrow")
    assert told["next"]["due"] == "2026-11-23 07:30:00 CET"  # type: ignore[index, call-overload]
    rig.clock.advance(86_400)
    assert await fires(rig) == []
    rig.clock.advance(86_400)
    assert len(await fires(rig)) == 1
    rig.clock.advance(86_400)
    assert len(await fires(rig)) == 1


@pytest.mark.shows("V23")
async def test_not_tomorrow_keeps_what_comes_today(rig: Rig) -> None:
    await call(rig, "set_alarm", at="11:30", label="hens", repeat="FREQ=DAILY")
    told = await call(rig, "cancel_timer", which="hens", day="tomorrow")
    assert told["next"]["due"] == "2026-11-21 11:30:00 CET"  # type: ignore[index, call-overload]
    rig.clock.advance(3600)
    assert len(await fires(rig)) == 1
    rig.clock.advance(86_400)
    assert await fires(rig) == []
    rig.clock.advance(86_400)
    assert len(await fires(rig)) == 1


@pytest.mark.shows("V23")
async def test_not_tomorrow_keeps_all_that_comes_today(rig: Rig) -> None:
    await call(rig, "set_timer", seconds=6 * 3600, repeat=True)
    await call(rig, "cancel_timer", day="tomorrow")
    counts = []
    for _ in range(7):
        rig.clock.advance(6 * 3600)
        counts.append(len(await fires(rig)))
    assert counts == [1, 1, 0, 0, 0, 0, 1]


@pytest.mark.shows("V23")
async def test_a_day_further_away_is_left_out_and_those_before_it_come(rig: Rig) -> None:
    await call(rig, "set_alarm", at="2026-11-22T07:30", repeat="FREQ=DAILY")
    await call(rig, "cancel_timer", day="2026-11-24")
    await call(rig, "cancel_timer", day="2026-11-26")
    days = []
    for _ in range(7):
        rig.clock.advance(86_400)
        days.append(len(await fires(rig)))
    assert days == [1, 1, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("days", "rings"),
    [
        ("2026-11-24/2026-11-26", [1, 1, 0, 0, 0, 1, 1]),
        ("today/2026-11-24", [0, 0, 0, 1, 1, 1, 1]),
    ],
)
async def test_days_on_end_are_left_out(rig: Rig, days: str, rings: list[int]) -> None:
    await call(rig, "set_alarm", at="2026-11-22T07:30", repeat="FREQ=DAILY")
    await call(rig, "cancel_timer", day=days)
    found = []
    for _ in rings:
        rig.clock.advance(86_400)
        found.append(len(await fires(rig)))
    assert found == rings


async def test_what_comes_on_the_day_itself_is_the_next_after_it(rig: Rig) -> None:
    await call(rig, "set_alarm", at="2026-11-22T07:30", repeat="FREQ=DAILY")
    await call(rig, "cancel_timer", day="2026-11-23")
    told = await call(rig, "cancel_timer", day="2026-11-22")
    assert told["next"]["due"] == "2026-11-24 07:30:00 CET"  # type: ignore[index, call-overload]


async def test_what_is_no_day_is_told(rig: Rig) -> None:
    await call(rig, "set_alarm", at="07:30", repeat="FREQ=DAILY")
    tools = {tool.name: tool for tool in timer_tools(rig.mailbox, rig.clock, "Europe/Berlin")}
    told = await run_tool(tools["cancel_timer"], '{"day": "Friday"}', Call("c1", ASKED))
    assert told == "error: 'Friday' is no day; write it as 2026-11-27"


@pytest.mark.shows("V23")
@pytest.mark.parametrize(
    ("repeat", "day", "words"),
    [
        ("FREQ=WEEKLY;BYDAY=SA", "tomorrow", "does not come then"),
        ("FREQ=WEEKLY;BYDAY=MO", "tomorrow", "does not come then"),
        ("FREQ=WEEKLY;BYDAY=MO", "2026-11-24/2026-11-29", "does not come then"),
        ("FREQ=DAILY", "2026-11-24/tomorrow", "no days on end"),
        ("FREQ=DAILY", "2026-11-24/2027-11-24", "no days on end"),
    ],
)
async def test_what_cannot_be_left_out_is_told(rig: Rig, repeat: str, day: str, words: str) -> None:
    await call(rig, "set_alarm", at="11:30", repeat=repeat)
    tools = {tool.name: tool for tool in timer_tools(rig.mailbox, rig.clock, "Europe/Berlin")}
    assert words in await run_tool(tools["cancel_timer"], json.dumps({"day": day}), Call("c1", ASKED))
    assert len(await rig.mailbox.waiting(TIMER, ASKED.owner_key)) == 1


TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.mark.shows("V23")
@pytest.mark.parametrize("again", [{}, {"repeat": "FREQ=DAILY"}, {"repeat": "FREQ=WEEKLY;BYDAY=MO,WE"}])
async def test_an_alarm_keeps_its_time_of_the_clock_where_its_home_gets_another_zone(
    rig: Rig, again: dict[str, Json]
) -> None:
    await call(rig, "set_alarm", at="07:30", **again)
    (alarm,) = await rig.mailbox.waiting(TIMER, ASKED.owner_key)
    moved = at_home(alarm, TOKYO, rig.clock())
    following = [moved, *([successor(moved, moved.not_before)] if again and moved.not_before else [])]
    for each in following:
        assert each is not None
        assert each.not_before is not None
        assert each.not_before > rig.clock()
        assert f"{each.not_before.astimezone(TOKYO):%H:%M}" == "07:30"
    assert at_home(moved, TOKYO, rig.clock()) == moved
    assert at_home(moved, BERLIN, rig.clock()).not_before == alarm.not_before


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("set_timer", {"seconds": 600}),
        ("set_timer", {"seconds": 600, "repeat": True}),
        ("set_alarm", {"at": "2026-12-24T06:30Z"}),
        ("set_alarm", {"at": "2026-12-24 06:30:00 UTC"}),
        ("set_alarm", {"at": "07:30+01:00"}),
    ],
)
async def test_what_counts_or_names_its_zone_stays_where_it_is(rig: Rig, tool: str, arguments: dict[str, Json]) -> None:
    await call(rig, tool, **arguments)
    (timer,) = await rig.mailbox.waiting(TIMER, ASKED.owner_key)
    assert at_home(timer, TOKYO, rig.clock()) == timer


async def test_an_alarm_whose_time_has_passed_in_the_other_zone_comes_the_next_day_there(rig: Rig) -> None:
    here = rig.clock().astimezone(BERLIN)
    await call(rig, "set_alarm", at=f"{here + timedelta(hours=2):%H:%M}")
    (alarm,) = await rig.mailbox.waiting(TIMER, ASKED.owner_key)
    moved = at_home(alarm, TOKYO, rig.clock()).not_before
    assert moved is not None
    assert moved.astimezone(TOKYO) == (here + timedelta(days=1, hours=2)).replace(tzinfo=TOKYO)


@pytest.mark.parametrize("again", [{}, {"repeat": "FREQ=DAILY"}])
async def test_what_came_due_before_its_home_got_another_zone_is_still_due(rig: Rig, again: dict[str, Json]) -> None:
    await call(rig, "set_alarm", at="11:30", **again)
    (alarm,) = await rig.mailbox.waiting(TIMER, ASKED.owner_key)
    rig.clock.advance(7200)
    assert at_home(alarm, TOKYO, rig.clock()).not_before == alarm.not_before


@pytest.mark.shows("V23")
async def test_a_clock_that_is_set_back_after_the_ring_brings_no_second_one(rig: Rig) -> None:
    await call(rig, "set_alarm", at="11:30", repeat="FREQ=DAILY")
    rig.clock.advance(1800)
    assert len(await fires(rig)) == 1
    rig.clock.advance(-3600)
    assert await fires(rig) == []
    rig.clock.advance(3600)
    assert await fires(rig) == []
    rig.clock.advance(86_400)
    assert len(await fires(rig)) == 1
