"""What accompanies, and what wants to be heard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.turns.backchannels import is_backchannel

ENGLISH = (
    *("Mhm.", "mm-hmm", "Mmm", "Hm.", "Hmm...", "uh-huh", "Uh huh.", "uh", "um", "Ah!", "Oh.", "ok", "OK.", "Okay,"),
    *("Right.", "Yeah yeah.", "Yes.", "Sure.", "All right.", "I see.", "Got it.", "Okay, right.", "Oh, I see.", "Wow!"),
    *("Uh-huh, yeah, okay.", "That's right."),
)
CHINESE = (
    *(
        "嗯",
        "嗯。",
        "嗯嗯",
        "嗯，好的。",
        "对",
        "对对对",
        "对，对。",
        "好",
        "好的",
        "好的好的",
        "是的。",
        "哦",
        "哦，这样啊。",
        "没错",
    ),
    *("知道了", "明白了。", "真的吗？", "對", "嗯 嗯", "OK。", "好的，ok"),
)
MEANT = (
    *(
        "stop",
        "Okay, but what about tomorrow?",
        "No.",
        "What?",
        "right now",
        "Turn left",
        "yes please call her",
        "nakari",
    ),
    *("okay stop", "good morning", "I see a bear", "oh no", "hey", "umbrella", "hum the song", "sure enough it broke"),
    *("停", "不对", "不是", "好的，那明天呢？", "等一下", "什么", "对不起", "好听吗", "好冷", "是谁", "行李"),
    *("yeah yeah yeah yeah yeah", "对对对对对"),
)


@pytest.mark.shows("V17")
@pytest.mark.parametrize("words", ENGLISH)
def test_english_company(words: str) -> None:
    assert is_backchannel(words, "en")
    assert is_backchannel(words)


@pytest.mark.shows("V17")
@pytest.mark.parametrize("words", CHINESE)
def test_chinese_company(words: str) -> None:
    assert is_backchannel(words, "zh")
    assert is_backchannel(words, "")
    assert is_backchannel(words, "yue"), "a language that is not known here gets them all"


@pytest.mark.shows("V17")
@pytest.mark.parametrize("words", MEANT)
@pytest.mark.parametrize("language", ["en", "zh", ""])
def test_what_is_meant_to_be_heard(words: str, language: str) -> None:
    assert not is_backchannel(words, language)


def test_no_words_are_none() -> None:
    assert not any(is_backchannel(nothing) for nothing in ("", "   ", "...", "。"))


@given(st.sampled_from(ENGLISH + CHINESE), st.sampled_from(["stop", "what time is it", "停下", "几点了"]))
def test_a_real_word_in_front_or_behind_is_always_heard(company: str, words: str) -> None:
    assert not is_backchannel(f"{company} {words}")
    assert not is_backchannel(f"{words} {company}")
