"""One day without the alarm: what comes again is left out once, what comes once is cancelled, what reminds is kept."""

import pytest

from agent.intents.reading.understanding import load_understanding
from tests.agent.offline_talk import Talk, a_timer

DAILY = a_timer("", "20 hours", "2026-11-22 07:00:00 CET", "d") | {"kind": "alarm", "repeats": "FREQ=DAILY"}
TODAY_TOO = a_timer("", "1 hour", "2026-11-21 12:00:00 CET", "n") | {"kind": "alarm", "repeats": "FREQ=DAILY"}
MONDAYS = a_timer("", "1 day", "2026-11-23 06:00:00 CET", "m") | {"kind": "alarm", "repeats": "FREQ=WEEKLY;BYDAY=MO"}
ONCE = a_timer("", "19 hours", "2026-11-22 06:30:00 CET", "o") | {"kind": "alarm"}
PILLS = a_timer("take my pills", "21 hours", "2026-11-22 08:00:00 CET", "p") | {
    "kind": "alarm",
    "repeats": "FREQ=DAILY",
}
EGGS = a_timer("eggs", "5 minutes", "2026-11-21 11:05:00 CET", "e") | {"kind": "timer"}

SKIPPED = {"left_out": DAILY, "next": DAILY}


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    "words",
    [
        *("Don't wake me tomorrow.", "don't wake me up tomorrow morning please", "tomorrow don't wake me"),
        *(
            "you don't need to wake me tomorrow",
            "skip tomorrow's alarm",
            "no alarm tomorrow",
            "cancel tomorrow's alarm",
        ),
    ],
)
async def test_what_comes_again_is_left_out_once(talk: Talk, words: str) -> None:
    talk.hear(words)
    await talk.calls([EGGS, DAILY, MONDAYS])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "d", "tomorrow": True})]
    assert await talk.says() == (
        "All right, tomorrow it does not ring at seven o'clock in the morning; after that it rings as before."
    )


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    "words", ["明天别叫我了", "明天不用叫我起床", "明早别叫我", "跳过明天的闹钟", "明天闹钟不用响了", "取消明天的闹钟"]
)
async def test_what_comes_again_is_left_out_once_in_chinese(talk: Talk, words: str) -> None:
    talk.hear(words)
    await talk.calls([DAILY])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "d", "tomorrow": True})]
    assert await talk.says() == "好的，明天上午7点整不响，之后照常。"


async def test_what_comes_once_is_cancelled_and_what_reminds_is_kept(talk: Talk) -> None:
    talk.hear("Don't wake me tomorrow")
    await talk.calls([ONCE, DAILY, PILLS])
    assert await talk.calls({"cancelled": ONCE}, SKIPPED) == [
        ("cancel_timer", {"which": "o"}),
        ("cancel_timer", {"which": "d", "tomorrow": True}),
    ]
    assert await talk.says() == (
        "All right, tomorrow it does not ring at seven o'clock in the morning; after that it rings as before. "
        "All right, I cancelled the alarm tomorrow at half past six in the morning."
    )


async def test_what_comes_today_before_is_left_out_of_tomorrow_too(talk: Talk) -> None:
    talk.hear("don't wake me tomorrow")
    await talk.calls([TODAY_TOO])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "n", "tomorrow": True})]


@pytest.mark.parametrize(
    ("words", "said"), [("don't wake me tomorrow", "No alarm is set for tomorrow."), ("明天别叫我了", "明天没有闹钟。")]
)
async def test_where_nothing_wakes_then_nothing_is_done(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    await talk.calls([EGGS, MONDAYS, PILLS])
    assert await talk.says() == said


async def test_what_could_not_be_left_out_is_told(talk: Talk) -> None:
    talk.hear("don't wake me tomorrow")
    await talk.calls([DAILY])
    await talk.calls("error: it rings already")
    assert await talk.says() == "That did not work: it rings already."


async def test_all_of_a_day_are_cancelled_but_what_comes_again_goes_on(talk: Talk) -> None:
    talk.hear("cancel all alarms tomorrow")
    await talk.calls([ONCE, DAILY])
    assert await talk.calls({"cancelled": ONCE}, SKIPPED) == [
        ("cancel_timer", {"which": "o"}),
        ("cancel_timer", {"which": "d", "tomorrow": True}),
    ]
    assert await talk.says() == "I cancelled 2 alarms. What comes again rings as before after that."


@pytest.mark.parametrize(
    "words",
    [
        *("don't wake me", "don't wake me tomorrow before ten", "don't let me sleep in tomorrow", "wake me tomorrow"),
        *(
            "don't forget to wake me tomorrow at seven",
            "why didn't you wake me this morning",
            "don't wake the baby tomorrow",
        ),
        *("明天别叫我吃饭", "明天别忘了叫我", "别叫我了", "明天七点叫我", "明天别叫我妈", "今天谁叫我了"),
    ],
)
def test_other_words_leave_nothing_out(words: str) -> None:
    assert load_understanding()(words).name != "alarm_skip"
