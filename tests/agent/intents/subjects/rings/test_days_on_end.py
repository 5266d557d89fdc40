"""Days on end on which something rings, or does not: no alarms next week; wake me at seven until Friday; 接下来三天."""

from pathlib import Path

import pytest

from tests.agent.intents.kitchen import a_kitchen

DAILY = "FREQ=DAILY"


@pytest.mark.parametrize(
    ("words", "next_"),
    [
        ("no alarms this week", "23"),
        ("turn off my alarm for the rest of the week", "23"),
        ("no alarms until wednesday", "25"),
        ("don't wake me for the next three days", "25"),
        ("no alarm on saturday and sunday", "23"),
        ("no alarms on monday and thursday", "22"),
        ("don't wake me until nine", "22"),
        ("skip the alarm next week", "22"),
        ("这周不用叫我", "23"),
        ("接下来三天别叫我", "25"),
        ("明后天不用叫我", "24"),
        ("周三之前别叫我", "25"),
        ("下周都不用叫我了", "22"),
    ],
)
async def test_days_on_end_are_left_out(tmp_path: Path, words: str, next_: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("wake me every day at seven")
        await kitchen.hear(words)
        assert await kitchen.rings() == [f"2026-11-{next_} 07:00 {DAILY}"]


async def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("wake me every weekday at seven")
        assert "after that it rings as before" in await kitchen.hear("no alarms next week")
        assert await kitchen.rings() == ["2026-11-30 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"]
        assert (await kitchen.hear("no alarms this week")).startswith("No alarm is set for Saturday")


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("wake me at seven every day till the end of the month", f"22 07:00 {DAILY};UNTIL=20261130T235959"),
        ("wake me at seven for the next three days", f"22 07:00 {DAILY};UNTIL=20261124T235959"),
        ("wake me at six this week", f"22 06:00 {DAILY};UNTIL=20261122T235959"),
        (
            "remind me to take the pills at nine for the next five days",
            f"22 09:00 {DAILY};UNTIL=20261126T235959 take the pills",
        ),
        ("每天七点叫我到周五为止", f"22 07:00 {DAILY};UNTIL=20261127T235959"),
        ("到周五为止每天七点叫我", f"22 07:00 {DAILY};UNTIL=20261127T235959"),
        ("每天七点叫我到月底", f"22 07:00 {DAILY};UNTIL=20261130T235959"),
        ("接下来三天七点叫我", f"22 07:00 {DAILY};UNTIL=20261124T235959"),
        ("连续三天晚上九点提醒我吃药", f"21 21:00 {DAILY};UNTIL=20261123T235959 吃药"),
        ("a week from today remind me at noon to water the plants", "28 12:00 water the plants"),
        ("remind me a week today at nine to pay", "28 09:00 pay"),
        ("remind me next week on tuesday at nine to pay", "24 09:00 pay"),
        ("一周后的今天上午九点提醒我交房租", "28 09:00 交房租"),
        ("set a timer until six", "21 18:00"),
        ("晚上八点提醒我看这周的新闻", "21 20:00 看这周的新闻"),
    ],
)
async def test_days_on_end_and_weeks_ahead_are_read(tmp_path: Path, words: str, set_: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == [f"2026-11-{set_}"]


async def test_the_week_after_next_is_another_one(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("下下周二上午九点提醒我交房租")
        assert await kitchen.rings() == ["2026-12-01 09:00 交房租"]


@pytest.mark.parametrize(
    "words", ["wake me at six while i'm on holiday", "set an alarm for seven for the next three days"]
)
async def test_days_that_were_not_read_set_nothing(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("mum says wake her at seven", "wake her at seven"),
        ("my sister thinks you should wake me at seven", "wake me at seven"),
        ("tom wants to be woken at seven", "be woken at seven"),
        ("妈妈说定一个明天早上七点的闹钟", "定一个明天早上七点的闹钟"),
    ],
)
async def test_what_somebody_else_wants_is_asked_about_first(tmp_path: Path, words: str, asked: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert asked in await kitchen.hear(words)
        assert await kitchen.rings() == []
        await kitchen.hear("是的" if words.startswith("妈") else "yes")
        assert await kitchen.rings() in (["2026-11-22 07:00"], ["2026-11-22 07:00 wake her"])


@pytest.mark.parametrize(
    "words", ["dad says cancel the alarm", "mum told me to move the alarm to eight", "爸爸说取消闹钟"]
)
async def test_what_somebody_else_wants_moves_and_cancels_nothing_at_once(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("wake me tomorrow at seven")
        await kitchen.hear(words)
        assert await kitchen.rings() == ["2026-11-22 07:00"]


async def test_what_was_said_before_an_order_is_no_order(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("my boss wants me in at eight so wake me at six")
        assert await kitchen.rings() == ["2026-11-22 06:00"]
