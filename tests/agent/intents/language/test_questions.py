"""What asks at the end of a sentence that tells, and what only sounds like it."""

import pytest

from agent.intents.language.questions import is_question
from agent.intents.reading.understanding import load_understanding


@pytest.mark.parametrize(
    "words",
    [
        "i've already put eggs on there haven't i",
        "I haven't got eggs already, have I?",
        "nobody fed the cat did they",
        "that is the plumber's number isn't it",
        "we never bought milk did we",
    ],
)
def test_a_tag_asks(words: str) -> None:
    assert is_question(words)


@pytest.mark.parametrize(
    "words",
    [
        "remind me at five to do it",
        "remind me on friday that the eggs are there",
        "wake me at seven so I can do it",
        "remind me at nine not to do it",
        "put it where the others are",
    ],
)
def test_what_ends_like_one_does_not(words: str) -> None:
    assert not is_question(words)


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("remind me about dinner for six people at five", "dinner for six people"),
        ("remind me to buy food for four of us tomorrow at three", "buy food for four of us"),
    ],
)
def test_a_number_of_people_is_no_time(words: str, label: str) -> None:
    assert load_understanding()(words).text("label") == label


def test_a_number_of_people_alone_is_no_time_either() -> None:
    assert load_understanding()("set a timer for dinner for six people").name == "ask_when"
