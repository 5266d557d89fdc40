"""What ordinary people say to the box on an ordinary day, each line after those before it."""

from pathlib import Path
from typing import Any

import pytest

from agent.intents.language.wording import mended
from agent.intents.reading.understanding import load_understanding
from agent.intents.subjects.sums.answer import answer_sum
from tests.agent.intents.household import a_home
from tests.agent.offline_talk import Talk, a_timer, at

UNDERSTAND = load_understanding()

LISTS = [
    [
        ("Put basil on the shopping list.", "On the shopping list now: basil."),
        ("Um, no, not basil, oregano.", "On the shopping list now, instead of basil: oregano."),
        ("Add yoghurt.", "On the shopping list now: yoghurt."),
        ("Change the yoghurt to cream cheese.", "On the shopping list now, instead of yoghurt: cream cheese."),
        ("Is there anything else on the list?", "On the shopping list there is: oregano, cream cheese."),
    ],
    [
        ("We need eggs, butter and a small loaf.", "On the shopping list now: eggs, butter, a small loaf."),
        ("What do I need from the shop?", "On the shopping list there is: eggs, butter, a small loaf."),
    ],
    [
        ("Put swimsuits, towels and teddy on the packing list.", "On the packing list now: swimsuits, towels, teddy."),
        ("What do we have to pack?", "On the packing list there is: swimsuits, towels, teddy."),
    ],
    [
        ("建一个清单叫火锅。", "火锅清单建好了。说说要加什么。"),
        ("火锅清单里放肥牛、豆腐和金针菇。", "火锅清单上加了：肥牛、豆腐、金针菇。"),
        ("豆腐不要了，删掉。", "火锅清单上去掉了：豆腐。"),
        ("金针菇换成香菇吧", "火锅清单上，金针菇改成了香菇。"),
    ],
    [
        ("Put hang up curtains on my to-do list.", "On the to-do list now: hang up curtains."),
        ("And call the plumber, and clean the oven.", "On the to-do list now: call the plumber, clean the oven."),
        ("Cross off the oven.", "Off the to-do list now: clean the oven."),
        ("Oh no, undo that.", "On the to-do list now: clean the oven."),
        ("Undo that.", "Off the to-do list now: clean the oven."),
    ],
    [
        ("The spare key is with Mrs. Novak on the second floor. Please remember that.", "I will keep that"),
        ("Where is the spare key?", "You told me: The spare key is with Mrs. Novak on the second floor."),
        ("Wrong, it's with the Becks now, change that.", "I have put it right: The spare key is with the Becks."),
    ],
    [
        ("记住客厅窗户宽一米八五。", "我记住了：客厅窗户宽一米八五。"),
        ("客厅窗户多宽来着？", "你告诉过我：客厅窗户宽一米八五。"),
        ("说错了，是一米五八。", "我改过来了：客厅窗户宽一米五八。"),
    ],
    [
        ("买菜清单里放上鸡蛋、土豆。", "购物清单上加了：鸡蛋、土豆。"),
        ("往里面加上葱。", "购物清单上加了：葱。"),
        ("土豆不要了，家里还有。", "购物清单上去掉了：土豆。"),
        ("哎，刚才那个撤销，还是买吧。", "购物清单上加了：土豆。"),
    ],
    [
        ("把尿不湿加到购物清单。", "购物清单上加了：尿不湿。"),
        ("牛奶也快没了，加上。", "购物清单上加了：牛奶。"),
    ],
    [
        ("把取快递加到待办清单。", "待办清单上加了：取快递。"),
        ("快递取了，去掉吧。", "待办清单上去掉了：取快递。"),
    ],
    [
        ("记住小明的鞋码是三十四码。", "我记住了：小明的鞋码是三十四码。"),
        ("小明穿多大的鞋？", "这个我不知道，你只告诉过我：小明的鞋码是三十四码。"),
        ("刚才那个鞋码不对，是三十五码。", "我改过来了：小明的鞋码是三十五码。"),
    ],
]


@pytest.mark.parametrize("said", LISTS, ids=lambda said: said[0][0][:20])
async def test_what_is_wanted_is_kept(tmp_path: Path, said: list[tuple[str, str]]) -> None:
    async with a_home(tmp_path) as home:
        answers = [await home.hear(words, follows=True) for words, _ in said]
    assert [answer[: len(told)] for answer, (_, told) in zip(answers, said, strict=True)] == [told for _, told in said]


