"""Whole conversations with the offline model: what it calls, and what it says when the results are there."""

from datetime import datetime

import pytest

from agent.model.messages import Message, ToolCall
from agent.model.offline import OfflineModel
from tests.agent.offline_talk import NOTHING_SAID, TOOLS, Talk, a_timer, at, found, without

NEEDS_MODEL = "I need a model to answer that"
INTERRUPTED = "unknown: the machine stopped before this call had a result; look whether it took effect"


@pytest.fixture(scope="module")
def model() -> OfflineModel:
    return OfflineModel()


@pytest.fixture
def talk(model: OfflineModel) -> Talk:
    return Talk(model)


@pytest.mark.shows("V30", "A13")
@pytest.mark.parametrize(
    ("words", "moment", "said"),
    [
        ("What time is it?", at(8, 5), "It is 9:05 in the morning."),
        ("What time is it?", at(11), "It is 12 o'clock in the afternoon."),
        ("What time is it?", at(22, 30), "It is 11:30 at night."),
        ("现在几点了？", at(8, 5), "现在是上午9点05分。"),
        ("现在几点了？", at(13), "现在是下午2点整。"),
        ("What day is it today?", at(8), "Today is Saturday, November 21, 2026."),
        ("What day is it today?", at(23, 30), "Today is Sunday, November 22, 2026."),
        ("What is the date tomorrow?", at(8), "Tomorrow is Sunday, November 22, 2026."),
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
        ("UTC (UTC+00:00)", "It is 8 o'clock in the morning."),
        ("Asia/Shanghai (UTC+08:00)", "It is 4 o'clock in the afternoon."),
        ("UTC+08:00", "It is 4 o'clock in the afternoon."),
        ("America/St_Johns (UTC-03:30)", "It is 4:30 at night."),
        ("nonsense", "It is 8 o'clock in the morning."),
        ("UTC+99:99", "It is 8 o'clock in the morning."),
    ],
)
async def test_the_time_is_that_of_the_home(talk: Talk, zone: str, said: str) -> None:
    talk.hear("What time is it?", at=at(8), zone=zone)
    assert await talk.says() == said


async def test_words_that_waited_are_answered_with_the_present_time(talk: Talk) -> None:
    talk.hear("What time is it?", at=at(8), Waited_Seconds="1800")
    assert await talk.says() == "It is 9:30 in the morning."


@pytest.mark.shows("V30", "V23")
async def test_a_timer(talk: Talk) -> None:
    talk.hear("Set a timer for five minutes.")
    assert await talk.calls(a_timer("5 minutes", "5 minutes")) == [
        ("set_timer", {"seconds": 300, "label": "5 minutes"})
    ]
    assert await talk.says() == "Your timer is set for 5 minutes."


@pytest.mark.parametrize(
    ("words", "call", "said"),
    [
        ("定一个五分钟的计时器", {"seconds": 300, "label": "5分钟"}, "5分钟的计时器已经开始了。"),
        (
            "Set a pasta timer for ten minutes.",
            {"seconds": 600, "label": "pasta"},
            "I will tell you in 10 minutes: pasta.",
        ),
        (
            "Remind me in half an hour to call my mother.",
            {"seconds": 1800, "label": "call my mother"},
            "I will tell you in 30 minutes: call your mother.",
        ),
        ("二十分钟后提醒我关火", {"seconds": 1200, "label": "关火"}, "20分钟后我会提醒你：关火。"),
        ("Set a timer for an hour and a half.", {"seconds": 5400, "label": "1 hour 30 minutes"}, None),
    ],
)
async def test_timers_in_many_words(talk: Talk, words: str, call: dict[str, object], said: str | None) -> None:
    talk.hear(words)
    assert await talk.calls(a_timer("", "")) == [("set_timer", call)]
    assert await talk.says() == (said or "Your timer is set for 1 hour 30 minutes.")


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
            "The alarm is set for 6 o'clock in the morning tomorrow.",
        ),
        ("Wake me up at six o'clock.", at(3), "2026-11-21T06:00", "The alarm is set for 6 o'clock in the morning."),
        ("Set an alarm for six thirty.", at(8), "2026-11-21T18:30", "The alarm is set for 6:30 in the evening."),
        ("Set an alarm for a quarter to seven in the morning.", at(8), "2026-11-22T06:45", None),
        ("Set an alarm for 18:00.", at(8), "2026-11-21T18:00", None),
        ("Set an alarm for midnight.", at(8), "2026-11-22T00:00", None),
        ("Set an alarm for twelve at night.", at(8), "2026-11-22T00:00", None),
        ("Set an alarm for noon.", at(8), "2026-11-21T12:00", "The alarm is set for 12 o'clock in the afternoon."),
        ("Set an alarm for tomorrow at nine.", at(8), "2026-11-22T09:00", None),
        ("Set an alarm for tomorrow at three.", at(8), "2026-11-22T15:00", None),
        ("Wake me tomorrow at five.", at(8), "2026-11-22T05:00", None),
        ("Set an alarm for the day after tomorrow at nine.", at(8), "2026-11-23T09:00", None),
        ("早上七点叫我起床", at(8), "2026-11-22T07:00", "闹钟已设在明天上午7点整。"),
        ("明天下午三点的闹钟", at(8), "2026-11-22T15:00", "闹钟已设在明天下午3点整。"),
        ("设一个中午十二点的闹钟", at(8), "2026-11-21T12:00", "闹钟已设在下午12点整。"),
        ("后天早上八点叫我", at(8), "2026-11-23T08:00", "闹钟已设在后天上午8点整。"),
    ],
)
async def test_an_alarm(talk: Talk, words: str, moment: datetime, when: str, said: str | None) -> None:
    talk.hear(words, at=moment)
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": when, "label": ""})]
    answer = await talk.says()
    assert answer == (said or answer)


