"""One thing at several hours, and what is taken back in the same breath: at ten, two and six; no, not bread, rolls."""

from pathlib import Path

import pytest

from agent.intents.intent import Intent
from agent.intents.reading.understanding import load_understanding
from tests.agent.intents.kitchen import a_kitchen

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("remind me to take my pills at ten two and six", "take my pills"),
        ("remind me to take my pills at ten, two and six", "take my pills"),
        ("at ten, two and six remind me to take my pills", "take my pills"),
        ("十点两点和六点提醒我吃药", "吃药"),
        ("提醒我十点、两点和六点吃药", "吃药"),
        ("十点、两点、六点提醒我吃药", "吃药"),
    ],
)
async def test_three_hours_of_one_thing_are_three(tmp_path: Path, words: str, what: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == [f"2026-11-21 {hour}:00 {what}" for hour in (14, 18, 22)]


@pytest.mark.parametrize(
    "words",
    [
        "remind me every day at eight, noon and six to take my pills",
        "remind me to take my pills every day at eight, noon and six",
        "每天早上八点中午十二点晚上六点提醒我吃药",
        "每天八点十二点六点提醒我吃药",
        "每天8点、12点、18点提醒我吃药",
        "每天8点、12点、6点提醒我吃药",
    ],
)
async def test_the_hours_of_a_day_go_past_noon(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        set_ = [each.split(" ")[1] for each in await kitchen.rings()]
        assert set_ == ["12:00", "18:00", "08:00"]


async def test_an_hour_and_its_minutes_are_one_time(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("remind me to call anna at six ten")
        assert await kitchen.rings() == ["2026-11-21 18:10 call anna"]


@pytest.mark.parametrize(
    ("words", "item"),
    [
        ("put bread no not bread rolls on the list", "rolls"),
        ("add eggs and milk, no, not milk, cream to the shopping list", "eggs and cream"),
    ],
)
def test_a_thing_that_is_taken_back_is_not_put_on_a_list(words: str, item: str) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.text("item")) == ("list_add", item)


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ("三分钟后叫我，不对，五分钟", {"minutes": 5}),
        ("三分钟后提醒我关火，哦不，五分钟", {"minutes": 5, "label": "关火"}),
        ("半小时后叫我，说错了，一刻钟", {"minutes": 15}),
    ],
)
def test_a_length_that_is_taken_back_is_not_counted(words: str, length: dict[str, int | str]) -> None:
    assert UNDERSTAND(words) == Intent("timer_start", length)


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("forget the candles", []),
        ("forget about the candles", []),
        ("forget the candle shop's address", ["2026-11-22 09:00 buy candles"]),
        ("forget that i like candles", ["2026-11-22 09:00 buy candles"]),
    ],
)
async def test_what_was_to_be_reminded_of_is_forgotten_as_such(tmp_path: Path, words: str, left: list[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("remind me tomorrow at nine to buy candles")
        await kitchen.hear(words)
        assert await kitchen.rings() == left


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("wake me tomorrow at six", "i might move the alarm to seven"),
        ("wake me tomorrow at six", "i'm thinking of moving the alarm to seven"),
        ("明天早上六点叫我", "我可能要把闹钟改到七点"),
    ],
)
async def test_who_only_thinks_of_it_moves_nothing(tmp_path: Path, first: str, then: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(first)
        await kitchen.hear(then)
        assert await kitchen.rings() == ["2026-11-22 06:00"]


@pytest.mark.parametrize("words", ["no not ten twelve", "not ten twelve", "i said twelve not ten", "twelve not ten"])
async def test_the_number_that_is_denied_is_the_other_one(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for ten minutes")
        await kitchen.hear(words)
        assert await kitchen.rings() == ["2026-11-21 11:12 12 minutes"]


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("set a time her for ten minutes", 600),
        ("set something for twenty minutes", 1200),
        ("俩钟头以后喊我", 7200),
        ("定仨小时的计时器", 10800),
    ],
)
def test_a_timer_by_whatever_it_is_called_counts_down(words: str, seconds: int) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.seconds(), found.text("label")) == ("timer_start", seconds, "")


@pytest.mark.parametrize(
    ("words", "times"),
    [
        ("remind me on friday to put the bins out and again on saturday", ["27 09:00", "28 09:00"]),
        ("remind me to put the bins out on friday and again on saturday", ["27 09:00", "28 09:00"]),
        ("remind me on friday to put the bins out and on saturday too", ["27 09:00", "28 09:00"]),
        ("remind me at five tomorrow to put the bins out and again on friday", ["22 17:00", "27 17:00"]),
    ],
)
async def test_what_is_wanted_again_on_another_day_rings_on_both(tmp_path: Path, words: str, times: list[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == [f"2026-11-{each} put the bins out" for each in times]
