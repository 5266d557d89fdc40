"""Mute by voice wants a second evidence; it ends by its time, by the wake word or by a person, and says so."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from agent.time.clock_steps import ClockSteps
from appliance.reflexes.kept import KeptSwitches, TimedMute
from appliance.reflexes.record import ASKED_BACK
from appliance.reflexes.reflexes import AGAIN_WITHIN
from appliance.reflexes.verbs import Order
from appliance.reflexes.words import muted
from audio.reflexes.words import Reflex
from tests.agent.clock import MORNING, Clock
from tests.appliance.reflexes.reflex_room import ReflexRoom, heard, reflex_room

HOUR = timedelta(hours=1)


def said(room: ReflexRoom) -> list[str]:
    return [text for text, _ in room.voice.asked]


async def hears_again(room: ReflexRoom) -> None:
    """Return when a mute has ended, is kept so, and that was said: a disk of a busy machine takes its time."""

    def is_kept() -> bool:
        return not json.loads((room.folder / "switches.json").read_text())["muted"]

    async with asyncio.timeout(120):
        while room.body.mute.is_on or said(room)[-1:] != ["I can hear again."] or not is_kept():
            await room.settle()


@pytest.mark.shows("V16", "V29")
@pytest.mark.parametrize("is_own_voice", [False, True])
async def test_no_word_that_was_spotted_or_recognized_ahead_mutes(tmp_path: Path, is_own_voice: bool) -> None:
    async with reflex_room(tmp_path) as room:
        room.is_own_voice = is_own_voice
        for verb in ("mute", "forget"):
            room.spot(verb)
            room.reflexes.words_so_far(heard("nakari mute" if verb == "mute" else "nakari forget that", room.now))
        await room.settle()
        assert not room.body.mute.is_on
        assert room.forgotten == []
        assert await room.journaled() == []


@pytest.mark.shows("V16", "V29")
async def test_over_its_own_voice_mute_is_silence_and_asked_back(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.speak("First.", "Second.")
        room.is_own_voice = True
        assert await room.reflexes.take(heard("mute", room.now)), "no event of the agent's"
        assert not room.body.mute.is_on
        assert room.player.happened[-1] == "stop"
        assert room.interrupted == ["now"]
        room.player.at_once = True
        assert await room.journaled() == [("mute", ASKED_BACK, "committed", "mute")]
        assert said(room)[-1] == "Say it once more and I close my ears."
        assert room.awaited == 1
        assert room.reflexes.counts == {}
        assert room.told() == {"Reflexes": "mute (asked back, 0 s ago)"}
        room.now += 3
        assert await room.reflexes.take(heard("mute", room.now))
        assert not room.reflexes.describe()["muted"], "over the question, by somebody who was heard wrong"
        room.is_own_voice = False
        room.now += 6
        assert await room.reflexes.take(heard("stop listening", room.now)), "the same order, in other words"
        assert room.body.mute.is_on


@pytest.mark.shows("V16", "V29")
async def test_an_order_said_again_too_late_or_another_one_is_asked_back_too(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.is_own_voice = True
        for words in ("mute", "forget that", "mute"):
            assert await room.reflexes.take(heard(words, room.now))
            await room.settle()
            assert not room.body.mute.is_on
            room.now += 5
        room.now += AGAIN_WITHIN
        assert await room.reflexes.take(heard("mute", room.now))
        assert not room.body.mute.is_on
        assert room.forgotten == []
        assert room.reflexes.doubted == {ASKED_BACK: 4}


@pytest.mark.shows("V16", "V29")
async def test_by_its_name_it_is_muted_over_its_own_voice_but_not_by_a_guess(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.is_own_voice = True
        assert await room.reflexes.take(heard("Nakari, mute", room.now, confidence="low"))
        assert not room.body.mute.is_on
        room.now += 2 * AGAIN_WITHIN
        assert await room.reflexes.take(heard("Nakari, mute", room.now))
        assert room.body.mute.is_on


@pytest.mark.shows("V16", "V29")
@pytest.mark.parametrize("words", ["mute", "forget that"])
async def test_what_was_hard_to_hear_is_asked_back_in_a_quiet_room_too(tmp_path: Path, words: str) -> None:
    async with reflex_room(tmp_path) as room:
        room.has_memory = True
        assert await room.reflexes.take(heard(words, room.now, confidence="low"))
        await room.settle()
        assert (room.body.mute.is_on, room.forgotten) == (False, [])
        room.now += 5
        assert await room.reflexes.take(heard(words, room.now, confidence="low"))
        await room.settle()
        assert room.body.mute.is_on is (words == "mute")
        assert bool(room.forgotten) is (words == "forget that")


@pytest.mark.shows("V16")
@pytest.mark.parametrize("words", ["louder", "quieter", "volume thirty"])
async def test_a_guess_at_a_volume_goes_to_the_agent(tmp_path: Path, words: str) -> None:
    async with reflex_room(tmp_path) as room:
        room.mouth.volume.percent = 50
        turn = heard(words, room.now, confidence="low")
        room.reflexes.words_so_far(turn)
        assert not await room.reflexes.take(turn)
        assert room.mouth.volume.percent == 50


@pytest.mark.shows("V16")
async def test_over_its_own_voice_only_silence_is_at_once(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.mouth.volume.percent = 50
        await room.speak("First.", "Second.")
        room.is_own_voice = True
        room.spot("louder")
        room.reflexes.words_so_far(heard("louder", room.now))
        assert room.mouth.volume.percent == 50, "neither a word in sound nor one ahead of its turn"
        assert await room.reflexes.take(heard("louder", room.now))
        assert room.mouth.volume.percent > 50
        room.now += 5
        room.reflexes.words_so_far(heard("Nakari, quieter", room.now))
        assert room.mouth.volume.percent == 50, "its name was in it"
        room.now += 5
        room.spot("wait")
        assert room.body.mouth.is_paused
        room.now += 5
        room.spot("go on")
        assert room.body.mouth.is_paused, "the words of somebody who speaks over it; alone, they act when they end"
        room.now += 5
        room.reflexes.words_so_far(heard("stop", room.now, confidence="low"))
        assert room.interrupted == ["now"]


@pytest.mark.shows("V16")
@pytest.mark.parametrize("reflex", ["quieter", "louder"])
async def test_in_a_quiet_room_a_volume_is_at_once(tmp_path: Path, reflex: Reflex) -> None:
    async with reflex_room(tmp_path) as room:
        room.mouth.volume.percent = 50
        room.spot(reflex)
        assert room.mouth.volume.percent != 50


@pytest.mark.shows("V11", "V16")
async def test_what_is_no_speech_by_its_evidence_acts_no_sooner_than_its_turn(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.is_speech = False
        room.reflexes.words_so_far(heard("be quiet", room.now))
        assert room.interrupted == []


@pytest.mark.shows("V29")
async def test_a_mute_ends_by_its_time_and_says_so(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        assert "for an hour" in await room.reflexes.told(Order("mute"))
        assert room.reflexes.describe()["muted_until"] == (MORNING + HOUR).isoformat()
        room.ringing.clock.advance(3599)
        await room.settle()
        assert room.reflexes.describe()["muted"]
        room.ringing.clock.advance(1)
        await hears_again(room)
        assert not room.reflexes.describe()["muted"]
        assert said(room)[-1] == "I can hear again."
        assert (await room.journaled())[-1] == ("unmute", "unmuted", "timed", None)
        assert room.reflexes.describe()["muted_until"] is None
        assert json.loads((tmp_path / "switches.json").read_text())["muted"] is False
        room.ringing.clock.advance(7200)
        await room.settle()
        assert room.reflexes.counts == {"mute": 1, "unmute": 1}


@pytest.mark.shows("V29")
async def test_a_restart_neither_forgets_a_mute_nor_prolongs_it(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.reflexes.told(Order("mute"))
    async with reflex_room(tmp_path, MORNING + HOUR / 2) as room:
        assert room.body.mute.until == MORNING + HOUR
        room.ringing.clock.advance(1800)
        await hears_again(room)
        assert not room.body.mute.is_on
        await room.reflexes.told(Order("mute"))
    async with reflex_room(tmp_path, MORNING + 3 * HOUR) as room:
        await hears_again(room)
        assert not room.body.mute.is_on, "its time was over while the machine was off"
        assert said(room) == ["I can hear again."]


@pytest.mark.shows("V29")
async def test_a_clock_that_was_wrong_mutes_for_no_longer_than_a_mute_lasts(tmp_path: Path) -> None:
    async with reflex_room(tmp_path, MORNING + 400 * 24 * HOUR) as room:
        await room.reflexes.told(Order("mute"))
    async with reflex_room(tmp_path) as room:
        assert room.body.mute.until == MORNING + HOUR


@pytest.mark.shows("V29")
@pytest.mark.parametrize("text", ["{", '{"muted": true, "volume": null, "volume_configured": 100}'])
async def test_a_mute_whose_end_nobody_knows_gets_one_and_keeps_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "switches.json").write_text(text)
    async with reflex_room(tmp_path) as room:
        await room.settle()
        assert room.body.mute.until == MORNING + HOUR
    assert KeptSwitches(tmp_path / "switches.json").now.muted_until == MORNING + HOUR


@pytest.mark.shows("V29")
async def test_a_mute_without_a_time_does_not_end_by_itself(tmp_path: Path) -> None:
    async with reflex_room(tmp_path, minutes=0) as room:
        told = await room.reflexes.told(Order("mute"))
        assert told == "I am muted and hear nothing until you type unmute or run nakari unmute."
        room.ringing.clock.advance(30 * 86_400)
        await room.settle()
        assert room.body.mute.is_on
    async with reflex_room(tmp_path, minutes=0) as room:
        assert room.body.mute.is_on
        assert room.body.mute.until is None


@pytest.mark.shows("V15", "V29")
async def test_the_wake_word_ends_a_mute_aloud(tmp_path: Path) -> None:
    async with reflex_room(tmp_path, wake_word="hey jarvis") as room:
        assert await room.reflexes.take(heard("hey jarvis, mute", room.now))
        await room.settle()
        assert "until you say hey jarvis" in said(room)[-1]
        room.reflexes.woken(room.now + 5)
        assert not room.body.mute.is_on
        await room.settle()
        assert said(room)[-1] == "I can hear again."
        assert (await room.journaled())[-1] == ("unmute", "unmuted", "woken", None)
        assert json.loads((tmp_path / "switches.json").read_text())["muted"] is False


@pytest.mark.shows("V29")
@pytest.mark.parametrize(
    ("minutes", "word", "language", "sentence"),
    [
        (60, "", "en", "I am muted and hear nothing for an hour, or until you type unmute or run nakari unmute."),
        (90, "alexa", "en", "for an hour and a half, or until you say alexa, type unmute or run nakari unmute."),
        (0, "alexa", "en", "I am muted and hear nothing until you say alexa, type unmute or run nakari unmute."),
        (60, "alexa", "zh", "我已静音，1小时内什么都听不见；说“alexa”、输入 unmute 或运行 nakari unmute 可以恢复。"),
        (0, "", "zh", "我已静音，什么都听不见；输入 unmute 或运行 nakari unmute 可以恢复。"),
    ],
)
def test_it_says_by_what_a_mute_ends_here(minutes: float, word: str, language: str, sentence: str) -> None:
    assert muted(minutes, word, language).endswith(sentence)


@pytest.mark.shows("V29")
@pytest.mark.parametrize("step", [-8 * HOUR, 8 * HOUR])
async def test_a_clock_that_is_set_neither_ends_a_mute_nor_prolongs_it(tmp_path: Path, step: timedelta) -> None:
    """A board without a battery is behind until the network tells it the time, and its ears are closed meanwhile."""
    clock, elapsed = Clock(MORNING), [0.0]
    kept = KeptSwitches(tmp_path / "switches.json")
    mute = TimedMute(kept, 60.0, clock, clock.wait, ClockSteps(clock, lambda: elapsed[0]))
    mute.switch(is_on=True)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(mute.run(lambda: mute.switch(is_on=False)))
        await clock.someone_sleeps()
        elapsed[0] += 600.0
        clock.advance(600.0 + step.total_seconds())
        await clock.someone_sleeps()
        assert mute.until == kept.now.muted_until == clock.after(3000.0)
        elapsed[0] += 3000.0
        clock.advance(3000.0)
        await clock.someone_sleeps()
        assert not mute.is_on
        running.cancel()
