"""The same asked of another day or place, and what the calendar sheet knows."""

from pathlib import Path

import pytest

from tests.agent.intents.follow_up.test_of_lists import last


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (("what day is it tomorrow", "and the day after"), "The day after tomorrow is"),
        (("what day is it tomorrow", "what about friday"), "Friday"),
        (("what time is it in london", "what about tokyo", "and sydney"), "there"),
        (("伦敦现在几点", "纽约呢", "那台北呢"), "那里现在是"),
        (("明天星期几", "后天呢"), "后天是"),
        (("is it wednesday today",), "Today is"),
        (("is it november",), "Today is"),
        (("今天是星期四吗",), "今天是"),
        (("今天礼拜三吗",), "今天是"),
        (("how many days in february next year",), "It has 28 days in 2027"),
        (("how many days does april have",), "It has 30 days in 2026"),
        (("明年二月有几天",), "2027年的这个月有28天"),
        (("is it a leap year",), "No, 2026 is no leap year"),
        (("今年是闰年吗",), "不是，2026年不是闰年"),
        (("我叫王芳", "我叫什么"), "你告诉过我：你叫王芳"),
        (("are you a robot",), "I am nakari"),
        (("你是机器人吗",), "nakari"),
        (("加五个苹果",), "购物清单上加了：五个苹果"),
        (("家里没酱油了",), "购物清单上加了：酱油"),
        (("加五个苹果", "苹果买了"), "购物清单上去掉了：五个苹果"),
    ],
)
async def test_what_is_asked_shortly_is_answered(tmp_path: Path, said: tuple[str, ...], answer: str) -> None:
    assert answer in await last(tmp_path, *said)


@pytest.mark.parametrize("words", ["家里没人了", "家里没电了", "家里没网了", "加五个小时"])
async def test_what_a_house_has_no_more_is_not_bought(tmp_path: Path, words: str) -> None:
    assert "购物清单" not in await last(tmp_path, words)


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        (
            "remember i took my pills this morning",
            "did i take my pills today",
            "Yes: you told me that you took your pills",
        ),
        ("i fed the cat", "did i feed the cat today", "Yes: you told me that you fed the cat"),
        ("记住我早上吃过药了", "我今天吃药了吗", "是的，你告诉过我：你早上吃过药了"),
    ],
)
async def test_what_was_done_today_is_told(tmp_path: Path, told: str, asked: str, answer: str) -> None:
    assert answer in await last(tmp_path, told, asked)


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("remember to take my pills", "did i take my pills today"),
        ("remember i took my pills yesterday", "did i take my pills today"),
        ("remember i have to take my pills every day", "have i taken my pills today"),
        ("记住我每天要吃药", "我今天吃药了吗"),
        ("记住我昨天吃过药了", "我今天吃药了吗"),
    ],
)
async def test_what_is_to_be_done_or_was_yesterday_is_no_yes(tmp_path: Path, told: str, asked: str) -> None:
    assert not (await last(tmp_path, told, asked)).startswith(("Yes", "是的"))
