"""Several that ring in one breath: all are set or none, and what names one thing stays one."""

import pytest

from agent.intents.intent import TIMED
from agent.intents.language.wording import mended
from agent.intents.reading.run_together import MOST_RINGING, are_too_many, holds_another, parted
from agent.intents.reading.understanding import load_understanding
from agent.intents.saying.phrases import phrase
from tests.agent.offline_talk import Talk, a_timer, at

UNDERSTAND = load_understanding()


async def _set(talk: Talk, words: str, count: int) -> list[tuple[str, str]]:
    """Return what is set, each with its time or its seconds, and its label."""
    talk.hear(words, at=at(8))
    set_: list[tuple[str, str]] = []
    while len(set_) < count:
        for tool, each in await talk.calls(*[a_timer("", "")] if not set_ else ["delivered", a_timer("", "")]):
            set_ += [(str(each.get("at", each.get("seconds"))), each["label"])] if tool.startswith("set_") else []
    assert [name for name, _ in await talk.answer()] == ["reply", "complete_event"]
    return set_


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        ("set an alarm for six and one for seven and one for eight", "18:00 19:00 20:00"),
        ("set an alarm for half six one for seven and one for half seven", "18:30 19:00 19:30"),
        ("Set alarms for six seven and eight.", "18:00 19:00 20:00"),
        ("please set an alarm for ten past six, another for 20 to 7 and one for 7", "18:10 18:40 19:00"),
        ("set an alarm for six and seven in the evening", "18:00 19:00"),
        ("set an alarm for noon one for two and one for four", "12:00 14:00 16:00"),
        ("定六点和七点的闹钟", "18:00 19:00"),
        ("设三个闹钟晚上七点八点九点", "19:00 20:00 21:00"),
        ("定一个六点的闹钟和一个七点的闹钟", "18:00 19:00"),
        ("设六点和七点两个闹钟", "18:00 19:00"),
        ("帮我定今晚六点七点八点的闹钟", "18:00 19:00 20:00"),
        ("今天晚上六点半七点各一个闹钟", "18:30 19:00"),
        ("set alarms for six, seven, eight, nine and ten tonight", "18:00 19:00 20:00 21:00 22:00"),
        ("set an alarm for six, six ten, six twenty and six fifty", "18:00 18:10 18:20 18:50"),
        ("set five alarms, at six, seven, half past seven, eight and nine tonight", "18:00 19:00 19:30 20:00 21:00"),
        ("定五点六点七点八点九点的闹钟", "17:00 18:00 19:00 20:00 21:00"),
        ("晚上六点、七点、八点、九点、十点各叫我一次", "18:00 19:00 20:00 21:00 22:00"),
    ],
)
async def test_alarms_at_several_hours_are_all_set(talk: Talk, words: str, hours: str) -> None:
    told = await _set(talk, words, len(hours.split()))
    assert told == [(f"2026-11-21T{each}", "") for each in hours.split()]


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        (
            "wake me at six seven and eight",
            [("2026-11-22T06:00", ""), ("2026-11-22T07:00", ""), ("2026-11-22T08:00", "")],
        ),
        ("wake me at six seven tomorrow", [("2026-11-22T06:07", "")]),
        (
            "remind me at six, seven and eight to take a pill",
            [(f"2026-11-21T{hour}:00", "take a pill") for hour in (18, 19, 20)],
        ),
    ],
)
async def test_one_is_woken_and_reminded_at_several_hours(talk: Talk, words: str, calls: list[tuple[str, str]]) -> None:
    assert await _set(talk, words, len(calls)) == calls


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("set a 5 minute timer 10 minute timer and 15 minute timer", ["300", "600", "900"]),
        ("set a five minute, ten minute and fifteen minute timer", ["300", "600", "900"]),
        ("set a one hour and a thirty minute timer", ["3600", "1800"]),
        ("set a timer for five minutes and a timer for ten minutes", ["300", "600"]),
        ("set timers for one two three four five and six minutes", ["60", "120", "180", "240", "300", "360"]),
        ("remind me in five and in ten minutes", ["300", "600"]),
        ("remind me in five minutes and again in ten minutes", ["300", "600"]),
        ("remind me in five, ten and fifteen minutes to check the oven", ["300", "600", "900"]),
        ("remind me to turn the steak in five and ten minutes", ["300", "600"]),
        ("remind me in one hour and in thirty minutes", ["3600", "1800"]),
        ("五分钟后和十分钟后各提醒我一次", ["300", "600"]),
        ("五分钟和十分钟后提醒我翻面", ["300", "600"]),
        ("五分钟后、十分钟后、十五分钟后各提醒我一次", ["300", "600", "900"]),
        ("十分钟后提醒我一次，二十分钟后再提醒一次", ["600", "1200"]),
    ],
)
async def test_timers_of_several_lengths_are_all_set(talk: Talk, words: str, calls: list[str]) -> None:
    assert [seconds for seconds, _ in await _set(talk, words, len(calls))] == calls


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("十分钟后提醒我关火二十分钟后提醒我下饺子", [("600", "关火"), ("1200", "下饺子")]),
        ("提醒我十分钟后关火二十分钟后下饺子", [("600", "关火"), ("1200", "下饺子")]),
        ("提醒我五分钟后关火，十分钟后下饺子，十五分钟后吃饭", [("300", "关火"), ("600", "下饺子"), ("900", "吃饭")]),
        (
            "今晚八点提醒我给妈打电话九点提醒我给爸打电话",
            [("2026-11-21T20:00", "给妈打电话"), ("2026-11-21T21:00", "给爸打电话")],
        ),
        ("禮拜六早上十點叫我禮拜天十點叫我", [("2026-11-21T10:00", ""), ("2026-11-22T10:00", "")]),
        (
            "明天早上七点叫我起床晚上十点提醒我吃药",
            [("2026-11-22T07:00", ""), ("2026-11-22T22:00", "吃药")],
        ),
        (
            "今晚八点提醒我给妈打电话九点给爸打电话",
            [("2026-11-21T20:00", "给妈打电话"), ("2026-11-21T21:00", "给爸打电话")],
        ),
        (
            "提醒我八点给妈打电话九点给爸打电话",
            [("2026-11-21T20:00", "给妈打电话"), ("2026-11-21T21:00", "给爸打电话")],
        ),
        ("周一八点叫我周二九点叫我", [("2026-11-23T08:00", ""), ("2026-11-24T09:00", "")]),
        ("给鸡蛋定五分钟给米饭定二十分钟", [("300", "鸡蛋"), ("1200", "米饭")]),
        ("明天七点叫我起床后天八点叫我起床", [("2026-11-22T07:00", ""), ("2026-11-23T08:00", "")]),
    ],
)
async def test_chinese_orders_without_a_comma_are_each_done(
    talk: Talk, words: str, calls: list[tuple[str, str]]
) -> None:
    assert await _set(talk, words, len(calls)) == calls