@pytest.mark.shows("G13")
async def test_a_reminder_speaks_to_the_person(talk: Talk) -> None:
    talk.hear("Remind me to take my medicine at nine in the evening.")
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": "2026-11-21T21:00", "label": "take my medicine"})]
    assert await talk.says() == "I will remind you at 9 o'clock in the evening: take your medicine."


@pytest.mark.parametrize("words", ["Remind me to call my mother.", "Set a timer.", "提醒我给妈妈打电话"])
async def test_a_reminder_without_a_time_is_asked_for_one(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert (await talk.says()).startswith(("Tell me when", "请在一句话里告诉我时间"))


@pytest.mark.parametrize(
    ("words", "which", "result", "said"),
    [
        (
            "Cancel the timer.",
            "",
            {"cancelled": a_timer("", "3 minutes"), "still_set": 0},
            "All right, it is cancelled.",
        ),
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
            "All right, I cancelled this: 5 minutes.",
        ),
        ("取消计时器", "", {"cancelled": a_timer("", "3 minutes"), "still_set": 0}, "好的，已经取消了。"),
        ("取消五分钟的计时器", "5分钟", "error: there is no timer '5分钟'; set are: 茶", "我没有找到这个计时器。"),
        ("Cancel the timer.", "", "error: no timer is set", "No timer is set."),
        ("取消闹钟", "", "error: no timer is set", "现在没有计时器。"),
        ("Cancel the timer.", "", "not what it used to be", "All right, it is cancelled."),
    ],
)
async def test_cancelling(talk: Talk, words: str, which: str, result: object, said: str) -> None:
    talk.hear(words)
    assert await talk.calls(result) == [("cancel_timer", {"which": which})]
    assert await talk.says() == said


async def test_cancelling_all(talk: Talk) -> None:
    talk.hear("Cancel all timers.")
    assert await talk.calls([a_timer("tea", "1 minute"), a_timer("", "2 minutes", id="t2")]) == [("list_timers", {})]
    cancelled = [{"cancelled": a_timer("tea", ""), "still_set": 1}, "error: it rings already"]
    assert await talk.calls(*cancelled) == [("cancel_timer", {"which": "t1"}), ("cancel_timer", {"which": "t2"})]
    assert await talk.says() == "All right, it is cancelled."


async def test_cancelling_all_of_none(talk: Talk) -> None:
    talk.hear("取消所有计时器")
    await talk.calls("no timer is set")
    assert await talk.says() == "现在没有计时器。"


