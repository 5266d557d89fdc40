"""What "it", "the other one" and a name put right mean, where more than one thing rings."""

from pathlib import Path

import pytest

from agent.intents.reading.understanding import load_understanding
from agent.intents.subjects.listed_things import things
from tests.agent.intents.household import a_home
from tests.agent.intents.kitchen import a_kitchen

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            [
                "set a timer for the pasta for nine minutes",
                "and the sauce for twenty",
                "how long on the pasta",
                "give it two more minutes",
            ],
            {"11:11 the pasta", "11:20 the sauce"},
        ),
        (
            ["set a timer for the pasta for nine minutes", "and the sauce for twenty", "cancel the other one"],
            {"11:20 the sauce"},
        ),
        (
            [
                "set a timer for the pasta for nine minutes",
                "and the sauce for twenty",
                "how long on the pasta",
                "stop the other one",
            ],
            {"11:09 the pasta"},
        ),
        (["鸡蛋定八分钟", "米饭定二十分钟", "鸡蛋还有多久", "再加两分钟"], {"11:10 鸡蛋", "11:20 米饭"}),
        (["鸡蛋定八分钟", "米饭定二十分钟", "取消另一个"], {"11:20 米饭"}),
        (["make a timer ten minutes", "and other timer five minutes", "delete this one"], {"11:10 10 minutes"}),
        (["make a timer ten minutes", "another timer five minutes", "cancel that one"], {"11:10 10 minutes"}),
        (["make a timer ten minutes", "delete that"], set()),
        (["make a timer ten minutes", "and other timer five minutes"], {"11:05 5 minutes", "11:10 10 minutes"}),
    ],
)
async def test_it_is_what_was_spoken_of_last(tmp_path: Path, said: list[str], left: set[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in said:
            await kitchen.hear(words)
        assert {each.removeprefix("2026-11-21 ") for each in await kitchen.rings()} == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (["remind me to ring Margaret at three tomorrow", "oh not Margaret, Marjorie"], "ring Marjorie"),
        (["remind me to ring Margaret at three tomorrow", "not Margaret, it's Marjorie"], "ring Marjorie"),
        (["提醒我明天九点给张老师打电话", "不是张老师，是李老师"], "给李老师打电话"),
        (["the dentist is at four tomorrow", "remind me of it at three"], "the dentist is at four tomorrow"),
        (["the dentist is at four tomorrow", "remind me of it"], "the dentist"),
        (["the dentist is at four tomorrow and the vet at six", "remind me of both"], "the dentist"),
        (["the dentist is at four tomorrow and the vet at six", "remind me of both"], "the vet"),
        (["the vet comes on Friday at half past two, don't let me forget it"], "the vet comes"),
        (["wake me at six on Monday", "on weekdays only"], "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        (["wake me at six on Monday", "只在工作日响"], "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        (["wake me at six", "and one at nine for the weekend"], "FREQ=WEEKLY;BYDAY=SA,SU"),
    ],
)
async def test_what_it_rings_for_and_when_is_put_right(tmp_path: Path, said: list[str], left: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in said:
            await kitchen.hear(words)
        assert left in [each[17:].strip() for each in await kitchen.rings()]


@pytest.mark.parametrize(
    ("said", "set_"),
    [
        (
            ["remind me to take the bins out at seven", "and Anna to feed the rabbits"],
            {"21 19:00 take the bins out", "21 19:00 Anna to feed the rabbits"},
        ),
        (["wake me at seven", "and Mia at half past"], {"22 07:00", "22 07:30 wake Mia"}),
        (["wake me at seven", "no wait eight", "and Mia at half past"], {"22 08:00", "22 08:30 wake Mia"}),
        (["wake me at seven", "no wait eight", "and again at half past"], {"22 08:00", "22 08:30"}),
        (["wake me tomorrow at six", "not that, I mean the day after tomorrow"], {"23 06:00"}),
        (["remind me to take the bins out at seven", "and I have to go out"], {"21 19:00 take the bins out"}),
    ],
)
async def test_what_goes_on_is_of_the_time_before(tmp_path: Path, said: list[str], set_: set[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in said:
            await kitchen.hear(words)
        assert {each.removeprefix("2026-11-") for each in await kitchen.rings()} == set_


@pytest.mark.parametrize("words", ["what's it at now", "how much rest", "when was that again", "几点响来着"])
async def test_who_asks_after_the_last_one_is_told(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for ten minutes")
        await kitchen.hear("set a timer for twenty minutes for the rice")
        told = await kitchen.hear(words)
    assert "rice" in told
    assert "ten" not in told


@pytest.mark.parametrize("words", ["not at weekends", "周末就别响了"])
async def test_what_rings_once_is_told_to_who_leaves_days_out(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("wake me at seven tomorrow")
        told = await kitchen.hear(words)
        assert await kitchen.rings() == ["2026-11-22 07:00"]
    assert ("seven o'clock" in told) or ("7点" in told)


@pytest.mark.parametrize(
    ("told", "right", "asked", "answer"),
    [
        ("我的老花镜放在电视柜上了", "不是电视柜，是书桌上", "我的老花镜在哪儿", "放在书桌上了"),
        ("remember the keys are on the table", "not on the table, on the shelf", "where are the keys", "on the shelf."),
    ],
)
async def test_what_both_places_are_said_with_stands_there_once(
    tmp_path: Path, told: str, right: str, asked: str, answer: str
) -> None:
    async with a_home(tmp_path) as home:
        await home.hear(told)
        await home.hear(right, follows=True)
        said = await home.hear(asked)
    assert answer in said
    assert "on on" not in said
    assert "上上" not in said


@pytest.mark.parametrize(("reason", "left"), [("not eggs, we have some", "milk"), ("not eggs, oats", "milk, oats")])
async def test_a_reason_is_no_thing_of_a_list(tmp_path: Path, reason: str, left: str) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("put milk and eggs on the list")
        await home.hear(reason, follows=True)
        assert (await home.hear("what's on the list", follows=True)).endswith(f": {left}.")


async def test_the_last_of_several_things_is_not_left_out(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        assert "酱油、醋" in await home.hear("我们要买酱油和醋")


@pytest.mark.parametrize("words", ["念一遍", "给我念念听听", "再读一下"])
async def test_a_list_is_read_out_in_chinese(tmp_path: Path, words: str) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("清单里加鸡蛋")
        assert await home.hear(words, follows=True) == "购物清单上有：鸡蛋。"


def test_what_is_said_behind_a_thing_is_none_of_it() -> None:
    assert things("flour, and kitchen roll as well") == ["flour", "kitchen roll"]


@pytest.mark.parametrize(
    ("words", "name", "slots"),
    [
        ("delete please the alarm from tomorrow", "timer_cancel", {"on_day": 1}),
        ("set please a timer for ten minutes", "timer_start", {"minutes": 10}),
        ("please make alarm for tomorrow, six hour and thirty", "alarm", {"day": 1, "hour": 6, "minute": 30}),
        ("wake me at six hours thirty", "alarm", {"hour": 6, "minute": 30, "wakes": 1}),
        ("set an alarm at nine for the weekend", "alarm", {"hour": 9, "repeat": "FREQ=WEEKLY;BYDAY=SA,SU"}),
        ("which day we have today", "date", {}),
        ("is it Monday today or is it still Sunday", "date", {"one_day": 0, "other_day": 6}),
        ("取消刚才那个", "timer_cancel", {"newest": 1}),
        ("cancel the first", "timer_cancel", {"ordinal": 1}),
        ("I need to wake up at the seven and half", "alarm", {"hour": 7, "minute": 30, "wakes": 1}),
        ("alarm at five to seven, no, seven is fine", "alarm", {"hour": 7, "wakes": 1}),
        ("we're out of flour, and kitchen roll as well", "list_add", {"item": "flour, and kitchen roll as well"}),
        ("Grandad has gout, make sure you remember that", "remember", {"fact": "Grandad has gout"}),
        ("make sure you remember that Grandad has gout", "remember", {"fact": "Grandad has gout"}),
        ("鸡蛋煮八分钟叫我", "timer_start", {"label": "鸡蛋", "minutes": 8}),
        ("三点提醒我四点开会", "alarm", {"hour": 3, "label": "四点开会"}),
        ("牛肉再炖两个小时", "timer_start", {"label": "牛肉", "hours": 2}),
        (
            "remind mummy to sign my form tomorrow morning",
            "ask_when",
            {"label": "mummy to sign my form", "day": 1, "period": "morning"},
        ),
    ],
)
def test_who_learns_the_language_is_understood(words: str, name: str, slots: dict[str, object]) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.slots) == (name, slots)
