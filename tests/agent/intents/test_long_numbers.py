"""A number of four hundred figures, anywhere in a sentence: one answer in words, soon, and nothing done."""

import pytest

from tests.agent.offline_talk import Talk

LONG = "1" + "23456789" * 50
SAYS = (
    *(f"what is {LONG} plus 1", f"what is 2 to the power of {LONG}", f"{LONG} divided by 3", f"factorial of {LONG}"),
    *(f"set a timer for {LONG} minutes", f"remind me in {LONG} days to pay", f"wake me at {LONG}", f"volume to {LONG}"),
    *(f"how many days until {LONG}", f"convert {LONG} miles to km", f"pick a number between 1 and {LONG}", LONG),
    *(f"{LONG[:130]}加1等于多少", f"{LONG[:130]}分钟后提醒我", f"音量调到{LONG[:130]}", f"{LONG[:130]}天后提醒我交钱"),
    *(f"timer for one hundred and {LONG} minutes", f"add {LONG} minutes", f"{LONG[:130]}", f"split {LONG} three ways"),
)


@pytest.mark.parametrize("words", SAYS, ids=range(len(SAYS)))
async def test_a_number_that_is_too_long(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert [name for name, _ in await talk.answer()] == ["reply", "complete_event"]


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"what is {LONG} plus 1", "That number is too long for me."),
        (f"{LONG[:130]}加1等于多少", "这个数太长了，我算不了。"),
    ],
)
async def test_a_sum_of_it_is_refused_in_one_sentence(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert await talk.says() == said


async def test_a_long_number_is_kept_when_that_is_asked(talk: Talk) -> None:
    talk.hear(f"remember that my key is {LONG}")
    assert [name for name, _ in await talk.answer()] != ["reply", "complete_event"]
