"""What a household tells and asks: 200 sentences the rules were built on, and 100 that were written before."""

from pathlib import Path

import pytest

from tests.agent.intents.household import Household, a_home, households, is_as_expected
from tests.figures import figure
from tests.sample import sample

SOME = 7
"""Households of twenty, others after each commit."""


async def heard(house: Household, folder: Path, name: str) -> list[tuple[str, str]]:
    """Say all of a household's sentences; return those whose answer is not as expected, with the answer."""
    async with a_home(folder, name) as home:
        answers = [(words, expected, await home.hear(words)) for words, expected in house.said]
    return [(words, answer) for words, expected, answer in answers if not is_as_expected(answer, expected or ["KEPT"])]


def sentences(name: str) -> int:
    return sum(len(house.said) for house in households(name))


@pytest.mark.shows("V30", "D4")
async def test_what_the_rules_were_built_on_is_answered(tmp_path: Path, every_step: bool) -> None:
    houses = sample([*households("build.txt")], SOME, whole=every_step)
    wrong = [each for n, house in enumerate(houses) for each in await heard(house, tmp_path, str(n))]
    assert wrong == []
    assert sentences("build.txt") == 200


@pytest.mark.shows("V30", "D4")
async def test_most_of_what_was_held_out_is_answered(tmp_path: Path) -> None:
    houses = households("held-out.txt")
    wrong = [each for n, house in enumerate(houses) for each in await heard(house, tmp_path, str(n))]
    count = sentences("held-out.txt")
    assert count == 100
    figure("sentences of a household, held out, answered without a model", f"{count - len(wrong)} of {count}")
    assert count - len(wrong) >= 90, wrong
