"""The time, timers and alarms without a model: what is called, and what is said of the results."""

from datetime import datetime

import pytest

from tests.agent.offline_talk import Talk, a_timer, at

INTERRUPTED = "unknown: the machine stopped before this call had a result; look whether it took effect"


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "moment", "said"),
    [
        ("What time is it?", at(8, 5), "It is 9:05 in the morning."),
        ("What time is it?", at(11), "It is noon."),
        ("What time is it?", at(22, 30), "It is half past eleven at night."),
        ("现在几点了？", at(8, 5), "现在是上午9点05分。"),
        ("现在几点了？", at(13), "现在是下午2点整。"),
        ("What day is it today?", at(8), "Today is Saturday, the 21st of November 2026."),
        ("What day is it today?", at(23, 30), "Today is Sunday, the 22nd of November 2026."),
        ("What is the date tomorrow?", at(8), "Tomorrow is Sunday, the 22nd of November 2026."),
        ("今天星期几？", at(8), "今天是2026年11月21日，星期六。"),
        ("明天几号？", at(8), "明天是2026年11月22日，星期日。"),
    ],
)
async def test_a_question_of_time_costs_one_call(talk: Talk, words: str, moment: datetime, said: str) -> None:
    talk.hear(words, at=moment)
    assert await talk.says() == said


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("UTC (UTC+00:00)", "It is eight o'clock in the morning."),
        ("Asia/Shanghai (UTC+08:00)", "It is four o'clock in the afternoon."),
        ("UTC+08:00", "It is four o'clock in the afternoon."),
        ("America/St_Johns (UTC-03:30)", "It is half past four at night."),
        ("nonsense", "It is eight o'clock in the morning."),
        ("UTC+99:99", "It is eight o'clock in the morning."),
    ],
)
async def test_the_time_is_that_of_the_home(talk: Talk, zone: str, said: str) -> None:
    talk.hear("What time is it?", at=at(8), zone=zone)
    assert await talk.says() == said


async def test_words_that_waited_are_answered_with_the_present_time(talk: Talk) -> None:
    talk.hear("What time is it?", at=at(8), Waited_Seconds="1800")
    assert await talk.says() == "It is half past nine in the morning."


@pytest.mark.shows("V30", "V23")
async def test_a_timer_without_a_name_is_labelled_by_its_length(talk: Talk) -> None:
    talk.hear("Set a timer for five minutes.")
    assert await talk.calls(a_timer("5 minutes", "5 minutes")) == [
        ("set_timer", {"seconds": 300, "label": "5 minutes"})
    ]
    assert await talk.says() == "Your timer is set for five minutes."


@pytest.mark.parametrize(
    ("words", "call", "said"),
    [
        ("定一个五分钟的计时器", {"seconds": 300, "label": "5分钟"}, "5分钟的计时器已经开始了。"),
        (
            "Set a pasta timer for ten minutes.",
            {"seconds": 600, "label": "pasta"},
            "I will tell you in ten minutes: pasta.",
        ),
        (
            "Remind me in half an hour to call my mother.",
            {"seconds": 1800, "label": "call my mother", "reminder": True},
            "I will tell you in half an hour: call your mother.",
        ),
        ("二十分钟后提醒我关火", {"seconds": 1200, "label": "关火", "reminder": True}, "20分钟后我会提醒你：关火。"),
        ("Set a timer for an hour and a half.", {"seconds": 5400, "label": "1 hour 30 minutes"}, None),
        (
            "Set a timer for an egg, six minutes.",
            {"seconds": 360, "label": "an egg"},
            "I will tell you in six minutes: an egg.",
        ),
        (
            "Set another timer for pasta for nine and a half minutes.",
            {"seconds": 570, "label": "pasta"},
            "I will tell you in nine minutes and 30 seconds: pasta.",
        ),
    ],
)
async def test_a_timer_may_be_asked_for_in_many_words(
    talk: Talk, words: str, call: dict[str, object], said: str | None
) -> None:
    talk.hear(words)
    assert await talk.calls(a_timer("", "")) == [("set_timer", call)]
    assert await talk.says() == (said or "Your timer is set for an hour and a half.")