@pytest.mark.parametrize(
    ("words", "listed", "said"),
    [
        ("How much time is left?", [a_timer("", "4 minutes")], "Your timer has 4 minutes left."),
        (
            "How much time is left?",
            [a_timer("5 minutes", "4 minutes 10 seconds")],
            "Your timer of 5 minutes has 4 minutes 10 seconds left.",
        ),
        ("What timers do I have?", [a_timer("pasta", "4 minutes")], "4 minutes left for this: pasta."),
        ("What are my reminders?", "no timer is set", "No timer is set."),
        (
            "What are my alarms?",
            [
                a_timer("", "20 hours", "2026-11-22 07:30:00 CET"),
                a_timer("call my mother", "10 hours", "2026-11-21 21:00:00 CET"),
            ],
            "Your alarm is due at 7:30 in the morning tomorrow. "
            "This is due at 9 o'clock in the evening: call your mother.",
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
async def test_how_the_timers_stand(talk: Talk, words: str, listed: object, said: str) -> None:
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
@pytest.mark.parametrize("words", ["Set a timer for five minutes.", "Set an alarm for noon.", "Cancel the timer."])
@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ([a_timer("5 minutes", "4 minutes")], "Your timer of 5 minutes has 4 minutes left."),
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


@pytest.mark.shows("V30")
@pytest.mark.parametrize("words", ["Turn the volume up.", "Set the volume to ten.", "Quieter."])
async def test_without_a_tool_for_it_the_volume_stays_and_it_says_so(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.says() == "I cannot change the volume yet."


async def test_in_chinese_too(talk: Talk) -> None:
    talk.hear("大声一点")
    assert await talk.says() == "我现在还不能调节音量。"


@pytest.mark.shows("V30")
async def test_remembering(talk: Talk) -> None:
    talk.hear("Remember that my keys are in the drawer.")
    [(name, arguments)] = await talk.calls({"id": "e9"})
    assert name == "create_event"
    assert arguments["type"] == "self_created"
    assert "“my keys are in the drawer”" in arguments["content"]
    assert await talk.says() == "I will keep that: your keys are in the drawer."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Don't forget that I am allergic to nuts!", "I will keep that: you are allergic to nuts."),
        ("记住，我的钥匙在抽屉里。", "我记住了：你的钥匙在抽屉里。"),
        ("remember that you are my friend", "I will keep that: I am your friend."),
    ],
)
async def test_what_is_remembered_is_said_back(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    await talk.calls({"id": "e9"})
    assert await talk.says() == said


async def test_remembering_where_the_note_for_later_fails(talk: Talk) -> None:
    talk.hear("Remember that my keys are in the drawer.")
    await talk.calls("refused: the budget of this event is used up")
    said = await talk.says()
    assert (
        said == "I keep that in my journal, but could not note it down for later: the budget of this event is used up."
    )


@pytest.mark.shows("V30", "D4")
@pytest.mark.parametrize(
    ("question", "searched", "journal", "said"),
    [
        (
            "Where are my keys?",
            "remember key",
            found("Where are my keys?", "Remember that my keys are in the drawer.", "my keys are very old"),
            "You told me: your keys are in the drawer.",
        ),
        (
            "What is my sister called?",
            "remember sister",
            found("Remind me to call my sister in ten minutes", "Remember that my sister is called Anna."),
            "You told me: your sister is called Anna.",
        ),
        (
            "Where did I park?",
            "remember park",
            found("Remember that I parked on level three."),
            "You told me: you parked on level three.",
        ),
        (
            "What am I allergic to?",
            "remember allergic",
            found("I am allergic to nuts, you know."),
            "You told me: you are allergic to nuts, I know.",
        ),
        (
            "What did I say about the plumber?",
            "remember plumber",
            found("The plumber comes on Friday."),
            "You told me: The plumber comes on Friday.",
        ),
        ("When does the plumber come?", "remember plumber", NOTHING_SAID, None),
        ("Where is the spare key?", "remember spare key", found("Remember that my keys are in the drawer."), None),
        (
            "Where are my keys?",
            "remember key",
            found("where are my keys", "Are my keys here?", "tell me where my keys are"),
            None,
        ),
        ("Where are my keys?", "remember key", found("Your keys are in the drawer.", who="you"), None),
        ("Where are my keys?", "remember key", found("Write into your memory: “my keys are here”", who="self"), None),
        ("Where are my keys?", "remember key", found("set a timer for ten minutes for the keys"), None),
        (
            "我的钥匙在哪？",
            "记住 钥匙",
            found("我的钥匙在哪？", "记住我的钥匙在抽屉里。"),
            "你告诉过我：你的钥匙在抽屉里。",
        ),
        ("我妹妹叫什么名字？", "记住 妹妹", found("记住我妹妹叫安娜"), "你告诉过我：你妹妹叫安娜。"),
        ("水管工什么时候来", "记住 水管工 来", found("别忘了水管工星期五来"), "你告诉过我：水管工星期五来。"),
        ("备用钥匙在哪儿", "记住 备用钥匙", found("记住我的钥匙在抽屉里"), None),
    ],
)
async def test_recalling(talk: Talk, question: str, searched: str, journal: object, said: str | None) -> None:
    talk.hear(question)
    assert await talk.calls(journal) == [("journal_search", {"words": searched, "limit": 20})]
    answer = await talk.says()
    assert answer == said if said else answer.startswith(("I find nothing about that", "这里说过的话里没有找到"))


async def test_the_newest_of_what_was_to_be_remembered_counts(talk: Talk) -> None:
    talk.hear("Where are my keys?")
    drawer = found("Remember that my keys are in the drawer.", when="2026-11-03 10:00:00 UTC")
    hall = found("Remember that my keys are in the hall.", when="2026-11-20 10:00:00 UTC")
    said = found("my keys are lost", when="2026-11-21 10:00:00 UTC")
    await talk.calls([*drawer, *hall, *said])
    assert await talk.says() == "You told me: your keys are in the hall."


async def test_a_search_that_a_crash_interrupted_is_made_again(talk: Talk) -> None:
    talk.hear("Where are my keys?")
    first = await talk.calls(INTERRUPTED)
    assert await talk.calls(found("Remember that my keys are here")) == first
    assert await talk.says() == "You told me: your keys are here."


async def test_a_search_that_failed_is_told(talk: Talk) -> None:
    talk.hear("Where are my keys?")
    await talk.calls("error: journal_search took longer than 20 s and was stopped")
    assert await talk.says() == "That did not work: journal_search took longer than 20 s and was stopped."


async def test_a_question_of_empty_words_is_not_searched_for(talk: Talk) -> None:
    talk.hear("What do you know about me?")
    assert (await talk.says()).startswith("I find nothing about that")


@pytest.mark.shows("V30", "F6")
async def test_what_needs_a_model_is_said_honestly_and_at_length_once(talk: Talk) -> None:
    talk.hear("Tell me a joke.")
    first = await talk.says()
    assert NEEDS_MODEL in first
    assert "tell the time" in first
    talk.hear("Tell me the news.")
    assert await talk.says() == "I need a model for that too, and I still cannot reach one."
    talk.hear("讲个笑话")
    assert (await talk.says()).startswith("我听到了，但是回答这个需要模型")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Who are you?", "I am nakari."),
        ("你是谁？", "我是nakari"),
        ("What can you do?", "Without a model I can"),
        ("你能做什么？", "没有模型的时候，我可以"),
        ("Hello.", "Hello."),
        ("你好", "你好"),
        ("Thank you.", "You are welcome."),
        ("谢谢", "不客气"),
        ("Good night.", "Good night."),
        ("晚安", "晚安"),
        ("Goodbye.", "Goodbye."),
        ("Never mind.", "All right."),
        ("算了", "好的。"),
        ("Stop.", "All right."),
        ("How are you?", "I am well, but"),
        ("Yes.", "All right."),
        ("No.", "All right, I leave it."),
    ],
)
async def test_small_talk(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert (await talk.says()).startswith(said)


async def test_the_last_words_are_said_again(talk: Talk) -> None:
    talk.hear("Say that again.")
    assert await talk.says() == "I have said nothing yet."
    talk.hear("What time is it?", at=at(8))
    await talk.says()
    talk.hear("Say that again.", at=at(9))
    assert await talk.says() == "It is 9 o'clock in the morning."


@pytest.mark.shows("V12", "V30")
@pytest.mark.parametrize(
    ("words", "question", "yes"),
    [
        ("set a timer for five minutes", "Did you say: set a timer for five minutes?", "Yes."),
        ("Set a timer for five minutes.", "Did you say: Set a timer for five minutes?", "that is right"),
        ("定一个五分钟的计时器。", "你说的是：定一个五分钟的计时器，对吗？", "是的"),
    ],
)
async def test_what_was_hard_to_hear_is_asked_back_and_done_after_a_yes(
    talk: Talk, words: str, question: str, yes: str
) -> None:
    talk.hear(words, confidence="low")
    assert await talk.says() == question
    talk.hear(yes, confidence="low")
    [(name, arguments)] = await talk.calls(a_timer("", "5 minutes"))
    assert (name, arguments["seconds"]) == ("set_timer", 300)
    assert "5" in await talk.says()


@pytest.mark.parametrize(
    "words",
    [
        "cancel the timer",
        "set an alarm for noon",
        "turn the volume up",
        "remember that my keys are here",
        "取消所有计时器",
    ],
)
async def test_everything_with_an_effect_is_asked_back(talk: Talk, words: str) -> None:
    talk.hear(words, confidence="low")
    assert (await talk.says()).startswith(("Did you say: ", "你说的是："))


@pytest.mark.parametrize("words", ["what time is it", "hello", "现在几点了"])
async def test_what_has_no_effect_is_answered_though_it_was_hard_to_hear(talk: Talk, words: str) -> None:
    talk.hear(words, confidence="low")
    assert not (await talk.says()).startswith(("Did you say", "你说的是"))


async def test_a_no_leaves_it(talk: Talk) -> None:
    talk.hear("cancel all timers", confidence="low")
    await talk.says()
    talk.hear("No.")
    assert await talk.says() == "All right, I leave it."


async def test_what_is_said_twice_needs_no_yes(talk: Talk) -> None:
    talk.hear("set a timer for five minutes", confidence="low")
    await talk.says()
    talk.hear("Set a timer for 5 minutes.", confidence="low")
    assert [name for name, _ in await talk.answer()] == ["set_timer"]


async def test_another_order_in_place_of_the_yes_is_asked_back_in_its_turn(talk: Talk) -> None:
    talk.hear("set a timer for five minutes", confidence="low")
    await talk.says()
    talk.hear("set a timer for nine minutes", confidence="low")
    assert await talk.says() == "Did you say: set a timer for nine minutes?"


async def test_a_timer_that_rings_in_between_does_not_take_the_yes(talk: Talk) -> None:
    talk.hear("cancel the timer", confidence="low")
    await talk.says()
    talk.happen("Timer 'tea' (3 minutes) is due.", "timer")
    await talk.says()
    talk.hear("Yes.")
    assert [name for name, _ in await talk.answer()] == ["cancel_timer"]


async def test_a_yes_much_later_means_nothing(talk: Talk) -> None:
    talk.hear("cancel the timer", at=at(8), confidence="low")
    await talk.says()
    talk.hear("Yes.", at=at(8, 3))
    assert await talk.says() == "All right."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("the moon a joke", "I am not sure what I heard. It sounded like: the moon a joke. Please say it again."),
        ("", "I did not catch that. Please say it again."),
    ],
)
async def test_what_makes_no_sense_and_was_hard_to_hear_is_not_blamed_on_the_model(
    talk: Talk, words: str, said: str
) -> None:
    talk.hear(words, confidence="low")
    assert await talk.says() == said


