"""Which words are a reflex: whole utterances, with courtesies and its name around them, and nothing else."""

import pytest

from audio.chinese import traditional
from audio.reflexes.words import PHRASES, REFLEXES, Reflex, asked, calls, plain


@pytest.mark.shows("V16")
@pytest.mark.parametrize(
    ("words", "reflex"),
    [
        ("Stop.", "stop"),
        ("Nakari, stop!", "stop"),
        ("Stop, stop, stop!", "stop"),
        ("please be quiet", "stop"),
        ("Stop talking, please.", "stop"),
        ("That's enough, Nakari.", "stop"),
        ("okay nakari stop it now please", "stop"),
        ("Wait.", "wait"),
        ("wait a moment please", "wait"),
        ("Hold on!", "wait"),
        ("go on", "go on"),
        ("Go on, go on.", "go on"),
        ("Please continue.", "go on"),
        ("quieter please", "quieter"),
        ("turn the volume down", "quieter"),
        ("Louder!", "louder"),
        ("Could you please speak up?", "louder"),
        ("Could you repeat that, please?", "repeat"),
        ("What did you say?", "repeat"),
        ("mute", "mute"),
        ("Nakari, mute yourself.", "mute"),
        ("unmute", "unmute"),
        ("Forget what you just heard.", "forget"),
        ("You didn't hear that.", "forget"),
        ("停！", "stop"),
        ("请停一下。", "stop"),
        ("那卡里，别说了。", "stop"),
        ("停停停", "stop"),
        ("停，停，停！", "stop"),
        ("等一下", "wait"),
        ("好的，继续说吧。", "go on"),
        ("小声一点", "quieter"),
        ("请大声点啊", "louder"),
        ("再说一遍吗", "repeat"),
        ("请再说一遍。", "repeat"),
        ("静音", "mute"),
        ("忘掉刚才听到的。", "forget"),
        ("那卡里忘了刚才的话吧", "forget"),
    ],
)
def test_a_whole_utterance_is_a_reflex(words: str, reflex: Reflex | None) -> None:
    assert asked(words) == reflex


@pytest.mark.shows("V16")
@pytest.mark.parametrize(
    "words",
    [
        "stop by the shop",
        "Can you stop the timer?",
        "don't stop",
        "the bus stop",
        "wait for the bus",
        "I have to wait",
        "go on holiday",
        "shall we go on",
        "make the radio louder",
        "the louder one",
        "mute the television",
        "repeat after me hello",
        "forget about the milk",
        "remember to stop",
        "please",
        "nakari",
        "",
        "你好",
        "停车场在哪里",
        "别停",
        "继续教育是什么",
        "大声公是什么",
        "忘掉烦恼",
        "我们等一下去吃饭",
    ],
)
def test_a_longer_sentence_is_none(words: str) -> None:
    assert asked(words) is None


def test_every_phrase_is_its_own_plain_form() -> None:
    assert set(PHRASES) == set(REFLEXES)
    for reflex, phrases in PHRASES.items():
        assert {phrase: asked(phrase) for phrase in phrases} == dict.fromkeys(phrases, reflex)


def test_a_reflex_that_is_switched_off_is_a_word_like_others() -> None:
    assert asked("stop", ("wait",)) is None
    assert asked("wait", ("wait",)) == "wait"


def test_it_may_have_another_name() -> None:
    assert asked("Mia, stop", names=("Mia",)) == "stop"
    assert asked("Mia Rossi, stop", names=("Mia Rossi", "Mia")) == "stop"
    assert asked("nakari stop", names=("Mia",)) is None


@pytest.mark.shows("V15")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Nakari, what time is it?", True),
        ("what does nakari think", True),
        ("那卡里，现在几点", True),
        ("what time is it", False),
        ("nakaris are birds", False),
        ("", False),
    ],
)
def test_its_name_is_found_in_words(words: str, *, named: bool) -> None:
    assert calls(words) is named


def test_courtesies_fall_at_the_ends_only() -> None:
    assert plain("please do it now please") == "do it"
    assert plain("can you just do that") == "do that"
    assert plain("just stop just") == "stop"
    assert plain("what can you do") == "what can you do"


@pytest.mark.shows("V16")
@pytest.mark.parametrize("words", [each for said in PHRASES.values() for each in said if not each.isascii()])
def test_an_order_in_traditional_characters_is_the_same(words: str) -> None:
    """Whisper writes Mandarin in them where it likes."""
    assert asked(traditional(words)) == asked(words)
    assert calls(f"小愛，{words}", ["小爱"])
