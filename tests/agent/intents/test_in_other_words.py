"""Short conversations of a household in words of its own, and what is set after them: nothing that nobody wanted."""

from pathlib import Path

import pytest

from agent.intents.language.questions import is_question
from agent.intents.reading.understanding import load_understanding
from tests.agent.intents.kitchen import a_kitchen

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("said", "rings"),
    [
        (["Sarah's alarm is at six and mine's at seven"], []),
        (["每天早晚饭后都提醒我吃降压药"], []),
        (["make please alarm for tomorrow, hour seven and half"], ["2026-11-22 07:30"]),
        (
            ["make please alarm for tomorrow, hour seven and half", "delete the alarm of seven and half please"],
            [],
        ),
        (["ten minutes for the rice", "call it fifteen, it's brown rice"], ["2026-11-21 11:15 rice"]),
        (["set a timer, ten minutes, call it cake"], ["2026-11-21 11:10 cake"]),
        (["ten minutes for the rice", "call it dinner"], ["2026-11-21 11:10 dinner"]),
        (["ten minutes for the rice and give me a nudge halfway"], ["2026-11-21 11:10 rice"]),
        (["set a timer for twenty minutes", "can I have five more minutes"], ["2026-11-21 11:25 25 minutes"]),
        (["can I have another five minutes"], []),
        (["get me up at half eight tomorrow", "actually don't bother", "well maybe nine then"], ["2026-11-22 09:00"]),
        (["set a timer for ten minutes", "maybe twelve"], ["2026-11-21 11:12 12 minutes"]),
        (["remind me to call mum", "maybe nine"], ["2026-11-21 21:00 call mum"]),
        (
            ["please remember me to call my brother tomorrow ten o'clock"],
            ["2026-11-22 10:00 call my brother"],
        ),
        (["bread's proving, shout when forty minutes are gone"], ["2026-11-21 11:40 bread's proving"]),
        (["five minutes for eggs and then remind me to get the washing in at three"], []),
        (["set a timer for ten minutes", "give me twenty instead"], ["2026-11-21 11:20 20 minutes"]),
        (["cancel the last one"], []),
        (["once it's out I need half an hour for it to cool"], []),
        (["孩子七点半上学，七点叫他，六点半叫我"], []),
        (["我妈每天七点叫我起床"], []),
        (["七点叫我，七点半叫孩子"], ["2026-11-22 07:00", "2026-11-22 07:30 叫孩子起床"]),
        (["每天晚上十点提醒我吃药，周末除外，今天就不用了"], []),
        (["明天七点叫我，后天也是"], []),
        (["明天七点叫我，下雨的话六点半"], []),
        (["刚才那个不算，重新定十五分钟"], []),
        (["七点叫我", "别在七点叫我，改七点半"], ["2026-11-22 07:30"]),
        (["记住明天提醒我买菜"], ["2026-11-22 09:00 买菜"]),
        (["六点提醒我告诉妈不用来了"], ["2026-11-21 18:00 告诉妈不用来了"]),
        (["三点钟有戏曲频道，差五分叫我一声"], ["2026-11-21 14:55 有戏曲频道"]),
    ],
)
async def test_what_is_set_in_the_end(tmp_path: Path, said: list[str], rings: list[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in said:
            await kitchen.hear(words)
        assert await kitchen.rings() == rings


@pytest.mark.parametrize("words", ["delete the alarm of half past seven", "delete the timer", "erase my alarm"])
def test_what_rings_is_cancelled_and_not_forgotten(words: str) -> None:
    assert UNDERSTAND(words).name != "forget_other"


def test_what_was_said_of_it_is_forgotten() -> None:
    assert UNDERSTAND("forget what I said about the alarm").name == "forget_other"


@pytest.mark.parametrize(
    "words", ["when I was a kid we had a timer shaped like a chicken", "don't you dare wake me before eight tomorrow"]
)
def test_what_asks_for_nothing_is_not_looked_up(words: str) -> None:
    assert not is_question(words)


async def test_what_is_to_be_done_at_an_hour_is_told(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("remind me at eight to ring Doris")
        assert "ring Doris" in await kitchen.hear("what was it I had to do at eight")


@pytest.mark.parametrize("words", ["三个人分一百二，一人多少", "一百二三个人分，每个人多少"])
async def test_the_share_of_one_is_told_once(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert await kitchen.hear(words) == "等于40。"
