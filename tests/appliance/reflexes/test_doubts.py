"""When a reflex word is nobody's order: echo, its own sentence, a television."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from appliance.reflexes.doubts import ECHO, LINGERS_SECONDS, OWN_WORDS, Doubts, holds
from audio.reflexes.addressing import NOT_ADDRESSED, Addressing
from audio.speech import RecognizedTurn
from tests.appliance.reflexes.reflex_room import heard, reflex_room
from tests.audio.ears_fakes import Unfollowed


def unsuspicious(began: float, ended: float) -> float:
    return 0.0


def loud(turn: RecognizedTurn) -> RecognizedTurn:
    """Return it well above the background."""
    return replace(turn, utterance=replace(turn.utterance, level_dbfs=-25.0, noise_dbfs=-60.0))


def silent() -> float:
    """Stand for a loudspeaker that never sounded."""
    return float("-inf")


@pytest.mark.shows("V4", "V16")
async def test_what_it_is_saying_itself_is_no_order_and_any_other_word_is(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        doubts = Doubts(room.body, Addressing(Unfollowed()), unsuspicious, silent)
        await room.speak("You can say stop at any time.", "Or wait.")
        assert doubts("stop", 10.0, 10.4) == OWN_WORDS
        assert doubts("Stop!", 10.0, 10.4) == OWN_WORDS
        assert doubts("wait", 10.0, 10.4) == ""
        room.mouth.hush()
        await room.mouth.quiet()
        assert doubts("stop", 10.2, 10.4 + LINGERS_SECONDS - 0.1) == OWN_WORDS, "the room still sounds"
        assert doubts("stop", 12.0, 12.4) == ""


@pytest.mark.shows("V16")
async def test_while_it_is_paused_nothing_is_its_own(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        doubts = Doubts(room.body, Addressing(Unfollowed()), unsuspicious, silent)
        await room.speak("I will go on when you say go on.")
        room.mouth.pause()
        assert doubts("go on", 10.0, 10.4) == ""
        room.mouth.hush()


@pytest.mark.shows("V4", "V16")
async def test_what_the_echo_guard_suspects_is_no_order(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        doubts = Doubts(room.body, Addressing(Unfollowed()), lambda began, ended: 0.9 if began < 10 else 0.1, silent)
        assert doubts("stop", 9.0, 9.4) == ECHO
        assert doubts("stop", 11.0, 11.4) == ""


@pytest.mark.shows("V15", "V16")
async def test_with_a_wake_word_a_television_orders_nothing_but_who_wants_silence_needs_none(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        addressing = Addressing(Unfollowed(), "alexa")
        doubts = Doubts(room.body, addressing, unsuspicious, silent)
        assert doubts("stop", 10.0, 10.4) == NOT_ADDRESSED
        await room.speak("A long answer.")
        assert doubts("stop", 20.0, 20.4) == ""
        room.mouth.hush()
        await room.mouth.quiet()
        addressing.wake(30.0)
        assert doubts("louder", 30.5, 31.0) == ""


@pytest.mark.shows("V16", "V29")
async def test_a_turn_is_clear_in_a_room_where_nothing_of_its_own_sounded_and_no_guess(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        doubts = Doubts(room.body, Addressing(Unfollowed()), unsuspicious, lambda: 10.0)
        later = 10.0 + LINGERS_SECONDS + 0.1
        assert doubts.is_speech(loud(heard("be quiet", 10.5, 0.6)))
        assert not doubts.is_speech(loud(heard("turn the volume up", 10.5, 0.2))), "nobody speaks so fast"
        assert doubts.is_over_own_voice(9.0)
        assert not doubts.is_over_own_voice(later)
        assert doubts.is_clear(heard("mute", later + 0.5, 0.5))
        assert not doubts.is_clear(heard("mute", later + 0.5, 0.5, "low"))
        assert not doubts.is_clear(heard("mute", 10.5, 1.0)), "it began under the last word"
        turn = heard("mute", later + 0.5, 0.5)
        for told in ({"command_margin": 6.8}, {"avg_logprob": -1.1}, {"no_speech_prob": 0.7}):
            unsure = replace(turn, transcript=replace(turn.transcript, evidence=told))
            assert not doubts.is_clear(unsure), "the nearest of a few commands, or unlikely words"
        assert not doubts.is_clear(replace(turn, utterance=replace(turn.utterance, echo_suspicion=0.4)))


@pytest.mark.shows("V15", "V16")
def test_a_turn_is_called_by_its_name_or_the_wake_word_in_it_and_by_none_before() -> None:
    addressing = Addressing(Unfollowed(), "hey_jarvis")
    assert addressing.is_called(heard("Nakari, stop listening", 100.0))
    assert addressing.is_called(heard("hey jarvis mute", 100.0))
    assert not addressing.is_called(heard("mute", 100.0))
    addressing.wake(97.0)
    assert not addressing.is_called(heard("mute", 100.0)), "another turn's"
    addressing.wake(99.8)
    assert addressing.is_called(heard("mute", 100.0)), "the model heard it in this one"


def test_words_are_found_as_words() -> None:
    assert holds("Please stop, now.", "stop")
    assert not holds("Nonstop music", "stop")
    assert holds("你可以说停一下。", "停一下")