@pytest.mark.parametrize("when", ["in ten minutes", "at nine"])
async def test_a_very_long_label_is_cut_to_what_the_tools_take(talk: Talk, when: str) -> None:
    talk.hear(f"Remind me to {'call my mother and ' * 20}go {when}.")
    [(_, arguments)] = await talk.answer()
    assert len(arguments["label"]) == 200


async def test_a_timer_runs_from_when_it_was_said(talk: Talk) -> None:
    talk.hear("Set a timer for five minutes.", Waited_Seconds="120")
    [(_, arguments)] = await talk.calls(a_timer("5 minutes", "3 minutes"))
    assert arguments == {"seconds": 180, "label": "5 minutes"}


@pytest.mark.shows("V23")
@pytest.mark.parametrize(
    ("words", "moment", "when", "said"),
    [
        (
            "Wake me up at six o'clock.",
            at(8),
            "2026-11-22T06:00",
            "The alarm is set for six o'clock in the morning tomorrow.",
        ),
        ("Wake me up at six o'clock.", at(3), "2026-11-21T06:00", "The alarm is set for six o'clock in the morning."),
        (
            "Set an alarm for six thirty.",
            at(8),
            "2026-11-21T18:30",
            "The alarm is set for half past six in the evening.",
        ),
        ("Set an alarm for a quarter to seven in the morning.", at(8), "2026-11-22T06:45", None),
        ("Set an alarm for 18:00.", at(8), "2026-11-21T18:00", None),
        ("Set an alarm for midnight.", at(8), "2026-11-22T00:00", None),
        ("Set an alarm for twelve at night.", at(8), "2026-11-22T00:00", None),
        ("Set an alarm for noon.", at(8), "2026-11-21T12:00", "The alarm is set for noon."),
        ("Set an alarm for tomorrow at nine.", at(8), "2026-11-22T09:00", None),
        ("Set an alarm for tomorrow at three.", at(8), "2026-11-22T15:00", None),
        ("Wake me tomorrow at five.", at(8), "2026-11-22T05:00", None),
        ("Set an alarm for the day after tomorrow at nine.", at(8), "2026-11-23T09:00", None),
        (
            "Set an alarm for the first of January at eight.",
            at(8),
            "2027-01-01T08:00",
            "The alarm is set for eight o'clock in the morning on Friday, the 1st of January 2027.",
        ),
        ("Set an alarm for January 5th at 9 pm.", at(8), "2027-01-05T21:00", None),
        ("Set an alarm for the 29th of February at noon.", at(8), "2028-02-29T12:00", None),
        ("Wake me on the 21st at seven.", at(8), "2026-12-21T07:00", None),
        ("Wake me up on monday at six.", at(8), "2026-11-23T06:00", None),
        ("Wake me up on saturday at nine.", at(7), "2026-11-21T09:00", None),
        ("Wake me up on saturday at six.", at(8), "2026-11-28T06:00", None),
        ("Set an alarm for in three days at six in the evening.", at(8), "2026-11-24T18:00", None),
        ("Set an alarm for in two weeks at ten in the morning.", at(8), "2026-12-05T10:00", None),
        ("1月5号早上九点叫我起床", at(8), "2027-01-05T09:00", "闹钟已设在2027年1月5日，星期二上午9点整。"),
        ("星期五下午三点的闹钟", at(8), "2026-11-27T15:00", None),
        ("下周六早上八点叫我起床", at(8), "2026-11-28T08:00", None),
        ("下周三早上八点叫我起床", at(8), "2026-11-25T08:00", None),
        ("三天后早上八点叫我起床", at(8), "2026-11-24T08:00", None),
        ("两周后上午十点的闹钟", at(8), "2026-12-05T10:00", None),
        ("早上七点叫我起床", at(8), "2026-11-22T07:00", "闹钟已设在明天上午7点整。"),
        ("明天下午三点的闹钟", at(8), "2026-11-22T15:00", "闹钟已设在明天下午3点整。"),
        ("设一个中午十二点的闹钟", at(8), "2026-11-21T12:00", "闹钟已设在中午12点整。"),
        ("后天早上八点叫我", at(8), "2026-11-23T08:00", "闹钟已设在后天上午8点整。"),
    ],
)
async def test_an_alarm_is_set_for_the_next_moment_its_words_can_mean(
    talk: Talk, words: str, moment: datetime, when: str, said: str | None
) -> None:
    talk.hear(words, at=moment)
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": when, "label": ""})]
    assert said in {None, await talk.says()}


