"""What rings again and again: every hour within a day, and every day up to one that is named."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agent.intents.saying.spoken import every
from agent.time.series import occurrences
from tests.agent.offline_talk import Talk, a_timer, at

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("words", "first", "rule", "label"),
    [
        ("remind me every hour to drink water", "11:00", "FREQ=HOURLY;INTERVAL=1", "drink water"),
        ("Remind me every hour until four to look at it.", "11:00", "FREQ=HOURLY;INTERVAL=1;COUNT=6", "look at it"),
        ("remind me to stretch every twenty minutes", "10:20", "FREQ=MINUTELY;INTERVAL=20", "stretch"),
        ("set a reminder every half hour", "10:30", "FREQ=MINUTELY;INTERVAL=30", ""),
        ("nudge me every other hour to check the oven", "12:00", "FREQ=HOURLY;INTERVAL=2", "check the oven"),
        ("每两个小时提醒我给鸡翻身", "12:00", "FREQ=HOURLY;INTERVAL=2", "给鸡翻身"),
        ("每隔半小时提醒我喝水", "10:30", "FREQ=MINUTELY;INTERVAL=30", "喝水"),
        ("每小时提醒我起来走走", "11:00", "FREQ=HOURLY;INTERVAL=1", "起来走走"),
    ],
)
async def test_it_rings_within_a_day(talk: Talk, words: str, first: str, rule: str, label: str) -> None:
    talk.hear(words, at=at(9))
    [call] = await talk.calls(a_timer("", ""))
    assert call == ("set_alarm", {"at": f"2026-11-21T{first}", "label": label, "repeat": rule})
    assert await talk.says()


async def test_until_a_time_that_is_nearer_than_the_next_ring_it_is_not_set(talk: Talk) -> None:
    talk.hear("remind me every two hours until eleven to look at it", at=at(9))
    assert await talk.says() == "That time is past already."


async def test_what_would_ring_more_often_than_a_minute_is_asked_about(talk: Talk) -> None:
    talk.hear("remind me every ten seconds to breathe", at=at(9))
    assert (await talk.says()).startswith("When?")


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("wake me at half nine every day until Friday", "FREQ=DAILY;UNTIL=20261127T235959"),
        ("wake me at half nine every day up to and including Friday", "FREQ=DAILY;UNTIL=20261127T235959"),
        (
            "Right, I'm on the late tram till Friday, so wake me at half nine every day up to and including Friday.",
            "FREQ=DAILY;UNTIL=20261127T235959",
        ),
        ("wake me at nine every day until the fifth of December", "FREQ=DAILY;UNTIL=20261205T235959"),
        ("remind me every day at nine for ten days to take the drops", "FREQ=DAILY;UNTIL=20261130T235959"),
        ("remind me to take the drops every day at nine for two weeks", "FREQ=DAILY;UNTIL=20261204T235959"),
    ],
)
async def test_it_rings_up_to_a_day(talk: Talk, words: str, rule: str) -> None:
    talk.hear(words, at=at(7))
    [(tool, arguments)] = await talk.calls(a_timer("", ""))
    assert (tool, arguments["at"][:10], arguments["repeat"]) == ("set_alarm", "2026-11-21", rule)


def test_a_rule_that_ends_rings_on_its_last_day_too() -> None:
    start, before = datetime(2026, 11, 21, 9, 30), datetime(2026, 11, 21, tzinfo=UTC)  # noqa: DTZ001  on the wall
    rung = list(occurrences("FREQ=DAILY;UNTIL=20261127T235959", start, BERLIN, before))
    assert (len(rung), rung[-1].astimezone(BERLIN).isoformat()) == (7, "2026-11-27T09:30:00+01:00")
    hourly = list(occurrences("FREQ=HOURLY;INTERVAL=1;COUNT=6", start, BERLIN, before))
    assert [each.astimezone(BERLIN).hour for each in hourly] == [9, 10, 11, 12, 13, 14]


@pytest.mark.parametrize(
    ("rule", "english", "chinese"),
    [
        (
            "FREQ=DAILY;UNTIL=20261127T235959",
            "every day until Friday, the 27th of November 2026",
            "每天，到2026年11月27日，星期五为止",
        ),
        ("FREQ=HOURLY;INTERVAL=1", "every hour", "每小时"),
        ("FREQ=HOURLY;INTERVAL=2;COUNT=1", "every 2 hours, once", "每两小时，一共1次"),
        ("FREQ=MINUTELY;INTERVAL=30;COUNT=5", "every half hour, five times", "每半小时，一共5次"),
        ("FREQ=MINUTELY;INTERVAL=90", "every 1 hour 30 minutes", "每一个半小时"),
        ("FREQ=DAILY;INTERVAL=5", "every five days", "每5天"),
        ("FREQ=WEEKLY;INTERVAL=3", "every three weeks", "每3周"),
        ("FREQ=YEARLY;UNTIL=20261127T235959", "", ""),
    ],
)
def test_how_it_repeats_is_said(rule: str, english: str, chinese: str) -> None:
    assert (every(rule, "en"), every(rule, "zh")) == (english, chinese)