@pytest.mark.parametrize(
    "words",
    [
        "set an alarm for six ten",
        "set alarms for six ten and seven",
        "set a 1 hour 30 minute timer",
        "set an alarm for quarter to seven",
        "三点提醒我四点开会",
        "提醒我三点打电话订七点的位子",
        "提醒我明天八点去接九点到的妈妈",
        "八点提醒我九点叫我爸起床",
        "取消六点和七点的闹钟",
        "把六点的闹钟改成七点",
        "定一个六点十七分的闹钟",
        "我有六点和七点的闹钟吗",
        "妈说八点叫我九点提醒我",
        "remind me at ten to tell dad to wake me at six",
    ],
)
def test_what_is_one_stays_one(words: str) -> None:
    assert parted(words) == words
    intent = UNDERSTAND(words)
    assert intent.name not in TIMED or not holds_another(intent.text("label"))


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("remind me in one hour and thirty minutes", ("5400", "1 hour 30 minutes")),
        ("一小时三十分钟后提醒我", ("5400", "1小时30分钟")),
        ("十分钟后提醒我一次", ("600", "10分钟")),
        ("晚上七点提醒我一下", ("2026-11-21T19:00", "")),
    ],
)
async def test_one_is_set_once_and_how_often_is_no_name(talk: Talk, words: str, set_: tuple[str, str]) -> None:
    assert await _set(talk, words, 1) == [set_]


