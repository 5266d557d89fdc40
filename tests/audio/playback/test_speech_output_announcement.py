"""Announcements between two sentences: never over one, before those that wait, silent when told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from audio.errors import DeviceUnavailable
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.loops import together

RING = SpeechAudio(np.full(2400, 77, np.int16), 24_000)
WORDS = SpokenSentence("", 0, "Timer pasta.", "en")


class Room(SpeechObserver):
    def __init__(self, player: ScriptedPlayer | None = None) -> None:
        self.voice, self.player = ScriptedVoice(), player or ScriptedPlayer()
        self.mouth = SpeechOutput(self.voice, self.player)
        self.told: list[str] = []
        self.failures: list[str] = []
        self.mouth.observe(self)

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        self.told.append(f"started {sentence.text}")

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        self.told.append(f"ended {sentence.text} {whole}")

    def sentence_failed(self, sentence: SpokenSentence, reason: str) -> None:
        self.failures.append(reason)

    async def say(self, *texts: str) -> None:
        for number, text in enumerate(texts):
            await self.mouth.say(SpokenSentence("reply", number, text, "en"))


@asynccontextmanager
async def a_room(player: ScriptedPlayer | None = None) -> AsyncIterator[Room]:
    room = Room(player)
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        speaking = group.create_task(together(room.mouth.loops()))
        yield room
        speaking.cancel()


@pytest.mark.shows("V23")
async def test_a_sound_and_its_words_while_nothing_is_said() -> None:
    async with a_room() as room:
        await room.mouth.announce(RING, WORDS)
        assert room.player.levels == [77, 1000, 1001]
        assert room.voice.asked == [("Timer pasta.", "en")]
        assert room.player.happened[-1] == "drain"
        assert (room.told, room.failures) == ([], [])


@pytest.mark.shows("V23")
async def test_it_waits_for_the_sentence_under_way_and_goes_before_the_next() -> None:
    player = ScriptedPlayer(at_once=False)
    async with a_room(player) as room, asyncio.TaskGroup() as group:
        await room.say("One two.", "Three.")
        await player.draining.wait()
        ringing = group.create_task(room.mouth.announce(RING, WORDS))
        for _ in range(10):
            await asyncio.sleep(0)
        assert 77 not in player.levels, "never over its own sentence"
        player.at_once = True
        player.go_on.set()
        await ringing
        await room.mouth.quiet()
        assert player.levels == [1000, 1001, 77, 1000, 1001, 1000]
        assert room.told == ["started One two.", "ended One two. True", "started Three.", "ended Three. True"]


async def test_what_has_lost_its_point_when_its_turn_comes_stays_unsaid() -> None:
    player = ScriptedPlayer(at_once=False)
    still_so = True
    async with a_room(player) as room, asyncio.TaskGroup() as group:
        await room.say("One two.")
        await player.draining.wait()
        told = group.create_task(room.mouth.announce(RING, WORDS, unless=lambda: not still_so))
        await asyncio.sleep(0)
        still_so = False
        player.at_once = True
        player.go_on.set()
        assert await told is False
        await room.mouth.quiet()
        assert 77 not in player.levels


async def test_hushed_it_is_over_and_sentences_are_accounted_for_on_their_own() -> None:
    player = ScriptedPlayer(at_once=False, unheard=0.3)
    async with a_room(player) as room, asyncio.TaskGroup() as group:
        ringing = group.create_task(room.mouth.announce(RING, WORDS))
        await player.draining.wait()
        await room.say("Three.")
        room.mouth.hush()
        await ringing
        await room.mouth.quiet()
        assert room.told == ["ended Three. False"], "dropped before its turn"
        assert room.failures == []


async def test_hushed_before_its_words_are_made_it_waits_for_them_no_longer() -> None:
    async with a_room() as room, asyncio.TaskGroup() as group:
        room.voice.hold = asyncio.Event()
        ringing = group.create_task(room.mouth.announce(RING, WORDS))
        await room.voice.held.wait()
        room.mouth.hush()
        await ringing
        assert room.player.levels == [77]


@pytest.mark.shows("V23")
async def test_cancelled_it_is_silent_at_once_and_speech_goes_on() -> None:
    player = ScriptedPlayer(at_once=False)
    async with a_room(player) as room, asyncio.TaskGroup() as group:
        ringing = group.create_task(room.mouth.announce(RING, WORDS))
        await player.draining.wait()
        await room.say("Three.")
        ringing.cancel()
        player.at_once = True
        await room.mouth.quiet()
        assert player.happened.index("stop") < player.happened.index("play 1000", 3)
        assert room.told[-1] == "ended Three. True"


async def test_cancelled_while_it_waits_it_takes_nothing_from_the_reply() -> None:
    player = ScriptedPlayer(at_once=False)
    async with a_room(player) as room, asyncio.TaskGroup() as group:
        await room.say("One two.")
        await player.draining.wait()
        ringing = group.create_task(room.mouth.announce(RING, WORDS))
        await asyncio.sleep(0)
        ringing.cancel()
        player.at_once = True
        player.go_on.set()
        await room.mouth.quiet()
        assert "stop" not in player.happened
        assert room.told[-1] == "ended One two. True"
        assert player.levels == [1000, 1001]


@pytest.mark.shows("V23", "V30")
async def test_without_a_voice_the_sound_alone_rings() -> None:
    async with a_room() as room:
        room.voice.failures[-1] = 0
        await room.mouth.announce(RING, WORDS)
        assert room.player.levels == [77]
        assert room.failures == ["scripted failed as its script says"]


async def test_without_a_loudspeaker_it_is_told_and_the_mouth_lives() -> None:
    async with a_room(ScriptedPlayer(fails=DeviceUnavailable)) as room:
        await room.mouth.announce(RING, WORDS)
        assert room.failures == ["the loudspeaker is gone: plug it in"]
        room.player.fails = None
        await room.say("Three.")
        await room.mouth.quiet()
        assert room.told[-1] == "ended Three. True"


async def test_words_longer_than_what_may_wait_are_said_whole() -> None:
    async with a_room() as room:
        text = " ".join(["again"] * 600)
        await room.mouth.announce(RING, SpokenSentence("", 0, text, "en"))
        assert len(room.player.levels) == 601
