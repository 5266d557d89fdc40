"""Which of what rings is meant by its kind, its place or as each of several: my alarm; the second one; both timers."""

from pathlib import Path

import pytest

from tests.agent.intents.kitchen import a_kitchen

TEN, TWENTY, THIRTY = (f"2026-11-21 11:{minutes} {minutes} minutes" for minutes in (10, 20, 30))
SEVEN = "2026-11-22 07:00"


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        *(
            ("set a timer for ten minutes", then, TEN)
            for then in (
                *("delay my alarm by an hour", "move my alarm to eight", "push the alarm back by ten minutes"),
                *("make the alarm half an hour later", "cancel my alarm"),
            )
        ),
        ("set an alarm for seven tomorrow", "add five minutes to the timer", SEVEN),
        ("set an alarm for seven tomorrow", "pause the timer", SEVEN),
        ("设一个十分钟的计时器", "把闹钟推迟一个小时", "2026-11-21 11:10 10分钟"),
        ("设一个十分钟的计时器", "闹钟改到八点", "2026-11-21 11:10 10分钟"),
        ("明天七点叫我", "计时器加五分钟", SEVEN),
    ],
)
async def test_an_alarm_is_no_timer_and_a_timer_no_alarm(tmp_path: Path, first: str, then: str, left: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(first)
        await kitchen.hear(then)
        assert await kitchen.rings() == [left]


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("set an alarm in ten minutes", "add five minutes to the alarm", "15 minutes"),
        ("设一个十分钟的闹钟", "闹钟加五分钟", "15分钟"),
    ],
)
async def test_what_was_set_as_an_alarm_is_called_one(tmp_path: Path, first: str, then: str, left: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(first)
        await kitchen.hear(then)
        assert await kitchen.rings() == [f"2026-11-21 11:15 {left}"]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("add five minutes to the second one", [TEN, "2026-11-21 11:25 25 minutes", THIRTY]),
        ("give the last timer another five minutes", [TEN, TWENTY, "2026-11-21 11:35 35 minutes"]),
        ("第一个加五分钟", ["2026-11-21 11:15 15 minutes", TWENTY, THIRTY]),
        ("cancel all three timers", []),
        ("cancel both timers", [TEN, TWENTY, THIRTY]),
        ("两个计时器都取消", [TEN, TWENTY, THIRTY]),
        ("add five minutes to both timers", [TEN, TWENTY, THIRTY]),
        ("make both half an hour later", [TEN, TWENTY, THIRTY]),
        ("两个都加五分钟", [TEN, TWENTY, THIRTY]),
        ("and this one too", [TEN, TWENTY, THIRTY]),
        ("and the other one", [TEN, TWENTY, THIRTY]),
    ],
)
async def test_one_of_three_is_named_by_its_place_and_two_of_them_not_at_all(
    tmp_path: Path, words: str, left: list[str]
) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for length in ("ten", "twenty", "thirty"):
            await kitchen.hear(f"set a timer for {length} minutes")
        await kitchen.hear(words)
        assert [each.replace("分钟", " minutes") for each in await kitchen.rings()] == left


@pytest.mark.parametrize("words", ["cancel both timers", "stop both timers please", "两个都取消"])
async def test_both_of_two_are_cancelled(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for ten minutes")
        await kitchen.hear("set a timer for twenty minutes")
        await kitchen.hear(words)
        assert await kitchen.rings() == []


async def test_the_other_one_is_asked_after(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for ten minutes")
        await kitchen.hear("set a timer for twenty minutes")
        assert (await kitchen.hear("how long on the first one")).startswith("Ten minutes left")
        assert (await kitchen.hear("and the other one")).startswith("20 minutes left")