@pytest.mark.shows("V23", "V30")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Timer (5 minutes) is due.", "Your timer of 5 minutes is up."),
        ("Timer '5 minutes' (5 minutes) is due.", "Your timer of 5 minutes is up."),
        ("Timer 'pasta' (10 minutes) is due.", "Time is up: pasta."),
        ("Timer 'call my mother' (10 minutes) is due.", "Time is up: call your mother."),
        ("Timer 'mum's cake' (1 hour) is due.", "Time is up: mum's cake."),
        ("Alarm (2026-11-21 11:00:00 CET) is due.", "It is 11 o'clock in the morning. This is your alarm."),
        (
            "Alarm 'take my medicine' (2026-11-21 11:00:00 CET) is due.",
            "It is 11 o'clock in the morning: take your medicine.",
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


@pytest.mark.shows("V30", "A11")
@pytest.mark.parametrize("event_type", ["self_created", "system", "reflection", "whatever"])
async def test_her_own_work_waits_for_a_model_without_a_word(talk: Talk, event_type: str) -> None:
    talk.happen("Write into your memory …", event_type)
    [(name, arguments)] = await talk.calls("suspended")
    assert name == "suspend_event"
    assert arguments["wake_on"] == "model_available"


async def test_her_own_note_goes_with_it(talk: Talk) -> None:
    talk.happen("Reflect.", "self_created", Note="I had read half of it.")
    [(_, arguments)] = await talk.answer()
    assert arguments["note"] == "I had read half of it."


@pytest.mark.shows("A24")
@pytest.mark.parametrize(
    ("words", "said"),
    [("What time is it?", "It is 11 o'clock in the morning."), ("Tell me a joke.", "I heard you, but I need a model")],
)
async def test_a_reply_that_a_crash_cut_is_begun_again_with_the_same_words(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    [(_, whole), _] = await talk.answer()
    talk.messages.pop()
    cut = str(whole["text"]).split(". ")[0]
    interrupted(talk, cut)
    [(name, again), _] = await talk.answer()
    assert name == "reply"
    assert again == whole
    assert str(again["text"]).startswith(said)


async def test_a_model_that_was_lost_in_mid_sentence_is_missed_aloud(talk: Talk) -> None:
    talk.hear("Tell me a joke.")
    interrupted(talk, "A horse walks into a bar.")
    assert await talk.says() == "Sorry, I lost the model I think with in the middle of that."


async def test_what_a_lost_model_had_done_already_is_told_not_done_again(talk: Talk) -> None:
    talk.hear("Set a timer for five minutes.")
    talk.messages.append(Message("assistant", tool_calls=(ToolCall("m1", "set_timer", '{"seconds": 300}'),)))
    talk.result(a_timer("", "5 minutes"))
    assert await talk.says() == "Your timer is set for 5 minutes."


async def test_after_a_whole_reply_it_only_ends_the_event(talk: Talk) -> None:
    talk.hear("What time is it?")
    talk.messages.append(Message("assistant", tool_calls=(ToolCall("m1", "reply", '{"text": "Noon."}'),)))
    talk.result("delivered")
    assert [name for name, _ in await talk.answer()] == ["complete_event"]


def interrupted(talk: Talk, said: str) -> None:
    """What the runtime appends when a reply broke off."""
    talk.messages.append(Message("assistant", tool_calls=(ToolCall("c9", "reply", f'{{"text": "{said}"}}'),)))
    talk.result("interrupted: the machine stopped here; only this much was said, go on after it")


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("Set a timer for five minutes.", ("set_timer",)),
        ("Cancel all timers.", ("list_timers",)),
        ("Where are my keys?", ("journal_search",)),
        ("Set an alarm for noon.", ("set_alarm",)),
    ],
)
async def test_without_the_tool_it_says_that_it_cannot(
    model: OfflineModel, words: str, missing: tuple[str, ...]
) -> None:
    talk = Talk(model, without("set_volume", *missing))
    talk.hear(words)
    assert await talk.says() == "I have nothing here to do that with."


