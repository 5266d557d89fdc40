"""Reflexes act at once and once, whoever hears them first; they last, they are heard, and the mind learns of them."""

import json
from pathlib import Path

import pytest

from appliance.reflexes.kept import Kept, KeptSwitches
from appliance.reflexes.reflexes import MOST_WAITING
from appliance.reflexes.verbs import Order
from audio.errors import DeviceUnavailable
from tests.appliance.reflexes.reflex_room import heard, reflex_room


@pytest.mark.shows("V16")
async def test_stop_silences_it_and_ends_what_the_mind_does_in_the_very_call(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.speak("First.", "Second.")
        room.spot("stop")
        assert room.player.happened[-1] == "stop"
        assert room.interrupted == ["now"]
        assert await room.journaled() == [("stop", "stopped", "spotted", "stop")]
        await room.mouth.quiet()


@pytest.mark.shows("V16")
async def test_the_words_that_were_spotted_act_no_second_time_and_go_no_further(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.spot("louder")
        room.mouth.volume.percent = 40
        ended = room.now - 0.3
        room.reflexes.words_so_far(heard("louder", ended))
        assert await room.reflexes.take(heard("louder", ended))
        assert room.mouth.volume.percent == 40
        assert await room.reflexes.take(heard("what time is it", ended)), "whatever the recognizer made of that sound"
        assert not await room.reflexes.take(heard("louder than the neighbours", ended + 3, 3.5)), "somebody went on"
        assert room.reflexes.counts == {"louder": 1}


@pytest.mark.shows("V16")
async def test_words_recognized_ahead_act_before_the_commit(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.speak("First.", "Second.")
        room.reflexes.words_so_far(heard("停一下", room.now))
        assert room.interrupted == ["now"]
        assert await room.reflexes.take(heard("停一下", room.now))
        assert room.interrupted == ["now"]


@pytest.mark.shows("V16")
async def test_wait_pauses_it_and_go_on_lets_it_go_on(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.speak("First.", "Second.")
        room.spot("wait")
        assert room.body.mouth.is_paused
        assert room.player.happened[-1] == "pause"
        room.now += 5
        room.spot("go on")
        assert not room.mouth.is_paused
        assert room.player.happened[-1] == "resume"
        assert [entry[:2] for entry in await room.journaled()] == [("wait", "paused"), ("go on", "resumed")]
        room.mouth.hush()


@pytest.mark.shows("V16")
@pytest.mark.parametrize("words", ["wait", "go on", "repeat", "say that again"])
async def test_where_there_is_nothing_to_act_upon_the_mind_gets_the_words(tmp_path: Path, words: str) -> None:
    async with reflex_room(tmp_path) as room:
        assert not await room.reflexes.take(heard(words, room.now))
        assert await room.journaled() == []


@pytest.mark.shows("V16")
async def test_how_loud_it_is_lasts_until_the_configuration_says_otherwise(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.spot("quieter")
        quieter = room.mouth.volume.percent
        assert quieter < 100
        await room.settle()
        assert len(room.player.levels) == 1, "a sign"
    async with reflex_room(tmp_path) as room:
        assert room.mouth.volume.percent == quieter
        assert room.body.kept.volume_for(80) == 80, "somebody wrote another volume into the file"
        room.spot("louder")
        assert room.mouth.volume.percent == 100


@pytest.mark.shows("V16")
async def test_repeat_says_the_last_reply_again(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.speak("First.", "* Second.")
        room.spot("stop")
        await room.mouth.quiet()
        room.player.at_once = True
        before = len(room.voice.asked)
        room.now += 5
        room.spot("repeat")
        await room.settle()
        assert [text for text, _ in room.voice.asked[before:]] == ["First. Second."]
        room.mouth.forget()
        room.now += 5
        assert not await room.reflexes.take(heard("repeat", room.now)), "what was forgotten cannot be repeated"


@pytest.mark.shows("V16", "V29")
async def test_mute_holds_when_the_turn_is_known_is_said_aloud_and_survives_a_restart(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        assert await room.reflexes.take(heard("mute", room.now))
        assert room.body.mute.is_on
        await room.settle()
        (said,) = [text for text, _ in room.voice.asked]
        assert "nakari unmute" in said
        assert room.reflexes.describe()["muted"] is True
    async with reflex_room(tmp_path) as room:
        assert room.body.mute.is_on
        assert await room.reflexes.told(Order("unmute")) == "I can hear again."
        assert room.reflexes.describe()["muted"] is False
        assert json.loads((tmp_path / "switches.json").read_text())["muted"] is False, "durable when it is told"


@pytest.mark.shows("V29")
def test_a_file_nobody_can_read_mutes(tmp_path: Path) -> None:
    file = tmp_path / "switches.json"
    file.write_text("{")
    assert KeptSwitches(file).now == Kept(muted=True)


async def test_a_disk_that_refuses_keeps_nobody_from_muting(tmp_path: Path) -> None:
    kept = KeptSwitches(tmp_path / "missing" / "switches.json")
    assert not await kept.keep(muted=True)
    assert kept.now.muted


@pytest.mark.shows("V16", "V23")
async def test_a_spotted_stop_ends_a_ring_and_leaves_the_mind_alone(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.ringing.set(5)
        await room.settle()
        room.ringing.clock.advance(5)
        await room.ringing.rings(1)
        room.spot("stop")
        assert not room.ringer.is_ringing
        assert room.interrupted == []
        assert await room.journaled() == [("stop", "silenced", "spotted", "stop")]
        assert await room.ringing.stops() == ["stop"]


@pytest.mark.shows("V16", "V23")
async def test_a_typed_stop_silences_a_ring_and_snooze_too(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        assert await room.reflexes.typed("stop") == "", "nothing sounds: the mind gets it"
        await room.ringing.set(5)
        await room.settle()
        room.ringing.clock.advance(5)
        await room.ringing.rings(1)
        assert await room.reflexes.typed("stop") == "The timer is silent."
        assert not room.ringer.is_ringing


@pytest.mark.shows("V16")
@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("quieter", "The volume is 85 percent."),
        ("小声一点", "音量为85%。"),
        ("unmute", "I can hear again."),
        ("repeat", ""),
        ("what time is it", ""),
        ("quieter " * 100, ""),
        ("forget what you just heard", "There is nothing to forget."),
    ],
)
async def test_typed_words_are_answered_in_writing(tmp_path: Path, words: str, answer: str) -> None:
    async with reflex_room(tmp_path) as room:
        assert await room.reflexes.typed(words) == answer


@pytest.mark.shows("V29")
async def test_what_is_typed_forgets_what_was_said_last_where_it_is_typed(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.has_memory = True
        assert await room.reflexes.typed("forget that", "chat") == "Forgotten: “the dentist is on Friday”."
        assert room.forgotten == ["chat"]


@pytest.mark.shows("V16")
async def test_the_mind_is_told_in_the_rooms_next_block_once_and_at_no_cost(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        assert room.told() == {}
        await room.speak("First.")
        room.spot("stop")
        await room.settle()
        room.now += 12
        assert room.told("another") == {}
        assert room.told() == {"Reflexes": "stop (stopped, 12 s ago)"}
        assert room.told() == {}
        assert (await room.state.mailbox.counts())["pending"] == 0, "no event of its own, so no model call"


@pytest.mark.shows("V16")
async def test_a_doubtful_word_does_nothing_and_is_counted(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.doubt = "echo"
        room.spot("louder")
        assert not await room.reflexes.take(heard("mute", room.now))
        assert not room.body.mute.is_on
        assert room.reflexes.doubted == {"echo": 2}


@pytest.mark.shows("V29")
async def test_forgetting_waits_for_the_whole_turn(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.has_memory = True
        turn = heard("forget what you just heard", room.now)
        room.reflexes.words_so_far(turn)
        await room.settle()
        assert room.forgotten == []
        assert await room.reflexes.take(turn)
        await room.settle()
        assert room.forgotten == ["it", "what saying it kept"]
        assert [text for text, _ in room.voice.asked] == ["Forgotten: “the dentist is on Friday”."]
        assert await room.journaled() == [("forget", "forgotten", "committed", None)], "its own words are not kept"


async def test_a_loudspeaker_that_is_gone_stops_no_reflex(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.player.fails = DeviceUnavailable
        for _ in range(MOST_WAITING + 4):
            room.now += 5
            room.spot("quieter")
        await room.settle()
        assert room.mouth.volume.percent < 30
        room.now += 5
        room.spot("louder")
        assert room.reflexes.counts["louder"] == 1