async def test_what_was_not_understood_stands_on_no_list(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        told = await home.hear("Add baking powder to the list. Let me know after ten so I can turn the tray")
        assert told.startswith("On the shopping list now: baking powder. I did not understand the rest")
        assert await home.hear("what's on the list", follows=True) == "On the shopping list there is: baking powder."


@pytest.mark.parametrize(
    ("words", "timer"),
    [
        ("I need a timer for forty five minutes, it's for the roast.", {"seconds": 2700, "label": "the roast"}),
        ("Give me one for twenty five minutes too, for the potatoes.", {"seconds": 1500, "label": "the potatoes"}),
    ],
)
async def test_a_timer_is_for_what_was_said_behind_it(talk: Talk, words: str, timer: dict[str, Any]) -> None:
    talk.hear(words, at=at(9))
    assert await talk.calls(a_timer("", "")) == [("set_timer", timer)]


@pytest.mark.parametrize(
    ("first", "then", "call"),
    [
        (
            "Remind me every day at noon to let the hens out.",
            "And at half four to shut them in.",
            {"at": "2026-11-21T16:30", "label": "shut them in"},
        ),
        (
            "Set an alarm for eight tomorrow morning",
            "and remind me to bring my lab coat",
            {"at": "2026-11-22T08:00", "label": "bring my lab coat"},
        ),
        ("明早五点半叫我。", "还有提醒我带上秤。", {"at": "2026-11-22T05:30", "label": "带上秤"}),
        (
            "每天早上七点半提醒我吃降压药。",
            "晚上八点也提醒一次。",
            {"at": "2026-11-21T20:00", "label": "吃降压药", "repeat": "FREQ=DAILY"},
        ),
    ],
)
async def test_one_more_goes_with_the_one_before(talk: Talk, first: str, then: str, call: dict[str, Any]) -> None:
    talk.hear(first, at=at(9))
    [(_, before)] = await talk.calls(a_timer("", ""))
    label = str(before["label"])
    talk.messages.pop()
    talk.result(a_timer(label, "1 day", f"{before['at'].replace('T', ' ')}:00 CET"))
    await talk.says()
    talk.hear(then, at=at(9))
    assert await talk.calls(a_timer("", "")) == [("set_alarm", call)]


async def test_every_day_at_two_times(talk: Talk) -> None:
    talk.hear("I take my pills at eight in the morning and eight in the evening, remind me every day.", at=at(6))
    first = await talk.calls(a_timer("take my pills", ""))
    [_, second] = await talk.calls("delivered", a_timer("take my pills", ""))
    same = {"label": "take my pills", "repeat": "FREQ=DAILY"}
    assert [*first, second] == [
        ("set_alarm", {"at": "2026-11-21T08:00", **same}),
        ("set_alarm", {"at": "2026-11-21T20:00", **same}),
    ]


@pytest.mark.parametrize(
    ("first", "then", "moment"),
    [
        ("Walk the dog, remind me at half past twelve.", "Actually twelve o'clock is better.", "2026-11-21T12:00"),
        ("Set an alarm for seven tomorrow", "Ugh, make that ten past seven.", "2026-11-22T07:10"),
        ("提醒我今天下午六点出门。", "把六点的闹钟往后推十分钟。", "2026-11-21T18:10"),
    ],
)
async def test_it_is_moved(talk: Talk, first: str, then: str, moment: str) -> None:
    talk.hear(first, at=at(9))
    [(_, set_)] = await talk.calls(a_timer("", ""))
    timer = a_timer(str(set_["label"]), "9 hours", f"{set_['at'].replace('T', ' ')}:00 CET")
    talk.messages.pop()
    talk.result(timer)
    await talk.says()
    talk.hear(then, at=at(9))
    await talk.calls([timer])
    [(tool, arguments)] = await talk.calls(timer)
    assert (tool, arguments["at"]) == ("set_alarm", moment)


async def test_what_counts_down_is_paused_in_chinese(talk: Talk) -> None:
    study = a_timer("学习", "39 minutes 50 seconds")
    talk.hear("学习四十分钟，帮我计时。", at=at(9))
    await talk.calls(study)
    await talk.says()
    talk.hear("暂停一下。", at=at(9))
    assert await talk.calls([study]) == [("list_timers", {})]
    assert await talk.calls({"cancelled": study, "still_set": 0}) == [("cancel_timer", {"which": "t1"})]


async def test_a_weekday_that_is_put_right_is_nobody_who_spoke(talk: Talk) -> None:
    talk.hear("周四上午十点提醒我去银行", at=at(9))
    bank = a_timer("去银行", "5 days", "2026-11-26 10:00:00 CET")
    await talk.calls(bank)
    await talk.says()
    talk.hear("不是周四，是周五。", at=at(9))
    await talk.calls([bank])
    assert await talk.calls(bank) == [("set_alarm", {"at": "2026-11-27T10:00", "label": "去银行"})]


async def test_what_is_paused_is_what_is_left(talk: Talk) -> None:
    dumplings = a_timer("dumplings", "14 minutes 57 seconds")
    talk.hear("Set a fifteen minute timer for the dumplings.", at=at(9))
    await talk.calls(dumplings)
    await talk.says()
    talk.hear("pause the timer", at=at(9))
    await talk.calls([dumplings])
    await talk.calls({"cancelled": dumplings, "still_set": 0})
    await talk.says()
    talk.hear("How many minutes are left now?", at=at(9))
    await talk.calls("no timer is set")
    assert (await talk.says()).startswith("Paused, with 14 minutes and 57 seconds left")
    talk.hear("Carry on with the timer.", at=at(9))
    assert await talk.calls(dumplings) == [("set_timer", {"seconds": 897, "label": "dumplings"})]


async def test_a_reminder_is_found_by_one_word_of_it(talk: Talk) -> None:
    hens = a_timer("let the hens out", "2 hours", "2026-11-21 12:00:00 CET", "t9")
    talk.hear("Stop reminding me about the hens at noon.", at=at(9))
    await talk.calls("error: there is no timer 'the hens at noon'; set are: let the hens out, ring mum")
    assert await talk.calls([hens, a_timer("ring mum", "3 hours")]) == [("list_timers", {})]
    assert await talk.calls({"cancelled": hens, "still_set": 1}) == [("cancel_timer", {"which": "t9"})]


@pytest.mark.parametrize(
    ("words", "name", "slots"),
    [
        ("When was that reminder for?", "timer_status", {"named": 1, "newest": 1}),
        ("What did you write down for Friday?", "timer_status", {"weekday": 4}),
        ("周五我有什么事？", "timer_status", {"weekday": 4}),
        ("Set one for seven fifteen.", "alarm", {"hour": 7, "minute": 15}),
        ("One more time, two minutes for Leo.", "unknown", {}),
        ("We need Tom, Anna and the kids to be ready", "unknown", {}),
        ("I've got a meeting, thirty minutes.", "unknown", {}),
        ("wake me at six tomorrow, I want to read before bed", "alarm", {"wakes": 1, "hour": 6, "day": 1}),
        ("Anything else on for today?", "timer_status", {"day": 0}),
        ("Do I have any alarms for tomorrow?", "timer_status", {"day": 1}),
        ("Ugh, make that ten past seven.", "unknown", {}),
        (
            "Remind me to take my badge when I leave, say ten to ten tonight.",
            "alarm",
            {"minute": -10, "hour": 10, "period": "night", "label": "take my badge when I leave"},
        ),
        (
            "Remind me in three months to give Bruno his tablet.",
            "ask_when",
            {"in_months": 3, "label": "give Bruno his tablet"},
        ),
        ("每隔五天提醒我浇一次兰花。", "ask_when", {"label": "浇一次兰花", "repeat": "FREQ=DAILY;INTERVAL=5"}),
        (
            "remind me every two weeks on Monday at nine to vacuum",
            "alarm",
            {"repeat": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "weekday": 0, "hour": 9, "label": "vacuum"},
        ),
        (
            "提醒我每周四晚上倒垃圾。",
            "ask_when",
            {"repeat": "FREQ=WEEKLY;BYDAY=TH", "period": "night", "label": "倒垃圾"},
        ),
        (
            "工作日每天早上七点一刻的闹钟。",
            "alarm",
            {"repeat": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "period": "morning", "hour": 7, "minute": 15},
        ),
        (
            "每周三晚上提醒我倒垃圾，七点吧。",
            "alarm",
            {"repeat": "FREQ=WEEKLY;BYDAY=WE", "period": "night", "hour": 7, "label": "倒垃圾"},
        ),
        ("今天农历不用说，就告诉我今天星期几。", "date", {}),
        ("暂停一下计时。", "timer_pause", {}),
    ],
)
def test_a_line_means_what_its_speaker_wanted(words: str, name: str, slots: dict[str, Any]) -> None:
    found = UNDERSTAND(words)
    assert (found.name, dict(found.slots)) == (name, slots)


@pytest.mark.parametrize(
    ("words", "answer"),
    [("再帮我算一下八十八块打八折是多少。", "等于70.4。"), ("十亩地是多少公顷？", "大约是0.667公顷。")],
)
def test_a_sum_is_asked_for_in_many_words(words: str, answer: str) -> None:
    assert answer_sum(mended(words, "zh")) == answer