async def test_without_a_note_for_later_it_still_keeps_the_words(model: OfflineModel) -> None:
    talk = Talk(model, without("set_volume", "create_event"))
    talk.hear("Remember that my keys are in the drawer.")
    assert await talk.says() == "I will keep that: your keys are in the drawer."


async def test_without_any_tool_the_answer_is_bare_text(model: OfflineModel) -> None:
    talk = Talk(model, ())
    talk.hear("What time is it?")
    assert await talk.answer() == []
    assert talk.messages[-1].content == "It is 11 o'clock in the morning."


@pytest.mark.parametrize(
    ("words", "arguments", "said"),
    [
        ("Set the volume to fifty percent.", {"percent": 50}, "The volume is at 50 percent."),
        ("Mute the speaker.", {"percent": 0}, "The volume is at 0 percent."),
        ("Turn the volume up.", {"change": 15}, "A little louder now."),
        ("Turn the volume down by ten.", {"change": -10}, "A little quieter now."),
        ("小声点", {"change": -15}, "声音调小了一点。"),
        ("把音量调到百分之三十", {"percent": 30}, "音量已调到百分之30。"),
    ],
)
async def test_the_volume_where_there_is_a_tool_for_it(
    model: OfflineModel, words: str, arguments: dict[str, int], said: str
) -> None:
    talk = Talk(model, TOOLS.specs)
    talk.hear(words)
    assert await talk.calls("done") == [("set_volume", arguments)]
    assert await talk.says() == said
