"""One day without the alarm: what comes again is left out once, what comes once is cancelled, what reminds is kept."""

import re
from pathlib import Path

import pytest

from agent.intents.reading.understanding import load_understanding
from tests.agent.intents.kitchen import a_kitchen
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
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "d", "day": "tomorrow"})]
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
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "d", "day": "tomorrow"})]
    assert await talk.says() == "好的，明天上午7点整不响，之后照常。"


async def test_what_comes_once_is_cancelled_and_what_reminds_is_kept(talk: Talk) -> None:
    talk.hear("Don't wake me tomorrow")
    await talk.calls([ONCE, DAILY, PILLS])
    assert await talk.calls({"cancelled": ONCE}, SKIPPED) == [
        ("cancel_timer", {"which": "o"}),
        ("cancel_timer", {"which": "d", "day": "tomorrow"}),
    ]
    assert await talk.says() == (
        "All right, tomorrow it does not ring at seven o'clock in the morning; after that it rings as before. "
        "All right, I cancelled the alarm tomorrow at half past six in the morning."
    )


async def test_what_comes_today_before_is_left_out_of_tomorrow_too(talk: Talk) -> None:
    talk.hear("don't wake me tomorrow")
    await talk.calls([TODAY_TOO])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "n", "day": "tomorrow"})]


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
        ("cancel_timer", {"which": "d", "day": "tomorrow"}),
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


WEEKDAYS = a_timer("", "1 day", "2026-11-23 07:00:00 CET", "w") | {
    "kind": "alarm",
    "repeats": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
}


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("no alarm on Friday this week", "day 2026-11-27"),
        ("don't wake me on Friday", "day 2026-11-27"),
        ("skip Wednesday's alarm", "day 2026-11-25"),
        ("cancel Wednesday's alarm", "day 2026-11-25"),
        ("cancel Monday's alarm", "day 2026-11-23"),
        ("skip the alarm on the 25th", "day 2026-11-25"),
        ("I'm off on Friday, so no alarm", "day 2026-11-27"),
        ("turn the alarm off on Thursday", "day 2026-11-26"),
        ("这周五不用叫我", "day 2026-11-27"),
        ("周五的闹钟跳过一次", "day 2026-11-27"),
        ("周五我休息，不用叫我", "day 2026-11-27"),
        ("下周一放假，闹钟不要响", "day 2026-11-23"),
        ("取消周三的闹钟", "day 2026-11-25"),
    ],
)
async def test_a_day_further_away_is_left_out(talk: Talk, words: str, told: str) -> None:
    talk.hear(words)
    await talk.calls([WEEKDAYS, PILLS])
    name, _, day = told.partition(" ")
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "w", name: day})]
    assert "after that it rings as before" in (said := await talk.says()) or "之后照常" in said


@pytest.mark.parametrize(
    "words",
    [
        *("turn the alarm off for tomorrow only", "just for tomorrow no alarm", "turn off the alarm for tomorrow"),
        *("就明天别响", "明天我休息，不用叫我"),
    ],
)
async def test_tomorrow_alone_is_left_out(talk: Talk, words: str) -> None:
    talk.hear(words)
    await talk.calls([DAILY, MONDAYS])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "d", "day": "tomorrow"})]


@pytest.mark.parametrize("words", ["skip tomorrow's reminder", "跳过明天的提醒", "明天的提醒跳过一次"])
async def test_a_reminder_is_left_out_too(talk: Talk, words: str) -> None:
    talk.hear(words)
    await talk.calls([PILLS])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "p", "day": "tomorrow"})]


async def test_the_day_of_what_comes_once_a_week_names_all_of_it(talk: Talk) -> None:
    talk.hear("cancel Monday's alarm")
    await talk.calls([MONDAYS])
    assert await talk.calls({"cancelled": MONDAYS}) == [("cancel_timer", {"which": "m"})]


@pytest.mark.parametrize("words", ["no alarm on Sunday", "cancel Sunday's alarm"])
async def test_a_day_without_an_alarm_is_told(talk: Talk, words: str) -> None:
    talk.hear(words)
    await talk.calls([WEEKDAYS])
    assert await talk.says() in {"No alarm is set for tomorrow.", "I find no such timer."}


async def test_which_of_several_is_left_out_on_its_day_alone(talk: Talk) -> None:
    talk.hear("cancel Monday's alarm")
    await talk.calls([MONDAYS, WEEKDAYS])
    assert (await talk.says()).startswith("There are several.")
    talk.hear("the one at seven")
    await talk.calls([MONDAYS, WEEKDAYS])
    assert await talk.calls(SKIPPED) == [("cancel_timer", {"which": "w", "day": "2026-11-23"})]


async def test_a_day_that_is_left_out_already_has_no_alarm(talk: Talk) -> None:
    talk.hear("明天别叫我了")
    await talk.calls([TODAY_TOO | {"left_out": ["2026-11-22"]}])
    assert await talk.says() == "明天没有闹钟。"


@pytest.mark.parametrize(
    ("said", "rings"),
    [
        (("明天七点叫我", "明天别叫我了，后天再叫"), "2026-11-23 07:00"),
        (("每天早上七点叫我", "明天别叫我了，后天再叫"), "2026-11-23 07:00 FREQ=DAILY"),
        (("每天早上七点叫我", "明天别叫我了", "后天再叫"), "2026-11-23 07:00 FREQ=DAILY"),
        (("wake me tomorrow at seven", "don't wake me tomorrow, wake me on Monday instead"), "2026-11-23 07:00"),
        (
            ("wake me Monday to Saturday at seven", "I don't need the Saturday alarm"),
            "2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA",
        ),
    ],
)
async def test_the_day_named_behind_it_is_another_one(tmp_path: Path, said: tuple[str, ...], rings: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        answers = [await kitchen.hear(words) for words in said]
        assert await kitchen.rings() == [rings]
    assert re.search("Monday|day after tomorrow|后天|as before", answers[-1])


async def test_who_wants_none_this_morning_keeps_that_of_tomorrow(talk: Talk) -> None:
    talk.hear("no alarm this morning")
    await talk.calls([DAILY])
    assert await talk.says() == "No alarm is set for today."
