"""Several wishes in one sentence: each is done and told, in order, and what is one is left one."""

import pytest

from agent.intents.dialog_state import read_dialog
from agent.intents.reading.run_together import MOST
from agent.intents.reading.understanding import load_understanding
from agent.intents.reading.wishes import wishes
from agent.model.messages import Message
from tests.agent.offline_talk import TOOLS, Talk, a_timer, at

UNDERSTANDING = load_understanding()

TWO = [
    "set a timer for ten minutes | and add milk to the shopping list",
    "what time is it | and set a timer for ten minutes",
    "turn the volume down | and set an alarm for seven",
    "turn the volume down | and the radio too",
    "make it louder | and the lights off",
    "set an alarm for seven | and another for half past seven",
    "set a timer for five minutes | and one for ten minutes",
    "set an alarm for seven | and eight",
    "remind me at six to call mum | and set an alarm for seven",
    "remind me to take the bins out at eight | and to feed the cat at nine",
    "set a pasta timer for ten minutes | and an egg timer for six",
    "wake me up at seven | and remind me at eight to take my pills",
    "cancel the pasta timer | and set a new one for twelve minutes",
    "cancel all timers | and wake me at seven",
    "what's the date | and what time is it",
    "what's seven plus eight | and what's nine times six",
    "set the oven timer for thirty five minutes | and what's one eighty celsius in fahrenheit",
    "what's the wifi password | and what's grandma's number",
    "turn the lights off | and set a ten minute timer",
    "forget the wifi password | and put batteries on the shopping list",
    "remember my rabbit's name is Snowy | and tell me what six times seven is",
    "remind me to take my pills at noon | and again at eight tonight",
    "清单清空 | 十点叫我出门买菜",
    "八加七等于几 | 九九等于几呀",
    "音量调到五 | 定个五分钟 | 顺便告诉我今天几号",
    "九点半提醒我喂奶换尿布 | 再把奶粉加到购物清单",
    "remember that the key is under the pot | and wake me at seven",
    "记住钥匙在花盆下面 | 再设一个七点的闹钟",
    "how much time is left on the pasta timer | and what's 12 times 14",
    "turn it up | then set a ten minute timer",
    "set a timer for five minutes | and another for ten | and one for an hour",
    "wake me at seven on weekdays | and nine at weekends",
    "Set an alarm for seven | What time is it?",
    "set a timer for ten minutes | set another for twenty minutes | and what time is it",
    "定一个十分钟的计时器 | 然后告诉我现在几点",
    "把音量调小 | 再定一个七点的闹钟",
    "提醒我六点给妈妈打电话 | 再设一个七点的闹钟",
    "把牛奶加到购物清单 | 再设一个十分钟的计时器",
    "取消面条的计时器 | 重新设一个十二分钟的",
    "现在几点 | 今天几号",
    "明天早上七点叫我起床 | 再八点提醒我吃药",
    "十分钟后提醒我关火 | 再过五分钟提醒我关灯",
]

ONE = [
    "set a timer for ten minutes and five seconds",
    "set a timer for an hour and a half",
    "remind me at six to call mum and feed the cat",
    "remind me at six to call mum and turn the volume down",
    "remind me to buy milk and eggs at six",
    "wake me at seven, I have a flight at nine",
    "wake me at seven, at eight I have to be at work",
    "remind me at five to call mum, at six I am at the gym",
    "wake me at seven, no, half past seven",
    "wake me at seven, sorry, set an alarm for eight",
    "add bread, milk and butter to my shopping list",
    "set a timer for two hours and twenty minutes for the roast and the potatoes",
    "how many minutes are in three hours and forty minutes",
    "good night, wake me at seven",
    "what's twelve times seven and then minus four",
    "remember that the alarm rings at seven and that Anna asks what time it is",
    "tell Anna dinner is ready and set a timer for ten minutes",
    "tell me a joke and set an alarm for seven",
    "提醒我六点给妈妈打电话，别忘了带伞",
    "七点叫我，不，八点叫我",
    "设一个一小时三十分钟的计时器",
    "把牛奶、鸡蛋加到购物清单",
    "晚安，七点叫我起床",
    "remember that the wifi password is fish and chips nine",
    "remember that my locker is number seven and my code is eight",
    "remember that Ada has a lesson at four and I have to be there at five",
    "remember that we eat at seven and the guests come at half past six",
    "今天几号，星期几啊",
    "who won the football between Leeds and Norwich last night",
    "what do Ada and Tom like",
    "remind me at six to ask Tom what he wants and where he is",
    "今天外面冷不冷，要不要穿羽绒服",
]


def parted(words: str) -> list[str]:
    state = read_dialog([Message("system", "You are nakari."), Message("user", words)], TOOLS.specs_for(""), "en")
    return wishes(state, UNDERSTANDING)


def separators(words: str) -> str:
    """A sentence as it is said, of one with a bar between its wishes."""
    chinese = any("一" <= character <= "鿿" for character in words)
    for before, after in ((" | and", " and"), (" | ", "，" if chinese else ", ")):
        words = words.replace(before, after)
    return words


