"""What is not done though a sentence fits: what was told not to be, what was left out, talk, and times not read."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.intents.household import a_home
from tests.agent.intents.kitchen import Kitchen, a_kitchen


@pytest.fixture
async def kitchen(tmp_path: Path) -> AsyncIterator[Kitchen]:
    async with a_kitchen(tmp_path) as made:
        yield made


WEEKDAYS = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("set an alarm every day at 7 except on weekends", [f"2026-11-23 07:00 {WEEKDAYS}"]),
        ("wake me every day at seven but not on sundays", [f"2026-11-23 07:00 {WEEKDAYS},SA"]),
        ("wake me at seven every day except saturday and sunday", [f"2026-11-23 07:00 {WEEKDAYS}"]),
        ("wake me at seven every weekday except friday", ["2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH"]),
        ("set an alarm for seven every weekday except Wednesday", ["2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,TH,FR"]),
        ("工作日七点叫我，周三除外", ["2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,TH,FR"]),
        ("周二周四八点叫我", ["2026-11-24 08:00 FREQ=WEEKLY;BYDAY=TU,TH"]),
        ("除了周末每天七点叫我", [f"2026-11-23 07:00 {WEEKDAYS}"]),
        ("每天七点叫我，周末不用", [f"2026-11-23 07:00 {WEEKDAYS}"]),
        ("每天七点叫我起床，周日除外", [f"2026-11-23 07:00 {WEEKDAYS},SA"]),
        ("wake me at seven every day except on monday and thursday", []),
        ("wake me every day at seven except on holidays", []),
        ("每天七点叫我，除了节假日", []),
    ],
)
async def test_days_that_are_left_out_do_not_ring(kitchen: Kitchen, words: str, set_: list[str]) -> None:
    await kitchen.hear(words)
    assert await kitchen.rings() == set_


@pytest.mark.parametrize(
    "words",
    [
        "cancel all timers except the pasta",
        "cancel all the timers but not the pasta",
        "cancel all the timers, but keep the pasta timer",
        "cancel every timer apart from the pasta",
        "stop everything except the pasta one",
    ],
)
async def test_what_is_left_out_goes_on(kitchen: Kitchen, words: str) -> None:
    for each in ("set a pasta timer for ten minutes", "set a rice timer for twelve minutes"):
        await kitchen.hear(each)
    await kitchen.hear(words)
    assert [each.rpartition(" ")[2] for each in await kitchen.rings()] == ["pasta"]


@pytest.mark.parametrize(
    "words", ["除了面条的计时器都取消", "取消所有计时器，除了面条的", "把计时器全部取消，留着面条的"]
)
async def test_what_is_left_out_in_chinese_goes_on(kitchen: Kitchen, words: str) -> None:
    for each in ("十分钟后提醒我看面条", "十二分钟后提醒我看米饭"):
        await kitchen.hear(each)
    await kitchen.hear(words)
    assert [each.rpartition(" ")[2] for each in await kitchen.rings()] == ["看面条"]


async def test_where_nothing_is_called_so_all_stay(kitchen: Kitchen) -> None:
    await kitchen.hear("set a pasta timer for ten minutes")
    assert await kitchen.hear("cancel all timers except the soup") == "I find no such timer."
    assert len(await kitchen.rings()) == 1


async def heard_last(folder: Path, *said: str) -> str:
    """Return what a home answers to the last of some sentences of one conversation."""
    async with a_home(folder) as home:
        answers = [await home.hear(words, follows=bool(number)) for number, words in enumerate(said)]
    return answers[-1]


@pytest.mark.parametrize(
    ("words", "on"),
    [
        ("take everything off except the bread", "bread"),
        ("clear the list except for the bread", "bread"),
        ("remove everything but the bread and the milk", "milk, bread"),
        ("take everything off the list except the soap", "milk, bread, salt"),
        ("don't delete the milk", "milk, bread, salt"),
        ("don't add beer to the shopping list", "milk, bread, salt"),
        ("please do not clear the shopping list", "milk, bread, salt"),
        ("never put beer on the list", "milk, bread, salt"),
        ("add no salt crackers to the list", "milk, bread, salt, no salt crackers"),
        ("put eggs and beer on the list, not the cider", "milk, bread, salt, eggs, beer"),
        ("remove milk and salt", "bread"),
        ("take the milk, the salt and the bread off", ""),
        ("scrap the milk, we have plenty", "bread, salt"),
    ],
)
async def test_what_a_list_holds_after_it(tmp_path: Path, words: str, on: str) -> None:
    told = await heard_last(
        tmp_path, "add milk, bread and salt to the shopping list", words, "what is on the shopping list"
    )
    assert told == (f"On the shopping list there is: {on}." if on else "There is nothing on the shopping list.")


@pytest.mark.parametrize(
    ("words", "on"),
    [
        ("除了面包全部去掉", "面包"),
        ("把清单上除了面包以外的都删掉", "面包"),
        ("别把啤酒加到购物清单", "牛奶、面包、盐"),
        ("不要清空购物清单", "牛奶、面包、盐"),
        ("牛奶先别删", "牛奶、面包、盐"),
        ("购物清单加鸡蛋，不要啤酒", "牛奶、面包、盐、鸡蛋"),
        ("还要不要买牛奶", "牛奶、面包、盐"),
        ("去掉牛奶和盐", "面包"),
    ],
)
async def test_what_a_list_holds_after_it_in_chinese(tmp_path: Path, words: str, on: str) -> None:
    told = await heard_last(tmp_path, "购物清单加牛奶、面包、盐", words, "购物清单上有什么")
    assert told == f"购物清单上有：{on}。"


@pytest.mark.parametrize(
    "words",
    [
        *("I don't need an alarm", "keep the timer", "don't cancel the timer", "do not stop the timer yet"),
        *("please don't turn off my timer", "leave the timer running", "there is no need to cancel the timer"),
        *("不要取消计时器", "别关计时器", "先别取消", "计时器不要关掉", "留着那个计时器", "不用再设闹钟"),
        *("don't set an alarm for seven", "I didn't ask you to set another timer"),
    ],
)
async def test_what_is_not_to_be_done_is_left_and_not_asked_back(kitchen: Kitchen, words: str) -> None:
    await kitchen.hear("set a timer for ten minutes")
    assert await kitchen.hear(words) in {"All right, I leave it.", "好的，那就算了。"}
    assert len(await kitchen.rings()) == 1


@pytest.mark.parametrize(
    "words",
    [
        *("should I set an alarm for seven", "why did you set a timer for ten minutes", "turn up at six"),
        *("my mother always forgets to set her alarm for six", "the alarm woke me at seven this morning"),
        *("if it's 3 pm here what time is it in Beijing", "did she set the timer for five minutes"),
        *("我妈妈总是忘了设六点的闹钟", "我该不该设七点的闹钟", "闹钟六点把我吵醒了", "为什么设了十分钟的计时器"),
        *("set a timer for five minuets", "set a timer for zero minutes", "set a timer for one million minutes"),
        *("set a timer for minus five minutes", "set a timer for five hors"),
        *("don't wake me at seven", "please don't remind me at six to call mum", "别七点叫我", "明天不要六点叫我"),
        *("set a timer for twenty or thirty minutes", "设个负五分钟的计时器", "he set an alarm for five"),
        *("我每天六点起床", "what happens if I set a timer for an hour", "春节早上八点叫我", "明年三月三号七点叫我"),
        *("除夕晚上八点提醒我包饺子", "中秋节晚上七点提醒我吃月饼", "remind me at thanksgiving at six to eat"),
        *("wake me on Ash Wednesday at six", "remind me on my birthday at ten to smile"),
    ],
)
async def test_talk_and_times_that_are_not_read_set_nothing(kitchen: Kitchen, words: str) -> None:
    await kitchen.hear(words)
    assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("set a timer for 1.5 hours", ["12:30"]),
        ("set a timer for one point five hours", ["12:30"]),
        ("设个一点五小时的计时器", ["12:30"]),
        ("set a timer for 2.5 minutes", ["11:02"]),
        ("set a timer for one hour thirty", ["12:30"]),
        ("set a timer for two hours fifteen please", ["13:15"]),
        ("定时一小时十五分三十秒", ["12:15"]),
        ("set a timer for one hour fifteen minutes and thirty seconds", ["12:15"]),
        ("四个半小时后提醒我", ["15:30"]),
        ("两分半钟计时", ["11:02"]),
        ("set a timer for fifty... I mean fifteen minutes", ["11:15"]),
        ("set a timer for 5 minutes. no, make that 8", ["11:08"]),
        ("设个十分钟，哦不，二十分钟的定时器", ["11:20"]),
        ("设个十分钟，不对，二十分钟的定时器", ["11:20"]),
        ("设个１０分钟的计时器", ["11:10"]),
        ("set a ten-minute and a twenty-minute timer", ["11:10", "11:20"]),
        ("定两个计时器一个三分钟一个五分钟", ["11:03", "11:05"]),
        ("set a timer for 20 minutes for two eggs", ["11:20"]),
    ],
)
async def test_lengths_are_read_whole(kitchen: Kitchen, words: str, left: list[str]) -> None:
    await kitchen.hear(words)
    assert [each[11:16] for each in await kitchen.rings()] == left


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("take three minutes off the pasta timer", "11:07"),
        ("reduce it by two minutes", "11:08"),
        ("减三分钟", "11:07"),
        ("reduce it by twenty minutes", "11:10"),
    ],
)
async def test_less_is_less(kitchen: Kitchen, words: str, left: str) -> None:
    await kitchen.hear("set a pasta timer for ten minutes")
    await kitchen.hear(words)
    assert [each[11:16] for each in await kitchen.rings()] == [left]


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("in two weeks remind me to renew the passport", "2026-12-05 09:00 renew the passport"),
        ("in three days remind me to renew the card", "2026-11-24 09:00 renew the card"),
        ("remind me on Christmas Eve at six pm to call home", "2026-12-24 18:00 call home"),
        ("remind me Christmas day at 9 am to call mum", "2026-12-25 09:00 call mum"),
        ("wake me at 8 pm on New Year's Eve", "2026-12-31 20:00"),
        ("wake me on Easter Sunday at 10", "2027-03-28 10:00"),
        ("remind me on good friday at ten to fast", "2027-03-26 10:00 fast"),
        ("圣诞节早上九点叫我", "2026-12-25 09:00"),
        ("wake me on the 3rd of march 2030 at seven", "2030-03-03 07:00"),
        ("2030年3月3日七点叫我", "2030-03-03 07:00"),
        ("remind me at six to buy christmas cards", "2026-11-21 18:00 buy christmas cards"),
        ("六点提醒我买中秋月饼", "2026-11-21 18:00 买中秋月饼"),
        (
            "remind me at six to water everything except the cactus",
            "2026-11-21 18:00 water everything except the cactus",
        ),
    ],
)
async def test_the_day_is_the_one_that_was_said(kitchen: Kitchen, words: str, set_: str) -> None:
    await kitchen.hear(words)
    assert await kitchen.rings() == [set_]


async def test_all_of_a_kind_are_cancelled_and_what_is_left_is_told(kitchen: Kitchen) -> None:
    for hour in range(1, 11):
        await kitchen.hear(f"remind me at {hour} pm to feed the cat")
    await kitchen.hear("set a timer for five minutes")
    await kitchen.hear("set an alarm for 6 am")
    said = await kitchen.hear("cancel all my reminders")
    assert said == "I cancelled 8 reminders. Not yet cancelled: 2. Say it again, and I go on."
    assert await kitchen.hear("cancel all my reminders") == "I cancelled 2 reminders."
    assert len(await kitchen.rings()) == 2
    await kitchen.hear("turn off all alarms")
    assert [each[11:16] for each in await kitchen.rings()] == ["11:05"]
    await kitchen.hear("cancel all")
    assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("取消所有提醒", ["11:10", "07:00"]),
        ("取消所有闹钟", ["11:10", "20:00"]),
        ("取消所有计时器", ["20:00", "07:00"]),
        ("cancel all timers and alarms", ["20:00"]),
        ("全部取消", []),
    ],
)
async def test_another_kind_is_left(kitchen: Kitchen, words: str, left: list[str]) -> None:
    for each in ("设十分钟计时器", "八点提醒我吃药", "明早七点叫我"):
        await kitchen.hear(each)
    await kitchen.hear(words)
    assert [each[11:16] for each in await kitchen.rings()] == left


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("cancel tomorrow's reminders", ["tim"]),
        ("cancel all my reminders for tomorrow", ["tim"]),
        ("delete the Sunday reminders", ["tim"]),
        ("cancel tomorrow's reminder", ["mum", "dad", "tim"]),
        ("delete the Sunday reminder", ["mum", "dad", "tim"]),
        ("取消明天所有的提醒", ["tim"]),
        ("取消明天的提醒", ["mum", "dad", "tim"]),
        ("cancel Monday's reminder", ["mum", "dad"]),
    ],
)
async def test_only_those_of_the_day_are_cancelled_or_it_asks(kitchen: Kitchen, words: str, left: list[str]) -> None:
    for each in ("tomorrow at ten to call mum", "tomorrow at noon to call dad", "on monday at noon to call tim"):
        await kitchen.hear(f"remind me {each}")
    said = await kitchen.hear(words)
    assert [each.rpartition(" ")[2] for each in await kitchen.rings()] == left
    assert len(left) < 3 or said.startswith(("There are several. ", "有好几个："))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("what day was the 14th of July 1989", "That is Friday, the 14th of July 1989."),
        ("大前天是几号", "那天是2026年11月18日，星期三。"),
        ("北京几点了", "那里现在是晚上6点整。"),
    ],
)
async def test_the_day_and_place_that_was_asked_for_is_told(kitchen: Kitchen, words: str, told: str) -> None:
    assert await kitchen.hear(words) == told


@pytest.mark.parametrize(
    "words",
    [
        *("what is the average of 3, 5 and 10", "what was the date last Friday", "what date is two weeks from Monday"),
        *("what time is it on Mars", "speak Chinese", "speak slower", "今天是农历几号"),
        *("现在北京时间几点", "乌鲁木齐几点了", "火星几点了", "再加一个", "加一点"),
    ],
)
async def test_what_is_not_known_is_not_told_of_here_and_now(kitchen: Kitchen, words: str) -> None:
    said = await kitchen.hear(words)
    assert "model" in said or "模型" in said


async def test_what_is_not_to_be_forgotten_is_rung_for(kitchen: Kitchen) -> None:
    await kitchen.hear("don't forget to call mum tomorrow")
    await kitchen.hear("don't forget to remind me about the meeting tomorrow at ten")
    await kitchen.hear("别忘了明天给爸爸打电话")
    await kitchen.hear("please add flour to the list and also remind me in 20 minutes to preheat the oven")
    assert [each.partition(" ")[2] for each in await kitchen.rings()] == [
        "11:20 preheat the oven",
        "09:00 call mum",
        "09:00 给爸爸打电话",
        "10:00 the meeting",
    ]


@pytest.mark.parametrize(
    ("said", "asked", "told"),
    [
        (
            ["remember mum is allergic to penicillin", "mum is not allergic to penicillin"],
            "is mum allergic to penicillin",
            "You told me last: mum is not allergic to penicillin. Before that: mum is allergic to penicillin.",
        ),
        (
            ["remember Anna likes tea and Ben hates tea"],
            "does Ben like tea",
            "You told me: Anna likes tea and Ben hates tea.",
        ),
        (["记住门禁密码是1234", "门禁密码换了，是8822"], "门禁密码是多少", "你告诉过我：门禁密码换了，是8822。"),
        (
            ["记住门禁密码是1234", "门禁密码改成8822了"],
            "门禁密码是1234吗",
            "你最后说的是：门禁密码改成8822了。之前说的是：门禁密码是1234。",
        ),
        (["add call Tom to my to-do list"], "what is on my to do list", "On the to-do list there is: call Tom."),
        (["add eggs to the list"], "do we have eggs on the list", "Yes, eggs is on the shopping list."),
        (["购物清单加鸡蛋"], "清单上有鸡蛋吗", "是的，购物清单上有鸡蛋。"),
    ],
)
async def test_what_was_said_last_is_told(tmp_path: Path, said: list[str], asked: str, told: str) -> None:
    async with a_home(tmp_path) as home:
        for each in said:
            await home.hear(each)
        assert await home.hear(asked) == told


async def test_the_alarm_of_a_day_is_moved_and_none_is_added(kitchen: Kitchen) -> None:
    await kitchen.hear("wake me tomorrow at seven")
    await kitchen.hear("change tomorrow's alarm to 6:15")
    assert await kitchen.rings() == ["2026-11-22 06:15"]


@pytest.mark.parametrize("words", ["每周二晚上提醒我倒垃圾", "每个月初提醒我交房租水电"])
async def test_what_comes_again_is_not_offered_for_once(kitchen: Kitchen, words: str) -> None:
    assert "对吗" not in await kitchen.hear(words)


SET = ("set a pasta timer for ten minutes", "set a rice timer for twenty minutes", "wake me every day at seven")


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("cancel the timer and the alarm", ["pasta"]),
        ("turn off the alarm and the timer", ["pasta"]),
        ("stop the pasta timer and the rice timer", ["DAILY"]),
        ("cancel the pasta and rice timers", ["DAILY"]),
        ("把计时器和闹钟都取消", ["pasta"]),
        ("取消pasta和rice的计时器", ["DAILY"]),
        ("把pasta的计时器关了，rice那个留着", ["rice", "DAILY"]),
    ],
)
async def test_several_are_cancelled_by_one_word(kitchen: Kitchen, words: str, left: list[str]) -> None:
    for each in SET:
        await kitchen.hear(each)
    await kitchen.hear(words)
    rings = await kitchen.rings()
    assert len(rings) == len(left)
    assert all(name in ring for name, ring in zip(left, rings, strict=True))


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("wake me on weekdays at six and at seven on Saturday", [f"2026-11-23 06:00 {WEEKDAYS}", "2026-11-28 07:00"]),
        ("六点提醒我做饭，七点关火", ["2026-11-21 18:00 做饭", "2026-11-21 19:00 关火"]),
        ("明天早上六点提醒我做饭，七点关火", ["2026-11-22 06:00 做饭", "2026-11-22 07:00 关火"]),
        ("十分钟后提醒我关火，二十分钟后下饺子", ["2026-11-21 11:10 关火", "2026-11-21 11:20 下饺子"]),
        ("六点提醒我出门，七点有客人来", ["2026-11-21 18:00 出门，七点有客人来"]),
        ("remind me at five tonight to call mum", ["2026-11-21 17:00 call mum"]),
        ("tonight at five remind me to call mum", ["2026-11-21 17:00 call mum"]),
        ("今晚五点提醒我打电话", ["2026-11-21 17:00 打电话"]),
        ("今晚一点提醒我看烤箱", ["2026-11-22 01:00 看烤箱"]),
        ("set an alarm for five at night", ["2026-11-22 05:00"]),
        ("半夜四点叫我", ["2026-11-22 04:00"]),
    ],
)
async def test_each_rings_at_its_own_time(kitchen: Kitchen, words: str, set_: list[str]) -> None:
    await kitchen.hear(words)
    assert await kitchen.rings() == set_


@pytest.mark.parametrize(
    "words",
    [
        "每天晚上九点提醒孩子刷牙，周五周六可以晚半小时",
        "I take my tablet at eight in the morning and again at eight at night, remind me of both",
        "we feed the cat at seven and at five, remind me each time",
    ],
)
async def test_what_is_otherwise_on_some_days_or_is_for_both_times_is_not_half_set(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert (await kitchen.hear(words)).startswith(("I did not understand", "这句我没听明白"))
        assert await kitchen.rings() == []


@pytest.mark.parametrize(
    "words",
    [
        *("nobody wants an alarm at six", "no one needs a timer for ten minutes.", "you forgot to wake me at seven"),
        *("my sister set an alarm for six", "you should have woken me at seven", "you were going to wake me at five"),
        *("没有人要六点的闹钟", "没人需要十分钟的计时器", "你忘了六点叫我", "你怎么六点叫我", "你为什么没六点叫我"),
        *("你刚才六点叫我了", "你昨天七点叫我的"),
    ],
)
async def test_what_is_told_of_an_alarm_orders_none(kitchen: Kitchen, words: str) -> None:
    await kitchen.hear(words)
    assert await kitchen.rings() == []


@pytest.mark.parametrize(
    "words",
    [
        *("nobody is home, wake me at six", "my husband forgot so wake me at six", "you can wake me at six"),
        *("why not wake me at six", "my alarm set for six please", "没人在家，六点叫我", "不要忘了提醒我三点开会"),
    ],
)
async def test_an_order_behind_what_is_told_is_one(kitchen: Kitchen, words: str) -> None:
    await kitchen.hear(words)
    assert len(await kitchen.rings()) == 1
