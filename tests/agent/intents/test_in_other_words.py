"""Short conversations of a household in words of its own, and what is set after them: nothing that nobody wanted."""

from pathlib import Path

import pytest

from agent.intents.language.questions import is_question
from agent.intents.reading.understanding import load_understanding
from agent.intents.saying.phrases import phrase
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
        (
            ["take the washing out in fifty minutes, remind Sam"],
            ["2026-11-21 11:50 take the washing out, Sam"],
        ),
        (
            ["remind me to take my pills at nine tonight and every night after that"],
            ["2026-11-21 21:00 FREQ=DAILY take my pills"],
        ),
        (
            ["every morning at seven wake me up but not at weekends"],
            ["2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
        ),
        (["半个小时以后叫我一下眯一会儿"], ["2026-11-21 11:30 眯一会儿"]),
        (
            ["remind me at six to feed the cat", "remind me again at seven"],
            ["2026-11-21 18:00 feed the cat", "2026-11-21 19:00 feed the cat"],
        ),
        (["六点提醒我喂猫", "再提醒我一次八点"], ["2026-11-21 18:00 喂猫", "2026-11-21 20:00 喂猫"]),
        (["明天早上六点半叫我起床", "后天也要"], ["2026-11-22 06:30", "2026-11-23 06:30"]),
        (["wake me at six", "seven thirty then"], ["2026-11-22 07:30"]),
        (["wake me on Tuesday at seven", "it's Monday"], ["2026-11-24 07:00"]),
        (["定十分钟", "十二分钟吧"], ["2026-11-21 11:12 12分钟"]),
        (["三点提醒我开会", "四点吧"], ["2026-11-21 16:00 开会"]),
        (["明天七点叫我", "再定一个七点半的吧"], ["2026-11-22 07:00", "2026-11-22 07:30"]),
        (["wake me every day at seven", "not tomorrow"], ["2026-11-23 07:00 FREQ=DAILY"]),
        (["每天七点叫我", "明天不用了"], ["2026-11-23 07:00 FREQ=DAILY"]),
        (
            ["set timers for ten fifteen and twenty minutes", "cancel the middle one"],
            ["2026-11-21 11:10 10 minutes", "2026-11-21 11:20 20 minutes"],
        ),
        (
            [
                "five minutes for eggs",
                "ten minutes for rice",
                "twenty minutes for pie",
                "cancel the other one",
                "the rice",
            ],
            ["2026-11-21 11:05 eggs", "2026-11-21 11:20 pie"],
        ),
    ],
)
async def test_what_is_set_in_the_end(tmp_path: Path, said: list[str], rings: list[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in said:
            await kitchen.hear(words)
        assert await kitchen.rings() == rings


GONE_OR_TOLD = [
    *("tomorrow is holiday so please delete my six thirty alarm", "scratch the twenty minute timer"),
    *("the half hour timer is not needed, we are eating out", "both of us don't need waking so cancel seven"),
    *("I'm not sleeping now, so don't wake me at three", "the fence man's been so you needn't tell me at two"),
    *("my neighbour's alarm has been going since four", "the five forty five alarm nearly gave him a heart attack"),
    *("I've set an alarm for seven on my own phone", "Aunt Iris rang at seven to tell me she's not coming"),
    *("ten more minutes on the Xbox timer", "give us another five then I'll get up"),
    *("forty five minutes for a lasagne, is that right", "my husband gets up at eight"),
    *("三点半那个提醒免了，孩子他妈去接", "七点的闹钟关了吧我今天轮休", "一点二十午睡的闹钟不用了，睡不着"),
    *("十点吃药的那个别提醒了医生停了药", "隔壁家那闹钟每天五点就响，吵得我睡不着", "单位又通知加班到九点"),
]
"""What is to be gone, or is only told."""

MOVED_OR_UNREAD = [
    *("I'm shattered, push the alarm on twenty minutes", "delay my alarm by an hour, first lecture's off"),
    *("the alarm, wind it on by fifteen minutes", "can I have quarter of an hour more in bed on that alarm"),
    *("I want an extra half hour on my alarm", "can you shift my six o'clock alarm to quarter past"),
    *("bring my alarm forward to six the trains are on strike", "my alarm, instead of seven make six fifty"),
    *("the quarter to eight alarm, make it half seven, traffic's bad", "the bin reminder, do that at nine instead"),
    *("the eight twenty alarm should be eight oh five", "the egg timer, that wants to be five and a half"),
    *("alarm 5 30 weekdays", "wake me 6:15 on school days", "alarm, five, daily", "Tuesday wake up seven thirty"),
    *("put an alarm on for six but just the one morning, Saturday", "set an alarm for ten to three for the pickup"),
]
"""What is moved, or was not read whole."""


@pytest.mark.parametrize("words", [*GONE_OR_TOLD, *MOVED_OR_UNREAD])
async def test_what_asks_for_no_new_ring_sets_nothing(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("set_", "words"),
    [
        ("wake me at seven every day", "except tomorrow let me sleep in till nine"),
        ("wake me at seven every day", "pause the alarm till wednesday"),
        ("wake me at seven on weekdays", "stop waking me while I'm on holiday"),
        ("每天七点叫我", "这几天先别叫我了"),
    ],
)
async def test_days_on_end_are_not_left_out_and_nothing_else_is_done(tmp_path: Path, set_: str, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(set_)
        before = await kitchen.rings()
        told = await kitchen.hear(words)
        assert await kitchen.rings() == before
        assert told in {phrase("not_done", "en"), phrase("not_done", "zh")}


@pytest.mark.parametrize("words", ["no alarms this week", "no alarm this weekend", "this week I'm off so leave it"])
async def test_nobody_is_asked_whether_all_is_to_go_for_a_week(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("wake me at seven on weekdays")
        assert "Did you mean" not in await kitchen.hear(words)


async def test_what_was_just_said_is_told(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for five minutes")
        assert await kitchen.hear("what did I just ask you") == "You told me: set a timer for five minutes."


async def test_the_time_of_day_is_told_to_who_asks_for_it(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for ten minutes for the tea")
        assert "11:10" in await kitchen.hear("and what time will that be")


@pytest.mark.parametrize("words", ["stop it", "never mind"])
async def test_who_may_mean_a_timer_hears_that_it_runs_on(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a timer for ten minutes")
        await kitchen.hear("how much longer")
        assert "ten-minute timer" in await kitchen.hear(words)


async def test_the_next_alarm_is_none_where_nothing_is_set(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert await kitchen.hear("when's the next alarm") == phrase("timer_none", "en")


@pytest.mark.parametrize(
    "words",
    [
        "delete the alarm of half past seven",
        "delete the timer",
        "erase my alarm",
        "forget the seven o'clock alarm",
        "forget it I'll get up by myself",
    ],
)
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