@pytest.mark.parametrize("words", TWO)
def test_wishes_are_found(words: str) -> None:
    assert parted(separators(words)) == words.split(" | ")


@pytest.mark.parametrize(
    ("words", "each"),
    [
        (
            "remind me at five to feed the cat, at six to water the plants and at nine to lock the door",
            "remind me at five to feed the cat | and remind me at six to water the plants | "
            "and remind me at nine to lock the door",
        ),
        (
            "set two timers, ten minutes for pasta and twelve for the sauce",
            "set a timer for ten minutes for pasta | and twelve for the sauce",
        ),
        (
            "Set three timers: five minutes for eggs, eight minutes for toast, and an hour for the roast",
            "set a timer for five minutes for eggs | and eight minutes for toast | and an hour for the roast",
        ),
        ("set timers for five and ten minutes", "set a five minute timer | and set a ten minute timer"),
        (
            "remind me to call mum at six and turn off the oven at seven",
            "remind me at six to call mum | and at seven to turn off the oven",
        ),
        ("set two alarms, one for six and one for seven", "set an alarm for six | and one for seven"),
        ("设两个计时器，一个十分钟煮面，一个十二分钟煮酱", "设一个十分钟煮面的计时器 | 设一个十二分钟煮酱的计时器"),
        (
            "Remind me every day at eight and nine to take my pills",
            "Remind me every day at eight to take my pills | Remind me every day at nine to take my pills",
        ),
        (
            "remind me at eight in the morning and at ten to nine at night to take my pills",
            "remind me at eight in the morning to take my pills | remind me at ten to nine at night to take my pills",
        ),
        ("每天早上八点和晚上九点提醒我吃药", "每天早上八点提醒我吃药 | 每天晚上九点提醒我吃药"),
        ("工作日七点周末九点叫我起床", "工作日七点叫我起床 | 周末九点叫我起床"),
        ("明天早上七点叫我，周末九点", "明天早上七点叫我 | 周末早上九点叫我"),
        ("明天七点和七点半叫我起床", "明天七点叫我起床 | 明天七点半叫我起床"),
        ("早上八点和晚上九点提醒我吃药", "早上八点提醒我吃药 | 晚上九点提醒我吃药"),
        ("帮我定三个闹钟，六点、六点半和七点", "设一个六点的闹钟 | 设一个六点半的闹钟 | 设一个七点的闹钟"),
    ],
)
def test_several_that_ring_are_asked_for_at_once(words: str, each: str) -> None:
    assert parted(words) == each.split(" | ")


@pytest.mark.parametrize("words", ONE)
def test_what_is_one_wish_stays_one(words: str) -> None:
    assert parted(words) == [words]


@pytest.mark.shows("V30")
async def test_each_is_done_and_told_with_the_first_calls_of_the_next(talk: Talk) -> None:
    talk.hear("Set a timer for ten minutes, and another for fifteen, and what time is it?", at=at(8))
    ten, fifteen = ({"seconds": 60 * length, "label": f"{length} minutes"} for length in (10, 15))
    assert await talk.calls(a_timer("10 minutes", "10 minutes")) == [("set_timer", ten)]
    assert await talk.calls("delivered", a_timer("15 minutes", "15 minutes", id="t2")) == [
        ("reply", {"text": "Your timer is set for ten minutes."}),
        ("set_timer", fifteen),
    ]
    assert await talk.calls("delivered", "delivered", "completed") == [
        ("reply", {"text": "Your timer is set for 15 minutes."}),
        ("reply", {"text": "It is nine o'clock in the morning."}),
        ("complete_event", {"summary": "offline: time"}),
    ]


async def test_a_further_timer_has_what_it_is_for(talk: Talk) -> None:
    talk.hear("Set two timers, ten minutes for the pasta and twelve for the sauce.", at=at(8))
    assert await talk.calls(a_timer("pasta", "10 minutes")) == [("set_timer", {"seconds": 600, "label": "the pasta"})]
    assert (await talk.calls("delivered", a_timer("the sauce", "12 minutes", id="t2")))[1:] == [
        ("set_timer", {"seconds": 720, "label": "the sauce"})
    ]


async def test_what_was_not_done_is_told_and_the_next_is_done_all_the_same(talk: Talk) -> None:
    talk.hear("Cancel the pasta timer and set a new one for twelve minutes.")
    assert await talk.calls("error: no timer is set") == [("cancel_timer", {"which": "pasta"})]
    (reply, said), (tool, timer) = await talk.calls("delivered", a_timer("12 minutes", "12 minutes"))
    assert reply == "reply"
    assert "no timer" in said["text"].casefold()
    assert (tool, timer) == ("set_timer", {"seconds": 720, "label": "12 minutes"})
    assert await talk.says() == "Your timer is set for twelve minutes."