@pytest.mark.shows("G13")
async def test_a_reminder_speaks_to_the_person(talk: Talk) -> None:
    talk.hear("Remind me to take my medicine at nine in the evening.")
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": "2026-11-21T21:00", "label": "take my medicine"})]
    assert await talk.says() == "I will remind you at nine o'clock in the evening: take your medicine."


@pytest.mark.parametrize(
    ("words", "when", "label"),
    [
        ("Remind me to feed Orestes on the first of January at eight.", "2027-01-01T08:00", "feed Orestes"),
        ("Remind me next Tuesday at 7 pm to take the bins out.", "2026-11-24T19:00", "take the bins out"),
        ("Remind me to read the second chapter at nine.", "2026-11-21T21:00", "read the second chapter"),
        ("提醒我五号晚上八点交房租", "2026-12-05T20:00", "交房租"),
    ],
)
async def test_a_reminder_has_its_day(talk: Talk, words: str, when: str, label: str) -> None:
    talk.hear(words, at=at(9))
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": when, "label": label})]


@pytest.mark.parametrize("words", ["Remind me on the 30th of February at noon to laugh.", "2月30号中午十二点提醒我笑"])
async def test_a_day_that_no_year_has_is_told(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.says() in {"There is no such day.", "没有这一天。"}


@pytest.mark.parametrize(
    "words",
    [
        "Remind me to call my mother.",
        "Remind me to pay the rent today.",
        "Set a timer.",
        "提醒我给妈妈打电话",
    ],
)
async def test_a_reminder_without_a_time_is_asked_for_one(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert (await talk.says()).startswith(("When?", "什么时候？"))


@pytest.mark.parametrize(
    ("wanted", "when", "call"),
    [
        (
            "Remind me to call my mother.",
            "At six in the evening.",
            {"at": "2026-11-21T18:00", "label": "call my mother"},
        ),
        ("Remind me to call the bank.", "Tomorrow at nine.", {"at": "2026-11-22T09:00", "label": "call the bank"}),
        ("Remind me to call my father.", "In ten minutes.", {"seconds": 600, "label": "call my father"}),
        ("Set a timer for an egg.", "Six minutes.", {"seconds": 360, "label": "an egg"}),
        ("提醒我给妈妈打电话", "晚上八点", {"at": "2026-11-21T20:00", "label": "给妈妈打电话"}),
    ],
)
async def test_a_time_said_afterwards_belongs_to_what_was_wanted(
    talk: Talk, wanted: str, when: str, call: dict[str, object]
) -> None:
    talk.hear(wanted)
    assert (await talk.says()).startswith(("When?", "什么时候？"))
    talk.hear(when)
    assert [arguments for _, arguments in await talk.calls(a_timer("", ""))] == [call]


async def test_something_else_said_afterwards_is_heard_as_that(talk: Talk) -> None:
    talk.hear("Remind me to call my mother.")
    await talk.says()
    talk.hear("What time is it?", at=at(8))
    assert await talk.says() == "It is nine o'clock in the morning."


@pytest.mark.shows("V23", "G13")
@pytest.mark.parametrize(
    ("words", "call", "said"),
    [
        (
            "Remind me every weekday at 7:15 to take my pills.",
            {"at": "2026-11-22T07:15", "label": "take my pills", "repeat": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
            "I will remind you every weekday at a quarter past seven in the morning: take your pills.",
        ),
        (
            "Remind me to water the plants every Sunday at ten.",
            {"at": "2026-11-21T10:00", "label": "water the plants", "repeat": "FREQ=WEEKLY;BYDAY=SU"},
            "I will remind you every Sunday at ten o'clock in the morning: water the plants.",
        ),
        (
            "Wake me up every day at six.",
            {"at": "2026-11-22T06:00", "label": "", "repeat": "FREQ=DAILY"},
            "The alarm is set for six o'clock in the morning, every day.",
        ),
        (
            "Set an alarm for 7 am every Monday.",
            {"at": "2026-11-22T07:00", "label": "", "repeat": "FREQ=WEEKLY;BYDAY=MO"},
            "The alarm is set for seven o'clock in the morning, every Monday.",
        ),
        (
            "每周一晚上八点提醒我倒垃圾",
            {"at": "2026-11-21T20:00", "label": "倒垃圾", "repeat": "FREQ=WEEKLY;BYDAY=MO"},
            "我会在每周一晚上8点整提醒你：倒垃圾。",
        ),
        (
            "每天早上七点叫我起床",
            {"at": "2026-11-22T07:00", "label": "", "repeat": "FREQ=DAILY"},
            "闹钟已设在每天上午7点整。",
        ),
    ],
)
async def test_what_repeats_is_set_by_its_rule(talk: Talk, words: str, call: dict[str, object], said: str) -> None:
    talk.hear(words, at=at(8))
    assert await talk.calls(a_timer("", "")) == [("set_alarm", call)]
    assert await talk.says() == said


@pytest.mark.parametrize(
    ("words", "which", "result", "said"),
    [
        (
            "Cancel the pasta timer.",
            "pasta",
            {"cancelled": a_timer("pasta", "3 minutes"), "still_set": 1},
            "All right, I cancelled this: pasta.",
        ),
        (
            "Cancel the five minute timer.",
            "5 minutes",
            {"cancelled": a_timer("5 minutes", "3 minutes"), "still_set": 0},
            "All right, I cancelled your five-minute timer.",
        ),
        ("Cancel the five minute timer.", "5 minutes", "error: no timer is set", "No timer is set."),
        ("取消五分钟的计时器", "5分钟", "error: no timer is set", "现在没有计时器。"),
        ("Cancel the five minute timer.", "5 minutes", "not what it used to be", "All right, it is cancelled."),
    ],
)
async def test_a_timer_is_cancelled_by_its_name_or_length_or_as_the_next(
    talk: Talk, words: str, which: str, result: object, said: str
) -> None:
    talk.hear(words)
    assert await talk.calls(result) == [("cancel_timer", {"which": which})]
    assert await talk.says() == said


MORNING_ALARM = a_timer("", "20 hours", "2026-11-22 07:00:00 CET", "t7") | {"kind": "alarm"}
FIVE = a_timer("5 minutes", "3 minutes", id="t5") | {"kind": "timer"}


@pytest.mark.parametrize(
    ("words", "said"), [("Cancel the timer.", "I find no such timer."), ("取消计时器", "我没有找到")]
)
async def test_an_alarm_is_no_timer_that_counts_down(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert await talk.calls([MORNING_ALARM]) == [("list_timers", {})]
    assert (await talk.says()).startswith(said)


@pytest.mark.parametrize("words", ["Cancel the alarm.", "取消闹钟"])
async def test_the_alarm_is_the_one_that_wakes(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.calls([FIVE, MORNING_ALARM]) == [("list_timers", {})]
    assert await talk.calls({"cancelled": MORNING_ALARM, "still_set": 1}) == [("cancel_timer", {"which": "t7"})]
    assert await talk.says() in {
        "All right, I cancelled your alarm: seven o'clock in the morning tomorrow.",
        "好的，已经取消明天上午7点整的闹钟。",
    }


RING_MUM = a_timer("ring mum", "20 hours", "2026-11-22 09:00:00 CET", "t9") | {"kind": "alarm"}


@pytest.mark.parametrize("words", ["Cancel the reminder.", "取消提醒"])
async def test_the_reminder_is_nothing_that_counts_down_or_wakes(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.calls([FIVE, MORNING_ALARM, RING_MUM]) == [("list_timers", {})]
    assert await talk.calls({"cancelled": RING_MUM, "still_set": 2}) == [("cancel_timer", {"which": "t9"})]


@pytest.mark.parametrize("words", ["Cancel the reminder.", "取消提醒"])
async def test_what_is_all_that_is_set_may_be_called_a_reminder(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.calls([FIVE]) == [("list_timers", {})]
    assert await talk.calls({"cancelled": FIVE, "still_set": 0}) == [("cancel_timer", {"which": "t5"})]


@pytest.mark.parametrize("words", ["Cancel the timer.", "取消计时器"])
async def test_the_timer_is_the_one_that_counts_down(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.calls([MORNING_ALARM, FIVE]) == [("list_timers", {})]
    assert await talk.calls({"cancelled": FIVE, "still_set": 1}) == [("cancel_timer", {"which": "t5"})]


async def test_a_timer_of_another_name_is_looked_for_in_the_list(talk: Talk) -> None:
    talk.hear("Get rid of the washing one.")
    error = "error: there is no timer 'washing one'; set are: move the laundry, pasta"
    assert await talk.calls(error) == [("cancel_timer", {"which": "washing"})]
    assert await talk.calls([a_timer("move the laundry", "3 minutes")]) == [("list_timers", {})]
    assert await talk.says() == "I find no such timer."
    talk.hear("取消五分钟的计时器")
    await talk.calls("error: there is no timer '5分钟'; set are: 茶")
    await talk.calls([a_timer("茶", "3 minutes")])
    assert await talk.says() == "我没有找到这个计时器。"


TIMERS = [
    a_timer("pasta", "9 minutes", "2026-11-21 11:10:00 CET", "t1"),
    a_timer("20 minutes", "20 minutes", "2026-11-21 11:20:00 CET", "t2"),
    a_timer("ring the vet", "2 days", "2026-11-23 12:00:00 CET", "t3"),
]


@pytest.mark.parametrize(
    ("words", "id_"),
    [
        ("Cancel the second one.", "t2"),
        ("Delete the last one, would you?", "t3"),
        ("Get rid of the Monday one.", "t3"),
    ],
)
async def test_one_of_several_is_cancelled_by_its_place_or_its_day(talk: Talk, words: str, id_: str) -> None:
    talk.hear(words)
    assert await talk.calls(TIMERS) == [("list_timers", {})]
    assert await talk.calls({"cancelled": TIMERS[0]}) == [("cancel_timer", {"which": id_})]
    await talk.says()


@pytest.mark.parametrize(
    ("words", "call", "said"),
    [
        ("give the pasta another two minutes", ("set_timer", {"seconds": 660, "label": "pasta"}), "All right. "),
        ("Change the pasta timer to a quarter of an hour.", ("set_timer", {"seconds": 900, "label": "pasta"}), "All "),
        ("Move the vet reminder to four in the afternoon", ("set_alarm", {"at": "2026-11-23T16:00"}), "All right. "),
        ("push the vet one back half an hour", ("set_alarm", {"at": "2026-11-23T12:30"}), "All right. "),
    ],
)
async def test_a_timer_is_set_anew_before_it_is_cancelled(
    talk: Talk, words: str, call: tuple[str, dict[str, object]], said: str
) -> None:
    talk.hear(words)
    assert await talk.calls(TIMERS) == [("list_timers", {})]
    [(name, arguments)] = await talk.calls(a_timer("pasta", "11 minutes", id="t9"))
    assert (name, arguments | call[1]) == (call[0], arguments)
    assert await talk.calls({"cancelled": TIMERS[0]}) == [("cancel_timer", {"which": "t3" if "vet" in words else "t1"})]
    assert (await talk.says()).startswith(said)


async def test_what_follows_a_timer_is_understood_by_it(talk: Talk) -> None:
    talk.hear("Uh, timer, twenty minutes.")
    await talk.calls(a_timer("20 minutes", "20 minutes", id="t2"))
    await talk.says()
    talk.hear("No, sorry, thirty.")
    await talk.calls(TIMERS)
    assert await talk.calls(a_timer("30 minutes", "30 minutes", id="t4")) == [
        ("set_timer", {"seconds": 1800, "label": "30 minutes"})
    ]
    assert await talk.calls({"cancelled": TIMERS[1]}) == [("cancel_timer", {"which": "t2"})]
    await talk.says()
    talk.hear("and another one for ten minutes")
    assert await talk.calls(a_timer("10 minutes", "10 minutes", id="t5")) == [
        ("set_timer", {"seconds": 600, "label": "10 minutes"})
    ]
    await talk.says()
    talk.hear("and the garlic bread eight minutes")
    assert await talk.calls(a_timer("the garlic bread", "8 minutes", id="t6")) == [
        ("set_timer", {"seconds": 480, "label": "the garlic bread"})
    ]
    await talk.says()
    talk.hear("never mind, cancel it")
    await talk.calls([*TIMERS, a_timer("the garlic bread", "8 minutes", id="t6")])
    assert await talk.calls({"cancelled": TIMERS[1]}) == [("cancel_timer", {"which": "t6"})]


@pytest.mark.parametrize(
    ("words", "at", "label"),
    [
        (
            "Also at noon tomorrow I've got to ring the vet, so remind me about that.",
            "22T12:00",
            "I've got to ring the vet",
        ),
        ("i need to be reminded about the dentist tomorrow at 9 15", "22T09:15", "the dentist"),
        (
            "remind me on Sunday morning at ten to nine that the boiler man is coming",
            "22T08:50",
            "the boiler man is coming",
        ),
        ("remind me to take the bins out tonight at eight", "21T20:00", "take the bins out"),
        ("Wake me up at half past six tomorrow morning.", "22T06:30", ""),
        ("每天晚上九点还要提醒我吃降压药", "21T21:00", "吃降压药"),
    ],
)
async def test_a_ring_is_understood_in_whatever_order_it_is_asked_for(
    talk: Talk, words: str, at: str, label: str
) -> None:
    talk.hear(words)
    [(_, arguments)] = await talk.calls(a_timer(label, "1 day"))
    assert (arguments["at"], arguments["label"]) == (f"2026-11-{at}", label)


@pytest.mark.parametrize(
    "words", ["I set the alarm for six", "did the alarm go off at six", "Stop the music.", "what time is dinner"]
)
async def test_what_only_tells_or_asks_of_a_time_sets_nothing(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert not {"set_alarm", "set_timer", "cancel_timer"} & {name for name, _ in await talk.answer()}


async def test_all_timers_are_listed_and_then_cancelled_each(talk: Talk) -> None:
    talk.hear("Cancel all timers.")
    assert await talk.calls([a_timer("tea", "1 minute"), a_timer("", "2 minutes", id="t2")]) == [("list_timers", {})]
    cancelled = [{"cancelled": a_timer("tea", ""), "still_set": 1}, "error: it rings already"]
    assert await talk.calls(*cancelled) == [("cancel_timer", {"which": "t1"}), ("cancel_timer", {"which": "t2"})]
    assert await talk.says() == "All right, it is cancelled."


async def test_where_no_timer_is_set_none_is_cancelled(talk: Talk) -> None:
    talk.hear("取消所有计时器")
    await talk.calls("no timer is set")
    assert await talk.says() == "现在没有计时器。"


@pytest.mark.parametrize(
    ("words", "listed", "said"),
    [
        ("How much time is left?", [a_timer("", "4 minutes")], "Four minutes left on your timer."),
        (
            "How much time is left?",
            [a_timer("5 minutes", "4 minutes 10 seconds")],
            "Four minutes and ten seconds left on your five-minute timer.",
        ),
        ("What timers do I have?", [a_timer("pasta", "4 minutes")], "Four minutes left for the pasta."),
        ("What are my reminders?", "no timer is set", "No timer is set."),
        (
            "What are my alarms?",
            [
                a_timer("", "20 hours", "2026-11-22 07:30:00 CET"),
                a_timer("call my mother", "10 hours", "2026-11-21 21:00:00 CET"),
            ],
            "Your alarm is due at half past seven in the morning tomorrow. "
            "This is due at nine o'clock in the evening: call your mother.",
        ),
        ("还剩多久？", [a_timer("5分钟", "4 minutes 10 seconds")], "5分钟的计时器还有4分钟10秒。"),
        ("我有哪些闹钟", [a_timer("吃药", "1 day 2 hours", "2026-11-22 13:00:00 CET")], "明天下午1点整：吃药。"),
        (
            "How much time is left?",
            "error: list_timers took longer than 20 s and was stopped",
            "That did not work: list_timers took longer than 20 s and was stopped.",
        ),
    ],
)
async def test_what_is_left_of_a_timer_is_told_and_when_an_alarm_is_due(
    talk: Talk, words: str, listed: object, said: str
) -> None:
    talk.hear(words)
    assert await talk.calls(listed) == [("list_timers", {})]
    assert await talk.says() == said


@pytest.mark.parametrize(
    ("words", "tool"), [("Set a timer for one minute.", "set_timer"), ("Set an alarm for noon.", "set_alarm")]
)
async def test_an_error_of_a_tool_is_told(talk: Talk, words: str, tool: str) -> None:
    talk.hear(words)
    [(called, _)] = await talk.calls("error: the disk is full.")
    assert called == tool
    assert await talk.says() == "That did not work: the disk is full."


@pytest.mark.shows("A24")
@pytest.mark.parametrize(
    "words", ["Set a timer for five minutes.", "Set an alarm for noon.", "Cancel the pasta timer."]
)
@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ([a_timer("5 minutes", "4 minutes")], "Four minutes left on your five-minute timer."),
        ("no timer is set", "No timer is set."),
    ],
)
async def test_after_a_crash_it_looks_before_it_claims_anything(
    talk: Talk, words: str, listed: object, told: str
) -> None:
    talk.hear(words)
    await talk.calls(INTERRUPTED)
    assert await talk.calls(listed) == [("list_timers", {})]
    assert await talk.says() == f"I was interrupted while I did that. {told}"


@pytest.mark.shows("V23", "V30")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Timer (5 minutes) is due.", "Your five-minute timer is up."),
        ("Timer '5 minutes' (5 minutes) is due.", "Your five-minute timer is up."),
        ("Timer 'pasta' (10 minutes) is due.", "Time is up: pasta."),
        ("Timer 'call my mother' (10 minutes) is due.", "Time is up: call your mother."),
        ("Timer 'mum's cake' (1 hour) is due.", "Time is up: mum's cake."),
        ("Alarm (2026-11-21 11:00:00 CET) is due.", "It is eleven o'clock in the morning. This is your alarm."),
        (
            "Alarm 'take my medicine' (2026-11-21 11:00:00 CET) is due.",
            "It is eleven o'clock in the morning: take your medicine.",
        ),
        ("The egg is boiled.", "The egg is boiled."),
        ("", "Time is up."),
    ],
)
async def test_a_timer_is_announced(talk: Talk, content: str, said: str) -> None:
    talk.happen(content, "timer")
    assert await talk.says() == said


@pytest.mark.shows("V23")
async def test_a_late_timer_says_how_late_it_is(talk: Talk) -> None:
    talk.happen("Timer 'pasta' (10 minutes) is due.", "timer", Late_Seconds="1230")
    assert await talk.says() == "Time is up: pasta. It was due 20 minutes ago, while I was off."


async def test_a_timer_speaks_the_language_of_whoever_spoke_last(talk: Talk) -> None:
    talk.hear("定一个五分钟的计时器")
    await talk.calls(a_timer("5分钟", "5 minutes"))
    await talk.says()
    talk.happen("Timer '5分钟' (5 minutes) is due.", "timer", Late_Seconds="90")
    assert await talk.says() == "5分钟的计时器到时间了。 本来应该在1分钟前提醒，那时我没有开机。"


async def test_a_timer_speaks_the_language_of_its_label_when_nobody_spoke(talk: Talk) -> None:
    talk.happen("Timer '关火' (20 minutes) is due.", "timer")
    assert await talk.says() == "时间到了：关火。"


@pytest.mark.parametrize(
    ("words", "tool", "told"),
    [
        ("wake me at 0630 no wait 0615 tomorrow", "set_alarm", {"at": "2026-11-22T06:15"}),
        ("Remind me to feed the cat at ten, no, quarter to ten.", "set_alarm", {"label": "feed the cat"}),
        (
            "Set a timer for, er, fifteen, no, twenty minutes for my tea, I mean my dinner.",
            "set_timer",
            {"seconds": 1200},
        ),
        ("yo remind me in like an hour and a half to call Ada", "set_timer", {"seconds": 5400, "label": "call Ada"}),
        ("Remind me every Monday at half nine to put the bin out.", "set_alarm", {"repeat": "FREQ=WEEKLY;BYDAY=MO"}),
        ("set an alarm for 6.30pm", "set_alarm", {"at": "2026-11-21T18:30"}),
    ],
)
async def test_what_is_taken_back_in_a_sentence_is_not_meant(
    talk: Talk, words: str, tool: str, told: dict[str, object]
) -> None:
    talk.hear(words)
    [(name, arguments)] = await talk.calls(a_timer("", "1 hour"))
    assert (name, arguments) == (tool, arguments | told)


@pytest.mark.parametrize(
    "words",
    [
        "wait is tomorrow Sunday",
        "wait tomorrow too right",
        "Nah skip tomorrow, it's a day off.",
        "And could you switch the heating on at six?",
        "Remind me the day before at noon.",
        "oh I love mornings at seven",
        "actually that was a lovely eight minutes",
        "Right, the bill was 86 pounds, split between four of us.",
    ],
)
async def test_what_is_no_order_changes_nothing_after_a_timer(talk: Talk, words: str) -> None:
    talk.hear("set an alarm for seven tomorrow")
    await talk.calls(a_timer("", "20 hours", "2026-11-22 07:00:00 CET", "t1"))
    await talk.says()
    talk.hear(words)
    calls = await talk.answer()
    if calls[0][0] == "list_timers":
        talk.result([a_timer("", "20 hours", "2026-11-22 07:00:00 CET", "t1")])
        calls = await talk.answer()
    assert not {"set_alarm", "set_timer", "cancel_timer"} & {name for name, _ in calls}


@pytest.mark.parametrize(
    ("words", "tool", "told"),
    [
        ("and a ten", "set_timer", {"seconds": 600, "label": "10 minutes"}),
        (
            "And, uh, another one, twenty-five minutes, for the bread.",
            "set_timer",
            {"seconds": 1500, "label": "the bread"},
        ),
        ("and at half ten feed the cat", "set_alarm", {"label": "feed the cat"}),
    ],
)
async def test_one_more_is_asked_for_shortly(talk: Talk, words: str, tool: str, told: dict[str, object]) -> None:
    talk.hear("set a five minute timer")
    await talk.calls(a_timer("5 minutes", "5 minutes"))
    await talk.says()
    talk.hear(words)
    [(name, arguments)] = await talk.calls(a_timer("", "1 hour"))
    assert (name, arguments) == (tool, arguments | told)


@pytest.mark.parametrize(
    ("words", "tool", "told"),
    [
        ("move it to three", "set_alarm", {"at": "2026-11-23T15:00", "label": "the staff meeting"}),
        ("Actually, give me an hour.", "set_timer", {"seconds": 3600}),
        ("actually make that half past", "set_alarm", {"at": "2026-11-23T14:30"}),
        ("no, make that quarter to four", "set_alarm", {"at": "2026-11-23T15:45"}),
        ("no, make that quarter to one", "set_alarm", {"at": "2026-11-23T12:45"}),
        ("sorry, half past one", "set_alarm", {"at": "2026-11-23T13:30"}),
    ],
)
async def test_a_time_just_set_is_changed_or_added_to(
    talk: Talk, words: str, tool: str, told: dict[str, object]
) -> None:
    meeting = a_timer("the staff meeting", "2 days 3 hours", "2026-11-23 14:00:00 CET", "t1")
    talk.hear("remind me about the staff meeting on monday at two")
    await talk.calls(meeting)
    await talk.says()
    talk.hear(words)
    await talk.calls([meeting])
    [(name, arguments)] = await talk.calls(a_timer("", "1 hour"))
    assert (name, arguments) == (tool, arguments | told)


async def test_what_needs_time_and_has_no_timer_gets_one(talk: Talk) -> None:
    talk.hear("and the brioche needs three quarters of an hour")
    await talk.calls([a_timer("pasta", "9 minutes")])
    assert await talk.calls(a_timer("brioche", "45 minutes")) == [("set_timer", {"seconds": 2700, "label": "brioche"})]
    assert (await talk.says()).startswith("I will tell you in 45 minutes")
    talk.hear("add five minutes to the long one")
    await talk.calls([a_timer("pasta", "9 minutes")])
    assert await talk.says() == "I find no such timer."


@pytest.mark.parametrize(
    ("words", "label", "whole"),
    [("add ten minutes", "20 minutes", "30 minutes"), ("再加十分钟", "20分钟", "30分钟")],
)
async def test_with_time_added_a_timer_is_called_by_its_whole_length(
    talk: Talk, words: str, label: str, whole: str
) -> None:
    talk.hear(words)
    await talk.calls([a_timer(label, "19 minutes 57 seconds")])
    assert await talk.calls(a_timer(whole, "29 minutes 57 seconds")) == [
        ("set_timer", {"seconds": 1797, "label": whole})
    ]


async def test_a_timer_is_called_by_its_number(talk: Talk) -> None:
    talk.hear("kill the ten")
    await talk.calls("error: there is no timer 'ten'; set are: 10 minutes, 5 minutes")
    assert await talk.calls([a_timer("5 minutes", "4 minutes"), a_timer("10 minutes", "9 minutes", id="t2")])
    assert await talk.calls({"cancelled": a_timer("10 minutes", "9 minutes")}) == [("cancel_timer", {"which": "t2"})]
