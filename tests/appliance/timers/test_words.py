"""What silences a ring and what does not, and what a ring says."""

import pytest

from agent.event import TIMER, Event
from appliance.timers.due import DueTimer
from appliance.timers.words import is_stop, told


@pytest.mark.shows("V23")
@pytest.mark.parametrize(
    "words",
    [
        *(
            "Stop.",
            "stop",
            "Stop, stop!",
            "STOP IT",
            "okay, stop please",
            "Nakari, stop!",
            "Stop the timer.",
            "Enough!",
        ),
        *("That's enough.", "Cancel.", "quiet", "Be quiet, please.", "Turn it off!", "stop now"),
        *(
            "停",
            "停！",
            "停下来",
            "停，停。",
            "别响了",
            "别响了！",
            "请停下",
            "停吧",
            "好了，停",
            "安静",
            "取消",
            "关掉闹钟。",
        ),
    ],
)
def test_this_silences_a_ring(words: str) -> None:
    assert is_stop(words)


@pytest.mark.parametrize(
    "words",
    [
        *("", " ", "...", "please", "okay", "Stop the music.", "What time is it?", "When does the bus stop?"),
        *("Do not stop.", "Set a timer for five minutes.", "Cancel the meeting with Anna.", "Stop me if you know it."),
        *("好了", "停车场在哪里", "别忘了", "现在几点了", "取消明天的会议", "请"),
    ],
)
def test_this_is_for_the_mind(words: str) -> None:
    assert not is_stop(words)


def due(label: str = "", kind: str = "Timer", late: float = 0.0) -> DueTimer:
    return DueTimer(Event(TIMER, f"{kind} '{label}' (10 minutes) is due.", metadata={"label": label}), late)


@pytest.mark.shows("V23")
@pytest.mark.parametrize(
    ("timers", "said", "language"),
    [
        ([due("pasta")], "Timer: pasta.", "en"),
        ([due("take my medicine", "Alarm")], "Alarm: take my medicine.", "en"),
        ([due()], "Time is up.", "en"),
        ([due("煮面")], "计时器：煮面。", "zh"),
        ([due("开会", "Alarm")], "闹钟：开会。", "zh"),
        ([due("pasta"), due("tea"), due("pasta")], "Timer: pasta. Timer: tea.", "en"),
        ([due("pasta", late=59.0)], "Timer: pasta.", "en"),
        ([due("pasta", late=600.4)], "Timer: pasta. It was due ten minutes ago.", "en"),
        ([due("tea", late=90), due("eggs")], "Timer: tea. It was due a minute ago. Timer: eggs.", "en"),
        ([due(late=2 * 3600 + 1)], "Time is up. It was due two hours ago.", "en"),
        ([due("煮面", late=600)], "计时器：煮面。 10分钟前就该响了。", "zh"),
        ([due("煮面", late=3600)], "计时器：煮面。 1小时前就该响了。", "zh"),
    ],
)
def test_a_ring_says_each_name_and_how_late_it_is(timers: list[DueTimer], said: str, language: str) -> None:
    sentence = told(timers, "en")
    assert (sentence.text, sentence.language) == (said, language)


def test_without_a_name_the_household_s_language_is_spoken() -> None:
    assert told([due()], "zh").text == "时间到了。"
    assert told([due("pasta")], "zh").text == "Timer: pasta."
    assert told([due("pasta")], "de").language == "de"


@pytest.mark.shows("V23")
@pytest.mark.parametrize(("label", "said"), [("call mum", "Reminder: call mum."), ("关火", "提醒：关火。")])
def test_what_counts_down_to_remind_is_said_as_a_reminder(label: str, said: str) -> None:
    timer = DueTimer(
        Event(TIMER, f"Timer '{label}' (10 minutes) is due.", metadata={"label": label, "reminds": True}), 0.0
    )
    assert told([timer], "en").text == said