@pytest.mark.parametrize(
    "words",
    [
        "set alarms for one two three four five six seven eight and nine",
        "set alarms for six, seven, eight, nine, ten, eleven, one, two and three",
        "set timers for one, two, three, four, five, six, seven, eight and nine minutes",
        "定一点两点三点四点五点六点七点八点九点的闹钟",
    ],
)
async def test_of_more_than_are_set_at_one_word_none_is(talk: Talk, words: str) -> None:
    assert are_too_many(words)
    talk.hear(words, at=at(8))
    assert await talk.says() in {phrase("too_many", "en"), phrase("too_many", "zh")}


def test_as_many_as_are_set_at_one_word_are_not_too_many() -> None:
    words = "set alarms for one two three four five six seven and eight"
    assert parted(words).count("set an alarm") == MOST_RINGING
    assert not are_too_many(words)


@pytest.mark.parametrize(
    "label",
    [
        "in to put the bins out",
        "给鸡蛋定五分钟给米饭",
        "和七点",
        "各一个",
        "关火二十分钟后下饺子",
        "timer",
        "past the hour",
        "a break and a ten minute",
        "和的闹钟都取消",
        "给爸爸定个九点的闹钟",
        "点之间",
        "面煮十分钟",
    ],
)
def test_a_name_that_holds_another_order_is_none(label: str) -> None:
    assert holds_another(label)


@pytest.mark.parametrize(
    "label",
    [
        "四点开会",
        "the meeting at four",
        "tell dad to wake me at six",
        "看九点新闻",
        "set an alarm",
        "set a ten minute timer",
        "walk past the church",
        "点外卖",
        "和妈妈视频",
        "跑步半小时",
        "把闹钟关了",
    ],
)
def test_a_name_may_tell_of_a_time(label: str) -> None:
    assert not holds_another(label)


@pytest.mark.parametrize(
    ("before", "words", "call"),
    [
        ("remind me in five minutes to check the oven", "and in ten to put the bins out", (600, "put the bins out")),
        ("remind me in five minutes to check the oven", "and in 20 to call bob", (1200, "call bob")),
        ("remind me in two hours to call bob", "and in three to call anna", (10800, "call anna")),
        ("set a timer for ten minutes", "and one for the rice for eight", (480, "the rice")),
        ("remind me in half an hour to move the car", "and in forty five to feed the meter", (2700, "feed the meter")),
        ("set a timer for pasta for nine", "and one for sauce for twelve", (720, "sauce")),
        ("set a timer for the eggs for six", "and one for the toast for three", (180, "the toast")),
    ],
)
async def test_a_number_alone_is_of_the_unit_before_it(
    talk: Talk, before: str, words: str, call: tuple[int, str]
) -> None:
    talk.hear(before, at=at(8))
    await talk.calls(a_timer("", ""))
    await talk.says()
    talk.hear(words, at=at(8))
    assert await talk.calls(a_timer("", "")) == [("set_timer", {"seconds": call[0], "label": call[1]})]


async def test_a_number_alone_is_no_time_of_day_after_an_alarm(talk: Talk) -> None:
    talk.hear("remind me at five to call bob", at=at(8))
    await talk.calls(a_timer("", ""))
    await talk.says()
    talk.hear("and in ten to put the bins out", at=at(8))
    assert all(name not in {"set_alarm", "set_timer"} for name, _ in await talk.answer())


async def test_an_alarm_after_a_timer_is_an_alarm(talk: Talk) -> None:
    talk.hear("set a timer for ten minutes", at=at(8))
    await talk.calls(a_timer("", ""))
    await talk.says()
    talk.hear("and an alarm for seven", at=at(8))
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": "2026-11-21T19:00", "label": ""})]


def test_words_are_parted_as_they_are_mended() -> None:
    assert parted(mended("uh set alarms for six seven and eight", "en")).count("set an alarm") == 3


@pytest.mark.parametrize(
    "words",
    [
        "set an alarm for six " + "and one for seven " * 9 + "!x",
        "set alarms for six " + "seven six " * 17 + "x",
        "set a " + "5 minute timer and " * 9 + "x timers y",
        "定" + "六点" * 38 + "x",
        "请帮我" * 10 + "六点叫我" * 10 + "x",
        "提醒我" + "五分钟后吃饭" * 12 + "x。y",
        "六点提醒我" + "吃" * 12 + "七点" + "吃" * 12 + "八点，",
    ],
)
def test_what_is_no_order_is_read_soon(words: str) -> None:
    """There are many ways to part such words, and the deadline of a test is five seconds."""
    parted(words)
    holds_another(words)
    assert not are_too_many("")
