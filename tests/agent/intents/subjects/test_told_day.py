"""How far away a day is whose date somebody told."""

from pathlib import Path

import pytest

from tests.agent.intents.household import a_home


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("my birthday is on the fifth of May", "how many days until my birthday", "In 165 days, on Wednesday"),
        ("remember that Anna's wedding is on June the 12th", "how many days until Anna's wedding", "In 203 days"),
        ("remember that the dentist is on Monday", "how many days until the dentist", "You told me: the dentist is on"),
        ("my mum's birthday is the ninth of June", "how long until my mum's birthday", "In 200 days, on Wednesday"),
        (
            "my mum's birthday is the ninth of June",
            "how long is it till my mum's birthday",
            "In 200 days, on Wednesday",
        ),
        ("我妈的生日是六月九号", "离我妈生日还有几天", "还有200天"),
        ("我妈的生日是六月九号", "我妈生日是哪天", "你告诉过我：你妈的生日是六月九号。"),
        ("我的生日是五月五号", "离我生日还有多少天", "还有165天"),
        ("记住奶奶的生日是三月八号", "还有几天到奶奶的生日", "还有107天"),
    ],
)
async def test_a_day_that_was_told_is_counted_to(tmp_path: Path, told: str, asked: str, answer: str) -> None:
    async with a_home(tmp_path) as home:
        await home.hear(told)
        assert (await home.hear(asked)).startswith(answer)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("how many days until Christmas", "In 34 days"), ("how many days until my birthday", "I find nothing about that")],
)
async def test_what_nobody_told_is_said_so_and_a_feast_is_known(tmp_path: Path, asked: str, answer: str) -> None:
    async with a_home(tmp_path) as home:
        assert (await home.hear(asked)).startswith(answer)
