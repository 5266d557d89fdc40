"""Several times of one breath are of one day, also where the first of them is over today."""

import pytest

from tests.agent.offline_talk import Talk, a_timer, at


async def _set(talk: Talk, words: str, hour: int, minute: int = 0) -> list[str]:
    """Return the times of what is set at this hour of UTC, an hour behind the clocks; each is told as its tool does."""
    talk.hear(words, at=at(hour, minute))
    times: list[str] = []
    while (calls := await talk.answer())[-1][0] != "complete_event":
        results: list[object] = []
        for tool, arguments in calls:
            if tool == "set_alarm":
                times.append(str(arguments["at"]))
                label, due = str(arguments["label"]), f"{times[-1].replace('T', ' ')}:00 CET"
            results.append(a_timer(label, "1 hour", due, f"t{len(times)}") if tool == "set_alarm" else "delivered")
        talk.result(*results)
    talk.result(*("delivered" for _ in calls))
    return times


@pytest.mark.parametrize(
    ("words", "times"),
    [
        ("三点提醒我吃药，四点提醒我喝水，五点提醒我锻炼", "22T15:00 22T16:00 22T17:00"),
        ("三点和五点提醒我吃药", "22T15:00 22T17:00"),
        ("三点半和四点各提醒我一次", "21T15:30 21T16:00"),
        ("三点提醒我吃药，晚上八点提醒我吃药", "22T15:00 22T20:00"),
        ("remind me at three to rest, at four to drink water and at five to exercise", "22T15:00 22T16:00 22T17:00"),
        ("remind me to rest at three, to drink water at four, and to exercise at five", "22T15:00 22T16:00 22T17:00"),
        ("remind me to rest at three and then at four to call mum", "22T15:00 22T16:00"),
        ("set alarms for three, four and five", "22T03:00 22T04:00 22T05:00"),
        ("定三点、四点和五点的闹钟", "22T03:00 22T04:00 22T05:00"),
    ],
)
async def test_what_is_over_today_takes_the_others_along(talk: Talk, words: str, times: str) -> None:
    assert await _set(talk, words, 14, 10) == [f"2026-11-{each}" for each in times.split()]


@pytest.mark.parametrize(
    ("words", "times"),
    [
        ("remind me at eight to take pills and at noon to eat and at six to walk", "21T20:00 21T12:00 21T18:00"),
        ("八点提醒我吃药，中午十二点提醒我吃饭，六点提醒我散步", "21T20:00 21T12:00 21T18:00"),
        ("set alarms for six, nine, eleven and half past eleven", "21T18:00 21T21:00 21T23:00 21T23:30"),
        ("wake me at seven and remind me at four to take the bread out", "22T07:00 21T16:00"),
        ("set an alarm for seven tomorrow, and remind me at four to take the bread out", "22T07:00 21T16:00"),
        ("明天七点提醒我吃药，晚上十点提醒我喝水", "22T07:00 21T22:00"),
        ("remind me at half past ten to lock up and at seven to call mum", "21T22:30 21T19:00"),
    ],
)
async def test_what_is_of_today_stays_so(talk: Talk, words: str, times: str) -> None:
    assert await _set(talk, words, 10) == [f"2026-11-{each}" for each in times.split()]


async def test_what_is_said_later_is_meant_by_itself(talk: Talk) -> None:
    assert await _set(talk, "remind me at three to rest", 14, 10) == ["2026-11-22T15:00"]
    assert await _set(talk, "remind me at four to drink water", 14, 11) == ["2026-11-21T16:00"]
