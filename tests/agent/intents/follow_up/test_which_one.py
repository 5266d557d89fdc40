"""The question which of several is meant, and its answer: by place, by name, by time, both, neither, and too late."""

from datetime import timedelta

import pytest

from tests.agent.clock import MORNING
from tests.agent.offline_talk import Talk, a_timer

TOMORROW = [
    a_timer("pasta", "1 day", "2026-11-22 12:00:00 CET", "p"),
    a_timer("米饭 rice", "1 day 1 hour", "2026-11-22 13:30:00 CET", "r"),
    a_timer("", "1 day 20 hours", "2026-11-23 07:00:00 CET", "w"),
]


async def asked(talk: Talk, words: str = "cancel tomorrow's reminder") -> None:
    talk.hear(words)
    await talk.calls(TOMORROW)
    told = await talk.says()
    assert "Which of them?" in told or "是哪一个" in told


async def cancelled(talk: Talk, words: str, seconds: float = 5) -> list[str]:
    """Say an answer, and return the ids of what it cancels."""
    talk.hear(words, at=MORNING + timedelta(seconds=seconds))
    calls = await talk.answer()
    if calls[0][0] == "list_timers":
        talk.result(TOMORROW)
        calls = await talk.answer()
    return [str(arguments["which"]) for name, arguments in calls if name == "cancel_timer"]


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    ("words", "ids"),
    [
        *(
            (words, ["r"])
            for words in ("the second one", "the second one please", "second", "number two", "the last one")
        ),
        *(
            (words, ["p"])
            for words in ("the pasta one", "pasta", "the pasta", "uh the pasta one", "cancel the first one")
        ),
        *((words, ["r"]) for words in ("the half past one one", "the one at half past one", "the rice one")),
        *((words, ["p", "r"]) for words in ("both", "both of them please", "all of them", "cancel both", "the lot")),
        *((words, []) for words in ("neither", "none of them", "leave them both", "no thanks", "all three")),
        *((words, []) for words in ("the third one", "not the pasta one", "pasta is great", "what's the second one")),
    ],
)
async def test_an_answer_names_one_or_both_or_neither(talk: Talk, words: str, ids: list[str]) -> None:
    await asked(talk)
    assert await cancelled(talk, words) == ids


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    ("words", "ids"),
    [
        *((words, ["r"]) for words in ("第二个", "就第二个吧", "最后一个", "米饭那个", "一点半那个")),
        *((words, ["p", "r"]) for words in ("两个都", "两个都取消", "都取消吧", "全部")),
        *(
            (words, [])
            for words in ("都不取消", "一个都不要取消", "第三个", "三个都", "不是第一个", "都不要了", "米饭好吃吗")
        ),
    ],
)
async def test_an_answer_in_chinese(talk: Talk, words: str, ids: list[str]) -> None:
    await asked(talk, "把明天的提醒取消")
    assert await cancelled(talk, words) == ids


@pytest.mark.parametrize("words", ["the second one", "both", "the pasta one", "第二个", "两个都"])
async def test_an_answer_that_comes_too_late_answers_nothing(talk: Talk, words: str) -> None:
    await asked(talk)
    assert await cancelled(talk, words, seconds=130) == []


@pytest.mark.parametrize("words", ["the second one", "both", "第二个", "两个都"])
async def test_an_answer_after_something_else_answers_nothing(talk: Talk, words: str) -> None:
    await asked(talk)
    talk.hear("what time is it")
    await talk.says()
    assert await cancelled(talk, words) == []


@pytest.mark.parametrize("words", ["both", "第二个", "the pasta one", "neither"])
async def test_an_answer_to_nothing_does_nothing(talk: Talk, words: str) -> None:
    assert await cancelled(talk, words) == []


async def test_what_rang_meanwhile_is_not_found(talk: Talk) -> None:
    await asked(talk)
    talk.hear("the first one", at=MORNING + timedelta(seconds=5))
    await talk.calls(TOMORROW[1:])
    assert await talk.says() == "I find no such timer."


async def test_the_one_that_is_named_is_changed(talk: Talk) -> None:
    await asked(talk, "change tomorrow's reminder to six")
    talk.hear("the second one", at=MORNING + timedelta(seconds=5))
    await talk.calls(TOMORROW)
    assert await talk.answer() == [("set_alarm", {"at": "2026-11-22T18:00", "label": "米饭 rice"})]