async def test_what_came_out_is_not_said_again_where_the_last_did_not(talk: Talk) -> None:
    talk.hear("What's the date and what time is it?", at=at(8))
    date, time = "Today is Saturday, the 21st of November 2026.", "It is nine o'clock in the morning."
    told = await talk.calls("delivered", "error: the loudspeaker is gone", "refused: it did not reach its end")
    assert [call[1].get("text") for call in told] == [date, time, None]
    assert await talk.says() == time


async def test_what_was_hard_to_hear_is_asked_back_whole_and_done_whole(talk: Talk) -> None:
    words = "set a timer for ten minutes and set an alarm for seven"
    talk.hear(words, confidence="low")
    assert await talk.says() == f"Did you say: {words}?"
    talk.hear("yes")
    assert await talk.calls(a_timer("10 minutes", "10 minutes")) == [
        ("set_timer", {"seconds": 600, "label": "10 minutes"})
    ]
    assert [tool for tool, _ in await talk.calls("delivered", a_timer("alarm", "20 hours"))] == ["reply", "set_alarm"]


async def test_the_next_sentence_follows_the_last_of_them(talk: Talk) -> None:
    talk.hear("What time is it and set a timer for ten minutes.", at=at(8))
    await talk.calls("delivered", a_timer("10 minutes", "10 minutes"))
    await talk.says()
    talk.hear("And another for twenty.", at=at(8, 1))
    assert await talk.calls(a_timer("20 minutes", "20 minutes")) == [
        ("set_timer", {"seconds": 1200, "label": "20 minutes"})
    ]


@pytest.mark.parametrize(
    ("words", "moments"),
    [
        ("Wake me at seven and half past seven tomorrow.", ["2026-11-22T07:00", "2026-11-22T07:30"]),
        ("Wake me tomorrow at seven and half past seven.", ["2026-11-22T07:00", "2026-11-22T07:30"]),
        ("Set an alarm for nine on Monday and another for ten.", ["2026-11-23T09:00", "2026-11-23T10:00"]),
        ("Wake me at seven tomorrow and set an alarm for six.", ["2026-11-22T07:00", "2026-11-21T18:00"]),
        ("Wake me at seven and remind me tomorrow at eight to call mum.", ["2026-11-22T07:00", "2026-11-22T08:00"]),
    ],
)
async def test_a_day_is_meant_for_both_where_the_second_is_no_wish_alone(
    talk: Talk, words: str, moments: list[str]
) -> None:
    talk.hear(words, at=at(8))
    first = await talk.calls(a_timer("", "22 hours", due="2026-11-22 07:00:00 CET"))
    second = await talk.calls("delivered", a_timer("", "22 hours", id="t2"))
    assert [given["at"] for tool, given in (*first, *second) if tool == "set_alarm"] == moments


async def test_what_comes_every_day_comes_at_both_times(talk: Talk) -> None:
    talk.hear("Remind me to call mum every day at nine and ten.", at=at(7))
    first = await talk.calls(a_timer("call mum", "1 hour", due="2026-11-21 09:00:00 CET"))
    second = await talk.calls("delivered", a_timer("call mum", "2 hours", id="t2"))
    told = [(given["at"], given["repeat"], given["label"]) for tool, given in (*first, *second) if tool == "set_alarm"]
    assert told == [
        ("2026-11-21T09:00", "FREQ=DAILY", "call mum"),
        ("2026-11-21T10:00", "FREQ=DAILY", "call mum"),
    ]


async def test_the_second_comes_on_its_own_days(talk: Talk) -> None:
    talk.hear("Wake me at seven on weekdays and nine at weekends.", at=at(7))
    first = await talk.calls(a_timer("", "2 days", due="2026-11-23 07:00:00 CET"))
    second = await talk.calls("delivered", a_timer("", "2 hours", id="t2"))
    assert [given["repeat"] for tool, given in (*first, *second) if tool == "set_alarm"] == [
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "FREQ=WEEKLY;BYDAY=SA,SU",
    ]


@pytest.mark.parametrize(
    ("words", "clock"),
    [("make that half past seven", "07:30"), ("change it to eight thirty", "08:30"), ("make it 9:45", "09:45")],
)
async def test_the_last_of_them_is_set_to_a_time_of_the_clock(talk: Talk, words: str, clock: str) -> None:
    alarm = a_timer("", "22 hours", due="2026-11-22 07:00:00 CET", id="a1")
    talk.hear("Set a timer for ten minutes and wake me at seven tomorrow.", at=at(8))
    await talk.calls(a_timer("10 minutes", "10 minutes"))
    await talk.calls("delivered", alarm)
    await talk.says()
    talk.hear(words, at=at(8, 1))
    await talk.calls([a_timer("10 minutes", "9 minutes"), alarm])
    [(tool, given)] = await talk.calls(alarm)
    assert (tool, given["at"]) == ("set_alarm", f"2026-11-22T{clock}")


async def test_a_sentence_that_never_ends_is_not_taken_apart_for_ever(talk: Talk) -> None:
    assert len(parted("what time is it and what day is it, " * 5)) <= MOST
    assert len(parted("what time is it and what day is it, " * 50)) == 1
