"""A command grammar without the words that the dictionary lacks."""

import pytest

from audio.recognizer.jsgf import jsgf, restrict

KNOWN = frozenset({"a", "is", "it", "lights", "now", "on", "set", "stop", "the", "time", "timer", "turn", "what"})


def kept(alternatives: list[str], **rules: list[str]) -> dict[str, list[str]]:
    return restrict({"command": alternatives, **rules}, KNOWN.__contains__)


def test_known_words_stay_as_they_are() -> None:
    alternatives = ["what time is it [now]", "(set | stop) [a | the] timer", "stop"]
    assert kept(alternatives) == {"command": alternatives}


def test_an_unknown_word_takes_its_own_branch_with_it_and_no_more() -> None:
    assert kept(["turn [nakari] lights on"]) == {"command": ["turn lights on"]}
    assert kept(["(set | nakari | stop) the timer"]) == {"command": ["(set | stop) the timer"]}
    assert kept(["[a | nakari] timer", "nakari", "stop"]) == {"command": ["[a] timer", "stop"]}
    assert kept(["stop [the (nakari | unheard of) timer]"]) == {"command": ["stop"]}


def test_rules_that_nobody_can_say_disappear_with_what_needs_them() -> None:
    rules = {"name": ["nakari"], "thing": ["<name> timer", "[<name>] timer"], "lost": ["<name>"]}
    assert kept(["stop <thing>", "stop <lost>", "<nowhere>"], **rules) == {
        "command": ["stop <thing>"],
        "thing": ["timer"],
    }


def test_nothing_may_be_left() -> None:
    assert kept(["nakari"]) == {}
    assert restrict({}, KNOWN.__contains__) == {}


def test_upper_case_is_lowered_as_the_dictionary_is() -> None:
    assert kept(["What Time Is It"]) == {"command": ["what time is it"]}


@pytest.mark.parametrize("wrong", ["(set", "set)", "[a timer", "a [timer)"])
def test_brackets_that_do_not_match_are_an_error(wrong: str) -> None:
    with pytest.raises(ValueError, match="unbalanced brackets in the command"):
        kept([wrong])


def test_the_text_has_one_public_rule() -> None:
    text = jsgf({"command": ["stop", "<timer> | now"], "timer": ["set a timer"]})
    assert text.splitlines() == [
        "#JSGF V1.0;",
        "grammar commands;",
        "public <command> = (stop) | (<timer> | now);",
        "<timer> = (set a timer);",
    ]
