"""Of a breath nothing is silently dropped: all of it is done, or the rest is told."""

import re

import pytest

from agent.intents.saying.phrases import phrase
from tests.agent.offline_talk import Talk, a_timer, at

SIX = a_timer("", "9 hours", "2026-11-21 18:00:00 CET", "t6") | {"kind": "alarm"}

RESULTS = {
    "list_timers": [SIX],
    "cancel_timer": {"cancelled": SIX, "still_set": 1},
    "set_timer": a_timer("", "10 minutes"),
    "set_alarm": a_timer("", "10 hours", "2026-11-21 19:00:00 CET", "t7"),
    "recall": {"sureness": "nothing", "hits": []},
}


async def _heard(talk: Talk, words: str) -> tuple[list[str], list[str]]:
    """Return what was set and cancelled, and what was said."""
    talk.hear(words, at=at(8))
    done: list[str] = []
    said: list[str] = []
    while (calls := await talk.answer())[-1][0] != "complete_event":
        talk.result(*(RESULTS.get(name, "delivered") for name, _ in calls))
        done += [
            " ".join(map(str, [name, *each.values()])) for name, each in calls if name.endswith(("timer", "alarm"))
        ]
        said += [str(each["text"]) for name, each in calls if name == "reply"]
    talk.result(*("done" for _ in calls))
    return done, [*said, *(str(each["text"]) for name, each in calls if name == "reply")]


@pytest.mark.parametrize(
    ("words", "done"),
    [
        ("set an alarm for seven and cancel the one at six", ["set_alarm 2026-11-21T19:00 ", "cancel_timer t6"]),
        ("cancel the one at six and set one for seven", ["cancel_timer t6", "set_alarm 2026-11-21T19:00 "]),
        ("定一个七点的闹钟，把六点的取消", ["set_alarm 2026-11-21T19:00 ", "cancel_timer t6"]),
        ("取消六点的闹钟，定一个七点的", ["cancel_timer t6", "set_alarm 2026-11-21T19:00 "]),
    ],
)
async def test_one_is_set_and_another_is_cancelled(talk: Talk, words: str, done: list[str]) -> None:
    assert (await _heard(talk, words))[0] == done


@pytest.mark.parametrize(
    ("words", "done"),
    [
        ("wake me at seven and start the coffee machine", ["set_alarm 2026-11-22T07:00 "]),
        ("set a timer for ten minutes and turn on the light", ["set_timer 600 10 minutes"]),
        ("turn on the light and set an alarm for seven", ["set_alarm 2026-11-21T19:00 "]),
        ("add milk to the list and turn on the light", []),
        ("把牛奶加到购物清单，再把灯打开", []),
        ("定十分钟的计时器，再把灯打开", ["set_timer 600 10分钟"]),
        ("六点提醒我做饭，然后把窗户关上", ["set_alarm 2026-11-21T18:00 做饭"]),
    ],
)
async def test_what_only_a_house_could_do_is_told(talk: Talk, words: str, done: list[str]) -> None:
    set_, said = await _heard(talk, words)
    assert set_ == done
    assert {phrase("outside", "en"), phrase("outside", "zh")} & set(said)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("words", "done"),
    [
        ("set a timer for ten minutes and tell me a joke", ["set_timer 600 10 minutes"]),
        ("定十分钟的计时器，然后讲个笑话", ["set_timer 600 10分钟"]),
    ],
)
async def test_what_only_a_model_could_do_is_told(talk: Talk, words: str, done: list[str]) -> None:
    set_, said = await _heard(talk, words)
    assert set_ == done
    assert "model" in said[-1] or "模型" in said[-1]


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("remind me in ten minutes to call mum and turn on the light", "call mum and turn on the light"),
        ("remind me in ten minutes to turn on the oven and close the window", "turn on the oven and close the window"),
    ],
)
async def test_what_one_is_to_be_reminded_of_stays_whole(talk: Talk, words: str, label: str) -> None:
    assert (await _heard(talk, words))[0] == [f"set_timer 600 {label} True"]


