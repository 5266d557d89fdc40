"""What is a plain yes, what is a plain no, and what is neither."""

import pytest

from agent.confirmation.question import consent_in

DOOR = "unlock the front door"


@pytest.mark.shows("G1", "X12")
@pytest.mark.parametrize(
    "words",
    [
        *("Yes.", "yes", "Yes, please.", "Yeah.", "yep", "Yes, do it.", "Go ahead.", "Please do.", "OK"),
        *("Yes, go ahead, please.", "Of course.", "Nakari, yes.", "Okay Nabu, yes.", "Sure.", "Okay."),
        *("Okay, nakari.", "Nakari，好的。", "Yes, unlock the front door.", "yes unlock the front door please"),
        *("是的。", "好的", "好。", "可以", "可以，谢谢", "对", "没问题", "确认。", "好的，请吧。"),
    ],
)  # fmt: skip
def test_a_plain_yes_is_one(words: str) -> None:
    assert consent_in(words, DOOR) == "yes"


def test_a_yes_may_repeat_what_was_asked_in_chinese() -> None:
    assert consent_in("好的，打开前门。", "打开前门") == "yes"


@pytest.mark.parametrize(
    "words",
    [
        *("No.", "no", "Nope.", "No, thank you.", "Don't.", "No, don't do it.", "Stop.", "Never mind."),
        *("Cancel it.", "Not now.", "Leave it.", "Better not.", "不", "不要。", "不用了，谢谢。", "别。", "算了"),
        *("取消", "先别"),
    ],
)  # fmt: skip
def test_a_plain_no_is_one(words: str) -> None:
    assert consent_in(words, DOOR) == "no"


@pytest.mark.parametrize(
    "words",
    [
        *("Yes, but only for five minutes.", "Yes, and what is the weather?", "Yesterday.", ""),
        *("Yes, unlock the back door.", "I said yes to him.", "Did you say yes?", "please", "What?"),
        *("unlock the front door", "Thank you.", "Hm.", "She said okay to the plan", "好的，明天再说", "嗯"),
    ],
)  # fmt: skip
def test_a_yes_in_a_longer_sentence_about_something_else_is_none(words: str) -> None:
    assert consent_in(words, DOOR) == ""


@pytest.mark.parametrize(
    ("words", "said"), [("對。", "yes"), ("沒問題", "yes"), ("當然可以", "yes"), ("不用謝謝", "no")]
)
def test_traditional_characters_say_the_same(words: str, said: str) -> None:
    """Whisper writes Mandarin in them where it likes."""
    assert consent_in(words) == said
    assert consent_in("好的，打開前門。", "打开前门") == "yes"


@pytest.mark.parametrize("words", ["Computer, yes.", "Yes, Computer", "小愛，好的", "Okay Nabu, yes."])
def test_it_may_be_called_by_the_names_that_it_was_given(words: str) -> None:
    assert consent_in(words, DOOR, ["computer", "小爱"]) == "yes"


@pytest.mark.parametrize("words", ["Computer, yes.", "小爱，好的", "Yes, computers."])
def test_who_calls_another_says_yes_to_another(words: str) -> None:
    assert consent_in(words, DOOR, ["nakari"]) == ""
