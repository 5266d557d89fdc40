"""Speech output is paused, goes on where it was, or is stopped: what sounds, what starts, and what the accounts say."""

import asyncio

import numpy as np
import pytest

from audio.playback.live import LivePlayer
from audio.playback.speech_output import LONGEST_HOLD, LONGEST_PAUSE, LOOK_SECONDS, SpeechOutput, SpokenSentence
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import Clock, Following, ScriptedPlayer, ScriptedVoice
from tests.audio.playback.test_live import HandTurnedOutput
from tests.audio.playback.test_speech_output import Told, say, speaking
from tests.loops import together
from tests.room.virtual_time import run_virtually

BELL = SpeechAudio(np.full(2400, 77, np.int16), 24_000)
WORDS = SpokenSentence("", 0, "Timer pasta.", "en")


async def settle() -> None:
    """Let everything happen that can happen now."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.shows("V17")
async def test_a_paused_sentence_goes_on_and_was_heard_whole() -> None:
    player = ScriptedPlayer(at_once=False)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        await say(mouth, "One two three.")
        await player.draining.wait()
        mouth.pause()
        assert (told.happened[-1], mouth.is_paused) == ("pause", True)
        mouth.resume()
        assert (told.happened[-1], mouth.is_paused) == ("resume", False)
        player.go_on.set()
        await mouth.quiet()
    assert told.heard == [(0, "One two three.", True)]


@pytest.mark.shows("V17", "V22")
async def test_hushed_while_paused_the_words_before_the_pause_were_heard_and_the_rest_was_not() -> None:
    player = ScriptedPlayer(at_once=False, unheard=0.5)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        await say(mouth, "One two three four five.", "Six.")
        await player.draining.wait()
        mouth.pause()
        mouth.volume.duck(12.0)
        mouth.hush()
        assert not mouth.is_paused
        assert player.gains[-1] == 1.0
        await mouth.quiet()
        assert told.heard == [(0, "One two", False), (1, "", False)]

        player.at_once = True
        await say(mouth, "Seven.")
        await mouth.quiet()
    assert told.heard[-1] == (0, "Seven.", True), "what is said after a hush is heard"


@pytest.mark.shows("V17")
async def test_no_sentence_starts_while_somebody_holds_it() -> None:
    async with speaking(ScriptedVoice(), ScriptedPlayer()) as (mouth, told):
        mouth.pause()
        await say(mouth, "One.", "Two.")
        await settle()
        assert told.happened == ["pause"], "not even the commit in the journal"
        mouth.resume()
        await mouth.quiet()
    assert [number for number, _, whole in told.heard if whole] == [0, 1]


async def test_a_pause_that_begins_while_the_voice_still_works_holds_the_sentence() -> None:
    voice = ScriptedVoice(hold=asyncio.Event())
    async with speaking(voice, ScriptedPlayer()) as (mouth, told):
        await say(mouth, "One.")
        await voice.held.wait()
        mouth.pause()
        assert voice.hold
        voice.hold.set()
        await settle()
        assert told.happened == ["pause"]
        mouth.hush()
        await mouth.quiet()
    assert told.heard == [(0, "", False)]


@pytest.mark.shows("V16", "V17")
async def test_it_goes_on_only_when_everybody_has_let_go() -> None:
    player = ScriptedPlayer(at_once=False)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        await say(mouth, "One two.")
        await player.draining.wait()
        mouth.pause("a cough")
        mouth.pause()
        mouth.resume("a cough")
        assert mouth.is_paused
        assert "resume" not in told.happened
        mouth.resume()
        assert told.happened[-1] == "resume"
        player.go_on.set()
        await mouth.quiet()


@pytest.mark.shows("V17", "V23")
async def test_a_timer_rings_into_a_pause_between_two_sentences() -> None:
    player = ScriptedPlayer()
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        mouth.pause()
        await say(mouth, "One.")
        await mouth.announce(BELL, WORDS)
        assert player.levels == [77, 1000, 1001], "the bell and its words, and nothing of the reply"
        assert mouth.is_paused
        mouth.resume()
        await mouth.quiet()
    assert told.heard == [(0, "One.", True)]


@pytest.mark.shows("V17", "V23")
async def test_a_pause_does_not_silence_a_ring() -> None:
    player = ScriptedPlayer(at_once=False)
    async with speaking(ScriptedVoice(), player) as (mouth, told), asyncio.TaskGroup() as group:
        group.create_task(mouth.announce(BELL, WORDS))
        await player.draining.wait()
        mouth.pause()
        assert "pause" not in told.happened
        mouth.resume()
        player.go_on.set()


@pytest.mark.shows("V23")
async def test_a_ring_waits_for_a_pause_in_mid_sentence_and_ends_it_when_it_is_too_long() -> None:
    player, clock = ScriptedPlayer(at_once=False), Clock()
    mouth = SpeechOutput(ScriptedVoice(), player, clock)
    told = Told(mouth, player)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(together(mouth.loops()))
        await say(mouth, "One two.")
        await player.draining.wait()
        mouth.pause()
        clock.now += LONGEST_HOLD
        ringing = group.create_task(mouth.announce(BELL, WORDS))
        async with asyncio.timeout(3 * LOOK_SECONDS):
            await player.resumed.wait()
        assert not mouth.is_paused
        assert told.happened[-1] == "resume"
        assert 77 not in player.levels
        player.at_once = True
        player.go_on.set()
        await ringing
        await mouth.quiet()
        running.cancel()
    assert told.heard == [(0, "One two.", True)]
    assert player.levels[-3:] == [77, 1000, 1001]


async def test_it_tells_when_there_is_something_to_say_and_when_it_is_over() -> None:
    player, states = ScriptedPlayer(), list[bool]()
    async with speaking(ScriptedVoice(), player) as (mouth, _):
        mouth.observe(Following(changed=states.append))
        await say(mouth, "One.", "Two.")
        assert mouth.current == SpokenSentence("reply", 0, "One.", "en")
        assert states == [True]
        await mouth.quiet()
        assert states == [True, False]
        await mouth.announce(BELL, WORDS)
        await say(mouth, "Three.")
        mouth.hush()
        await mouth.quiet()
    assert states == [True, False, True, False], "a ring is not a reply"


@pytest.mark.shows("V16")
async def test_the_last_reply_is_kept_for_whoever_asks_to_hear_it_again() -> None:
    async with speaking(ScriptedVoice(), ScriptedPlayer()) as (mouth, told):
        await mouth.say(SpokenSentence("first", 1, "Gone.", "en"))
        await mouth.say(SpokenSentence("second", 1, "One.", "en"))
        await mouth.say(SpokenSentence("second", 2, "Two.", "en"))
        await mouth.say(SpokenSentence("", 0, "Louder.", "en"))
        mouth.hush()
        assert [sentence.text for sentence in mouth.last_reply] == ["One.", "Two."]
        for sentence in mouth.last_reply:
            await mouth.say(sentence)
        await mouth.quiet()
        assert [sentence.text for sentence in mouth.last_reply] == ["One.", "Two."]
        mouth.forget()
        assert mouth.last_reply == ()
    assert [heard for _, heard, whole in told.heard if whole] == ["One.", "Two."]


@pytest.mark.shows("V17", "V22")
async def test_with_the_real_player_the_heard_words_end_where_the_card_fell_silent() -> None:
    """Ten words of 0.2 s; it is paused after 0.9 s, hushed much later: four words were heard whole."""
    output, voice = HandTurnedOutput(), ScriptedVoice(level=5000)
    player = LivePlayer(output, "card")
    await player.start()
    mouth = SpeechOutput(voice, player)
    ended: list[tuple[str, bool]] = []
    mouth.observe(Following(ended=lambda heard, whole: ended.append((heard, whole))))
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        running = group.create_task(together(mouth.loops()))
        await mouth.say(SpokenSentence("reply", 0, "one two three four five six seven eight nine ten", "en"))
        while voice.words_said < 5:
            await settle()
        sounded = [output.turn(0.01) for _ in range(90)]
        mouth.pause()
        silent = [output.turn(0.01) for _ in range(200)]
        mouth.hush()
        await mouth.quiet()
        running.cancel()
    assert all(buffer.all() for buffer in sounded)
    assert not np.concatenate(silent[1:]).any()
    assert ended == [("one two three four", False)]


@pytest.mark.shows("V16", "V17")
def test_a_pause_that_nobody_comes_back_from_drops_the_rest_and_the_next_reply_is_heard() -> None:
    player = ScriptedPlayer(at_once=False, unheard=0.3)

    async def story() -> list[tuple[int, str, bool]]:
        began = asyncio.get_running_loop().time()
        async with speaking(ScriptedVoice(), player) as (mouth, told):
            await say(mouth, "One two three.", "Four.")
            await player.draining.wait()
            mouth.pause()
            await mouth.quiet()
            assert asyncio.get_running_loop().time() - began >= LONGEST_PAUSE
            player.at_once = True
            await say(mouth, "Five.")
            await mouth.quiet()
        return told.heard

    assert run_virtually(story()) == [(0, "One", False), (1, "", False), (0, "Five.", True)]
