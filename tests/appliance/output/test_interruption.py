"""Somebody speaks while it does: through the real mouth and outlet, to what the mind is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest

from agent.bus import Bus
from agent.event import Event
from agent.replies import Delivered, Reply, ReplyStream
from appliance.output.interruption import BACKCHANNEL, SNATCH, Interruption
from appliance.output.voice import SENTENCE_ENDED, VoiceReplySink
from audio.echo.duplex import DUCK_DB, Mode
from audio.pcm import CHUNK_SAMPLES, AudioChunk
from audio.playback.speech_output import SpeechOutput
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.barge_in import NOISE_SECONDS, PATIENCE_SECONDS, PEEK_AFTER_SECONDS
from audio.turns.listener import REFLEX
from tests.audio.heard import heard
from tests.audio.mouth_fakes import Clock, ScriptedPlayer, ScriptedVoice
from tests.loops import together

EVENT = Event(type="asr_transcript", content="tell me a story", source="mic")
STORY = "Once there was a king."


class Room:
    """It tells a story, and waits in its middle for what the test has somebody say."""

    def __init__(self, mode: Mode) -> None:
        self.published: list[Event] = []
        self.interrupted: list[str] = []
        self.peeks = asyncio.Semaphore(0)
        self.clock = Clock()
        self.player = ScriptedPlayer(at_once=False, unheard=0.5)
        self.mouth = SpeechOutput(ScriptedVoice(), self.player)
        self.outlet = VoiceReplySink(self.mouth, Bus(self._keep), "en")
        self.mode = mode
        self.hears_another = self.is_doubtful = False
        self.explained = 0.0
        self.held_back: Callable[[RecognizedTurn], str] = lambda heard: ""
        self.interruption = Interruption(
            self.mouth, self.outlet, self._interrupt, self, lambda heard: self.held_back(heard), self.clock
        )

    async def _keep(self, events: tuple[Event, ...], **_: object) -> None:
        self.published += events

    def _interrupt(self, event_id: str) -> bool:
        self.interrupted.append(event_id)
        return True

    async def tell(self, text: str = STORY) -> ReplyStream:
        delivery = self.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(text)
        await delivery.close()
        await self.player.draining.wait()
        return delivery

    def somebody_speaks(self) -> float:
        """Return when."""
        self.clock.now += 1.0
        self.interruption.speech_started(SpeechStarted(self.clock.now, self.peeks.release))
        return self.clock.now

    def speech(self, probability: float, chunks: int) -> None:
        for _ in range(chunks):
            self.interruption(AudioChunk(np.zeros(CHUNK_SAMPLES, np.int16), self.clock.now), probability, False)

    def sound(self, *, is_another: bool, chunks: int) -> None:
        self.hears_another = is_another
        for _ in range(chunks):
            self.interruption(AudioChunk(np.zeros(CHUNK_SAMPLES, np.int16), self.clock.now), 0.0, False)

    def finish(self) -> None:
        self.player.go_on.set()

    @property
    def happened(self) -> list[str]:
        return [what for what in self.player.happened if what in {"pause", "resume", "stop"}]


@asynccontextmanager
async def a_room(mode: Mode = Mode.FULL) -> AsyncIterator[Room]:
    room = Room(mode)
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        loops = [group.create_task(together(room.mouth.loops())), group.create_task(room.interruption.run())]
        yield room
        for loop in loops:
            loop.cancel()


@pytest.mark.shows("V17", "V22")
async def test_words_end_the_reply_and_its_run_and_the_journal_says_what_was_heard() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        at = room.somebody_speaks()
        assert room.happened == ["pause"], "before anybody knows what it is"

        room.interruption.words_so_far(heard("which king", at, at + 0.8))
        assert room.interrupted == [], "the end may yet say that it was nobody's"
        room.interruption.turn_ended(heard("which king was it", at, at + 1.2), "")

        assert room.interrupted == [EVENT.id]
        assert await delivery.ended() == Delivered(STORY, "Once there", interrupted=True)
        (ended,) = (event.metadata for event in room.published if event.type == SENTENCE_ENDED)
        assert (ended["heard"], ended["unsaid"]) == ("Once there", "was a king.")
        room.interruption.turn_ended(heard("which king was it", at, at + 1.2), "")
        assert room.interrupted == [EVENT.id], "once"
        assert room.interruption.describe() == {"mode": "full duplex", "quiet": 1, "went_on": 0, "ended": 1}


@pytest.mark.shows("V17")
@pytest.mark.parametrize("reason", ["too short", "no words", "echo", "failed"])
async def test_what_nobody_gets_lets_it_go_on_and_all_of_it_is_heard(reason: str) -> None:
    async with a_room() as room:
        delivery = await room.tell()
        at = room.somebody_speaks()
        words = None if reason in {"too short", "failed"} else heard("thank you for watching", at, at + 0.5)
        room.interruption.turn_ended(words, reason)
        assert room.happened == ["pause", "resume"]
        room.finish()
        assert await delivery.ended() == Delivered(STORY, STORY)
        assert room.interrupted == []


@pytest.mark.shows("V12", "V17")
async def test_words_that_a_guard_holds_back_do_not_end_a_reply_ahead_of_their_turn() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        room.held_back = lambda heard: "echo" if heard.transcript.text in STORY else ""
        at = room.somebody_speaks()
        room.interruption.words_so_far(heard("there was a king", at, at + 0.8))
        assert room.interrupted == []
        room.clock.now += PATIENCE_SECONDS
        room.interruption.words_so_far(heard("and a queen", at, at + 1.2))
        assert (room.interrupted, room.happened) == ([], ["pause"])
        room.interruption.turn_ended(heard("and a queen", at, at + 1.2), "")
        assert room.interrupted == [EVENT.id]
        await delivery.ended()


@pytest.mark.shows("V17", "V11")
async def test_a_turn_that_is_gated_in_the_end_lets_it_go_on_whatever_its_words_so_far_were() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        at = room.somebody_speaks()
        room.interruption.words_so_far(heard("thank you for watching", at, at + 0.8))
        room.interruption.turn_ended(heard("thank you for watching", at, at + 4.0), "unsure")
        assert room.happened == ["pause", "resume"]
        room.finish()
        assert (await delivery.ended()).heard == STORY
        assert room.interrupted == []


@pytest.mark.shows("V17")
async def test_after_two_seconds_without_a_word_it_goes_on_by_itself() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        room.somebody_speaks()
        room.clock.now += PEEK_AFTER_SECONDS
        room.interruption.speech_started(
            SpeechStarted(room.clock.now, room.peeks.release)
        )  # as if it came again; the loop looks at the time
        assert room.happened == ["pause"]
        room.clock.now += PEEK_AFTER_SECONDS
        await room.peeks.acquire()
        room.clock.now += PATIENCE_SECONDS
        await room.player.resumed.wait()
        assert room.happened == ["pause", "resume"]
        room.finish()
        assert (await delivery.ended()).heard == STORY


@pytest.mark.shows("V17")
async def test_company_gets_no_event_and_ends_nothing() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        at = room.somebody_speaks()
        mhm = heard("Mhm.", at, at + 0.3)
        room.interruption.words_so_far(mhm)
        assert room.interruption.guard(mhm) == BACKCHANNEL
        room.interruption.turn_ended(mhm, BACKCHANNEL)
        assert room.happened == ["pause", "resume"]
        room.finish()
        assert not (await delivery.ended()).interrupted
        assert room.interruption.guard(mhm) == "", "now it is an answer"


@pytest.mark.shows("V17", "V11")
@pytest.mark.parametrize(("seconds", "reason"), [(0.26, SNATCH), (0.4, "")])
async def test_a_snatch_of_a_word_over_its_voice_gets_no_event(seconds: float, reason: str) -> None:
    async with a_room() as room:
        delivery = await room.tell()
        at = room.somebody_speaks()
        hello = heard("hello", at, at + seconds)
        assert room.interruption.guard(hello) == reason
        room.interruption.turn_ended(hello, "snatch")
        room.finish()
        await delivery.ended()
        assert room.interruption.guard(hello) == "", "while it is silent it is a word"


async def test_after_a_question_company_is_an_answer() -> None:
    async with a_room() as room:
        delivery = await room.tell("Shall I go on?")
        assert room.interruption.guard(heard("yes", 0.0, 1.0)) == ""
        room.finish()
        await delivery.ended()


@pytest.mark.shows("V16", "V17")
async def test_a_reflex_over_the_reply_is_left_to_the_reflex() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        room.held_back = lambda heard: REFLEX if heard.transcript.text == "louder" else ""
        at = room.somebody_speaks()
        louder = heard("louder", at, at + 0.4)
        room.interruption.words_so_far(louder)
        room.interruption.turn_ended(louder, REFLEX)
        assert room.happened == ["pause", "resume"]
        room.finish()
        assert (await delivery.ended()).heard == STORY


@pytest.mark.shows("V16", "V17")
async def test_a_reflex_that_did_not_act_leaves_the_words_to_the_mind() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        room.held_back = lambda heard: REFLEX
        at = room.somebody_speaks()
        room.interruption.words_so_far(heard("stop", at, at + 0.4))
        assert room.interrupted == []
        room.interruption.turn_ended(heard("stop", at, at + 0.4), "")
        assert room.interrupted == [EVENT.id]
        await delivery.ended()


@pytest.mark.shows("V16", "V17")
async def test_somebody_who_said_wait_is_not_overruled_by_a_cough() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        at = room.somebody_speaks()
        room.mouth.pause()  # what the reflex does
        room.interruption.turn_ended(heard("wait", at, at + 0.3), REFLEX)
        room.somebody_speaks()
        room.interruption.turn_ended(None, "too short")
        assert "resume" not in room.happened
        room.mouth.resume()
        room.finish()
        assert (await delivery.ended()).heard == STORY


@pytest.mark.shows("V16", "V17")
async def test_what_is_said_to_it_while_it_waits_ends_what_it_was_saying() -> None:
    """Or the answer would wait behind a sentence that waits for a "go on"."""
    async with a_room(Mode.HALF) as room:
        delivery = await room.tell()
        room.mouth.pause()
        at = room.somebody_speaks()
        room.interruption.turn_ended(heard("what time is it", at, at + 1.0), "")
        assert (await delivery.ended()).interrupted
        assert not room.mouth.is_paused


@pytest.mark.shows("V17")
async def test_ducked_it_is_quieter_first() -> None:
    async with a_room(Mode.DUCKED) as room:
        delivery = await room.tell()
        room.somebody_speaks()
        assert room.player.gains[-1] == pytest.approx(10 ** (-DUCK_DB / 20))
        room.speech(0.1, chunks=30)
        assert room.happened == []
        room.speech(0.9, chunks=8)
        assert room.happened == ["pause"]
        room.interruption.turn_ended(None, "no words")
        assert (room.happened[-1], room.player.gains[-1]) == ("resume", 1.0)
        room.finish()
        await delivery.ended()


@pytest.mark.shows("V17")
async def test_in_half_duplex_nothing_pauses_it() -> None:
    async with a_room(Mode.HALF) as room:
        delivery = await room.tell()
        room.somebody_speaks()
        room.speech(0.9, chunks=30)
        assert room.happened == []
        room.finish()
        await delivery.ended()


@pytest.mark.shows("V17")
async def test_a_sudden_sound_quiets_it_at_once_and_no_speech_lets_it_go_on() -> None:
    async with a_room() as room:
        delivery = await room.tell()
        room.sound(is_another=False, chunks=70)
        assert room.happened == []
        room.sound(is_another=True, chunks=2)
        assert room.happened == ["pause"]
        room.clock.now += NOISE_SECONDS  # until then a reflex word may still be found in it
        room.interruption.turn_ended(None, "too short")
        await room.player.resumed.wait()
        room.finish()
        assert (await delivery.ended()).heard == STORY


async def test_what_nobody_has_in_hand_is_hushed_all_the_same() -> None:
    """A reply that is said again belongs to no run."""
    async with a_room() as room:
        delivery = await room.tell()
        room.finish()
        await delivery.ended()
        for sentence in room.mouth.last_reply:
            await room.mouth.say(sentence)
        await room.player.draining.wait()
        at = room.somebody_speaks()
        room.interruption.turn_ended(heard("thank you, I know", at, at + 1.0), "")
        await room.mouth.quiet()
        assert room.interrupted == []
