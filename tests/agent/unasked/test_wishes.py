"""Which words ask for no more of the kind, which take that back, and how the rule is kept."""

from datetime import UTC, datetime

import pytest

from agent.unasked.past import Fate, Matter
from agent.unasked.wishes import is_unwanted, is_wanted_again, line_of, matters


@pytest.mark.shows("G14")
@pytest.mark.parametrize(
    "words",
    [
        "Don't tell me such things.",
        "Please do not tell me such things any more.",
        "Nakari, stop telling me about things like that, please!",
        "I don't want to hear that.",
        "Stop reminding me of this.",
        "Don't bother me with these things any more.",
        "别跟我说这些",
        "别跟我说这些了。",
        "以后不要再跟我说这种事了",
        "這些事別再跟我說了",
        "我不想听这些。",
        "不用告诉我这些",
        "别再提醒我这个了",
    ],
)
def test_no_more_of_the_kind(words: str) -> None:
    assert is_unwanted(words)
    assert not is_wanted_again(words)


@pytest.mark.shows("G14")
@pytest.mark.parametrize(
    "words",
    [
        "You may tell me such things again.",
        "Tell me such things again, please.",
        "You can tell me about things like that again.",
        "你可以再跟我说这些了",
        "这些事又可以跟我说了",
        "这些可以再说了吧",
    ],
)
def test_taken_back(words: str) -> None:
    assert is_wanted_again(words)
    assert not is_unwanted(words)


def test_a_book_that_ends_in_courtesies_is_not_gone_through_word_by_word() -> None:
    assert is_unwanted("Never tell me such things, please")
    assert not is_unwanted("Never tell me such things" + ", please" * 20_000)


@pytest.mark.parametrize(
    "words",
    [
        "Tell me about that.",
        "Don't tell Anna about that.",
        "Don't tell me the end of the film.",
        "Stop.",
        "Do not tell me such things about my mother in law when she sits here.",
        "说说这些事",
        "别说了",
        "可以跟我说说这些吗",
    ],
)
def test_else_it_is_for_the_agent(words: str) -> None:
    assert not is_unwanted(words)
    assert not is_wanted_again(words)


def test_a_rule_is_a_line_that_a_person_can_read() -> None:
    fate = Fate("1", "You might like\nsome jazz.", "look [at] music", "own", "said", datetime.now(UTC))
    assert line_of(fate) == "You might like some jazz. [look at music]"
    kept = matters(f"{line_of(fate)}\n\nThe roses are dry.\n")
    assert kept == (Matter("You might like some jazz.", "look at music"), Matter("The roses are dry."))