@pytest.mark.parametrize(
    ("first", "then"),
    [("add milk to the shopping list", "turn on the light"), ("把牛奶加到购物清单", "把灯打开")],
)
async def test_an_order_to_the_house_is_no_thing_of_the_list_before_it(talk: Talk, first: str, then: str) -> None:
    await _heard(talk, first)
    assert (await _heard(talk, then))[1] == [phrase("outside", "zh" if then == "把灯打开" else "en")]


@pytest.mark.parametrize(
    ("words", "done"),
    [
        ("wake me at seven and order a pizza", ["set_alarm 2026-11-22T07:00 "]),
        ("wake me at seven and tidy the kitchen", ["set_alarm 2026-11-22T07:00 "]),
        ("wake me at seven and then make me a coffee", ["set_alarm 2026-11-22T07:00 "]),
        ("定十分钟，再给我妈打个电话", ["set_timer 600 10分钟"]),
        ("set an alarm for six and then remember that the bins go out on Monday", ["set_alarm 2026-11-21T18:00 "]),
        ("定十分钟，再记住钥匙在抽屉里", ["set_timer 600 10分钟"]),
        ("定十分钟，然后把碗洗了", ["set_timer 600 10分钟"]),
    ],
)
async def test_what_nobody_understands_behind_a_wish_is_told(talk: Talk, words: str, done: list[str]) -> None:
    set_, said = await _heard(talk, words)
    assert set_ == done
    assert len(said) > 1 or "没听懂" in said[0]


@pytest.mark.parametrize(
    "words",
    [
        "wake me at seven please and thank you",
        "wake me at seven and that's all",
        "wake me at seven and I'll make the coffee",
        "七点叫我，谢谢",
    ],
)
async def test_what_is_only_said_along_is_not(talk: Talk, words: str) -> None:
    assert len((await _heard(talk, words))[1]) == 1


@pytest.mark.parametrize(
    ("words", "done"),
    [
        ("set two timers, one for five minutes and the other for seven", [300, 420]),
        ("I need two timers one five minutes the other seven", [300, 420]),
        ("two timers please, one for seven minutes and another for ten", [420, 600]),
        ("set a timer for ten minutes and when that's done another one for five", [600, 900]),
        ("set a timer for ten minutes and once it's finished start another for five minutes", [600, 900]),
        ("先定十分钟，到了再定五分钟", [600, 900]),
        ("先定个十分钟的，响了以后再来个五分钟的", [600, 900]),
        ("先定十分钟，然后再定五分钟", [600, 300]),
        ("定个十分钟的计时器，还有五分钟的", [600, 300]),
    ],
)
async def test_each_of_two_timers_has_its_length(talk: Talk, words: str, done: list[int]) -> None:
    set_, _ = await _heard(talk, words)
    assert [int(each.split()[1]) for each in set_] == done
    assert all(re.search("(minutes|分钟)$", each) for each in set_)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Turn it up and put Radio 4 on", "I cannot do that"),
        ("turn it down and get me a beer", "I heard you, but I need a model"),
        ("wake me at seven and get the kids up", "I heard you, but I need a model"),
        ("what time is it and what day is it", "Today is Saturday"),
        ("what time is it and book me a table", "I heard you, but I need a model"),
        ("cancel the one at six and remind me to turn the oven off", "When?"),
        ("取消六点的闹钟，再提醒我关火", "什么时候？"),
        ("cancel the one at six and say hello", "I heard you, but I need a model"),
        ("cancel the one at six and call a taxi", "I cannot do that"),
        ("把声音调大点，再放一下新闻广播", "我听到了，但是回答这个需要模型"),
    ],
)
async def test_one_half_is_done_and_the_other_told(talk: Talk, words: str, told: str) -> None:
    _, [first, second] = await _heard(talk, words)
    assert second.startswith(told)
    assert not first.startswith(told)
