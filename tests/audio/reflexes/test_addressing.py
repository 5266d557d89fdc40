"""Whom words are for: with a wake word and without."""

import numpy as np
import pytest

from audio.reflexes.addressing import FOLLOW_UP_SECONDS, NOT_ADDRESSED, ONLY_WOKEN, Addressing
from audio.speech import RecognizedTurn, Transcript, Utterance
from tests.audio.ears_fakes import Unfollowed


def heard(words: str, started_at: float, seconds: float = 1.0) -> RecognizedTurn:
    end = started_at + seconds
    utterance = Utterance(np.zeros(16_000, np.int16), started_at, end, end + 0.7, seconds)
    return RecognizedTurn(utterance, Transcript(words, "en", "scripted"), end + 0.8)


@pytest.mark.shows("V15")
def test_the_word_alone_is_known_by_its_time_whatever_was_understood() -> None:
    addressing = Addressing(Unfollowed(), "alexa")
    addressing.wake(200.6)
    assert addressing.guard(heard("where are my keys", 200.0, 0.6)) == ONLY_WOKEN
    assert addressing.guard(heard("where are my keys", 200.0, 2.0)) == ""


@pytest.mark.shows("V15")
def test_with_a_wake_word_nothing_else_is_addressed_to_it() -> None:
    addressing = Addressing(Unfollowed(), "alexa")
    assert addressing.guard(heard("what a lovely day", 100.0)) == NOT_ADDRESSED
    addressing.wake(200.4)
    assert addressing.guard(heard("alexa turn off the light", 200.0)) == ""
    assert addressing.wakes == 1


@pytest.mark.shows("V15")
def test_who_wakes_it_may_take_a_breath() -> None:
    addressing = Addressing(Unfollowed(), "alexa", follow_up=8.0)
    addressing.wake(200.4)
    assert addressing.guard(heard("alexa", 200.0, 0.5)) == ONLY_WOKEN
    assert addressing.guard(heard("turn off the light", 203.0)) == ""
    assert addressing.guard(heard("said the television", 209.0)) == NOT_ADDRESSED


@pytest.mark.shows("V15")
def test_its_name_in_the_words_opens_as_well() -> None:
    addressing = Addressing(Unfollowed(), "alexa", names=("nakari", "那卡里"))
    assert addressing.guard(heard("Nakari, what time is it?", 100.0)) == ""
    assert addressing.guard(heard("那卡里，几点了", 110.0)) == ""
    assert addressing.guard(heard("Nakari!", 120.0)) == ONLY_WOKEN
    assert addressing.guard(heard("what time is it", 123.0)) == ""


@pytest.mark.shows("V15")
def test_after_a_reply_no_wake_word_is_needed_for_a_while() -> None:
    now = [100.0]
    addressing = Addressing(Unfollowed(), "alexa", clock=lambda: now[0])
    addressing.speaking_changed(True)
    assert addressing.guard(heard("no, tomorrow", 99.0)) == "", "into its words"
    now[0] = 105.0
    addressing.speaking_changed(False)
    assert addressing.guard(heard("and tomorrow", 105.0 + FOLLOW_UP_SECONDS - 0.1)) == ""
    assert addressing.guard(heard("and now the weather", 105.0 + FOLLOW_UP_SECONDS + 0.1)) == NOT_ADDRESSED


@pytest.mark.shows("V15")
def test_without_a_wake_word_all_passes_with_its_evidence() -> None:
    now = [100.0]
    addressing = Addressing(Unfollowed(), clock=lambda: now[0])
    assert addressing.guard(heard("what a lovely day", 100.0)) == ""
    assert addressing.evidence(heard("what a lovely day", 100.0)) == {
        "woken": False,
        "named": False,
        "follow_up": False,
    }
    addressing.speaking_changed(False)
    assert addressing.evidence(heard("nakari and tomorrow", 104.0)) == {
        "woken": False,
        "named": True,
        "follow_up": True,
    }
    assert addressing.marks(heard("nakari and tomorrow", 104.0)) == {"addressed": "named follow_up"}
    assert addressing.marks(heard("what a lovely day", 150.0)) == {"addressed": "unknown"}


@pytest.mark.shows("V15")
def test_whether_it_listens_to_all_can_be_asked_before_the_words_are_known() -> None:
    assert Addressing(Unfollowed()).is_open(1.0, 2.0)
    addressing = Addressing(Unfollowed(), "alexa")
    assert not addressing.is_open(1.0, 2.0)
    addressing.wake(1.5)
    assert addressing.is_open(1.0, 2.0)
