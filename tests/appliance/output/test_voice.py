"""Replies into sound through the real mouth: committed before they sound, never twice, accounted for at the end."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from agent.bus import Bus
from agent.event import Event
from agent.replies import SENTENCE_STARTED, SOURCES, Delivered, Reply, Source, Sources
from agent.run.system_replies import FILLER
from agent.turns.stages import Stages
from appliance.output.voice import FIRST_SOUND, SENTENCE_ENDED, VoiceReplySink
from audio.errors import DeviceUnavailable
from audio.playback.earcons import bell
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from memory.errors import StateUnusable, Superseded, Unconfirmed
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.loops import together

EVENT = Event(type="asr_transcript", content="hello", source="mic")
FIRST, SECOND = "Here is the first sentence.", "And here is the second one."


class Room:
    """A mouth with scripted voice and player, and what was published in what order."""

    def __init__(self) -> None:
        self.published: list[Event] = []
        self.refusal: Exception | None = None
        self.voice, self.player = ScriptedVoice(), ScriptedPlayer()
        self.bus = Bus(self._keep)
        self.shown = self.bus.observe("speech.*")
        self.mouth = SpeechOutput(self.voice, self.player)
        self.outlet = VoiceReplySink(self.mouth, self.bus, "en")

    async def _keep(self, events: tuple[Event, ...], **_: object) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.published += events

    def topics(self) -> list[str]:
        return [event.type for event in self.published]

    def committed(self) -> list[str]:
        return [event.content for event in self.published if event.type == SENTENCE_STARTED]


@asynccontextmanager
async def a_room() -> AsyncIterator[Room]:
    room = Room()
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        speaking = group.create_task(together(room.mouth.loops()))
        yield room
        speaking.cancel()


@pytest.mark.shows("V21", "V22")
async def test_each_sentence_is_committed_spoken_and_accounted_for_in_order() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        for piece in ("Here is the fir", "st sentence. And here is", " the second one."):
            await delivery.feed(piece)
        await delivery.close()
        assert await delivery.ended() == Delivered(f"{FIRST} {SECOND}", f"{FIRST} {SECOND}")
        assert room.committed() == [FIRST, SECOND]
        assert room.topics() == [SENTENCE_STARTED, SENTENCE_ENDED] * 2
        assert [sentence for sentence, _ in room.voice.asked] == [FIRST, SECOND]
        assert {event.parent_id for event in room.published} == {EVENT.id}


async def test_a_reply_that_is_open_sounds_only_while_one_of_its_sentences_does() -> None:
    async with a_room() as room:
        room.player.at_once = False
        stalled, later = room.outlet.open(Reply(EVENT, "c1")), room.outlet.open(Reply(EVENT, "c2"))
        await stalled.feed("Here is the")
        sounded = [stalled.is_sounding]
        await stalled.feed(" first sentence. And then")
        await room.player.draining.wait()
        sounded.append(stalled.is_sounding)
        room.player.at_once = True
        room.player.go_on.set()
        await later.feed(SECOND)
        await later.close()
        await later.ended()
        assert [*sounded, stalled.is_sounding] == [False, True, False]


@pytest.mark.shows("G2")
async def test_what_a_reply_rests_on_is_written_down_and_not_said() -> None:
    sources = Sources()
    sources.read(Source("The Daily", "https://daily.test/a"))
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1", sources=sources))
        await delivery.feed(FIRST)
        await delivery.close()
        await delivery.ended()
        await room.bus.publish()
    assert [sentence for sentence, _ in room.voice.asked] == [FIRST]
    named = [event for event in room.published if event.type == SOURCES]
    assert [(event.content, event.parent_id) for event in named] == [("The Daily: https://daily.test/a", EVENT.id)]


async def test_what_was_committed_before_a_crash_is_not_spoken_again() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1", already=(FIRST,)))
        await delivery.feed(f"{FIRST} {SECOND}")
        await delivery.close()
        ended = await delivery.ended()
        assert room.committed() == [SECOND]
        assert ended.text == f"{FIRST} {SECOND}"
        assert ended.heard == SECOND


LONG = "To make really good pancakes, you will need flour, eggs and milk."


@pytest.mark.shows("V21")
async def test_nobody_waits_for_the_end_of_a_long_first_sentence_that_is_written_slowly() -> None:
    now = 0.0
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1", stages=Stages(lambda: now)))
        for piece in re.findall(
            r"\S+\s*", f"{LONG} And then, as I said before, you have to stir it well, and bake it."
        ):
            await delivery.feed(piece)
            now += 0.2
        await delivery.close()
        said = [LONG[:29], LONG[30:], "And then, as I said before, you have to stir it well, and bake it."]
        assert (await delivery.ended()).heard == " ".join(said)
        assert [sentence for sentence, _ in room.voice.asked] == said
        assert room.committed() == said


async def test_a_first_sentence_that_is_written_in_time_is_said_whole() -> None:
    now = 0.0
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1", stages=Stages(lambda: now)))
        for piece in re.findall(r"\S+\s*", LONG):
            await delivery.feed(piece)
            now += 0.05
        await delivery.close()
        await delivery.ended()
        assert room.committed() == [LONG]


@pytest.mark.shows("V22")
async def test_a_clause_that_was_committed_before_a_crash_is_not_spoken_again() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1", already=(LONG[:29],)))
        await delivery.feed(LONG)
        await delivery.close()
        assert await delivery.ended() == Delivered(LONG, LONG[30:])
        started = [event for event in room.published if event.type == SENTENCE_STARTED]
        assert [(event.content, event.metadata["number"]) for event in started] == [(LONG[30:], 2)]


async def test_a_reply_that_was_spoken_whole_before_a_crash_ends_at_once() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1", already=(FIRST,)))
        await delivery.feed(FIRST)
        await delivery.close()
        assert (await delivery.ended()).heard == ""
        assert room.published == []


async def test_a_cut_drops_half_a_sentence_and_keeps_the_whole_ones() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(f"{FIRST} And here is the se")
        await delivery.cut()
        await delivery.close()
        assert delivery.handed == FIRST
        await delivery.ended()
        assert room.committed() == [FIRST]


async def test_nothing_sounds_before_its_commit() -> None:
    room = Room()
    room.refusal = OSError("a bug")
    delivery = room.outlet.open(Reply(EVENT, "c1"))
    await delivery.feed(FIRST)
    await delivery.close()
    with pytest.raises(ExceptionGroup):
        async with asyncio.timeout(120):
            await together(room.mouth.loops())
    assert room.player.levels == []


async def test_where_the_state_cannot_be_written_it_speaks_all_the_same() -> None:
    async with a_room() as room:
        room.refusal = StateUnusable("the disk is full")
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(FIRST)
        await delivery.close()
        assert (await delivery.ended()).heard == FIRST


async def test_the_first_sound_is_shown_with_its_moment_and_not_journaled() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(FIRST)
        await delivery.close()
        await delivery.ended()
        seen = [await anext(aiter(room.shown)) for _ in range(3)]
        marks = [event for event in seen if event.type == FIRST_SOUND]
        assert len(marks) == 1
        assert isinstance(marks[0].metadata["at"], float)
        assert FIRST_SOUND not in room.topics()


async def test_a_sentence_that_no_voice_can_say_does_not_hold_the_reply_up() -> None:
    async with a_room() as room:
        room.voice.failures[0] = 0
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(f"{FIRST} {SECOND}")
        await delivery.close()
        ended = await delivery.ended()
        assert ended.interrupted
        assert ended.heard == SECOND


async def test_two_replies_of_one_event_are_told_apart() -> None:
    async with a_room() as room:
        one, two = room.outlet.open(Reply(EVENT, "c1")), room.outlet.open(Reply(EVENT, "c2"))
        await one.feed(FIRST)
        await two.feed(SECOND)
        await two.close()
        await one.close()
        assert ((await one.ended()).heard, (await two.ended()).heard) == (FIRST, SECOND)


@pytest.mark.shows("V17", "V22")
async def test_hushed_it_tells_what_was_heard_and_marks_the_rest_unsaid() -> None:
    async with a_room() as room:
        room.player.at_once, room.player.unheard = False, 0.3
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(f"{FIRST} {SECOND} And nobody wants a thi")
        await room.player.draining.wait()

        assert room.outlet.stop_speaking() == EVENT.id
        await delivery.feed("rd one.")
        await delivery.close()

        assert await delivery.ended() == Delivered(f"{FIRST} {SECOND}", "Here is the", interrupted=True)
        ended = [event.metadata for event in room.published if event.type == SENTENCE_ENDED]
        assert [(body["heard"], body["unsaid"], body["whole"]) for body in ended] == [
            ("Here is the", "first sentence.", False),
            ("", SECOND, False),
        ]
        assert room.committed() == [FIRST]
        assert room.outlet.stop_speaking() == "", "nothing is under way any more"


@pytest.mark.shows("V17")
async def test_hushed_before_its_first_sentence_nothing_of_it_is_ever_said() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        assert room.outlet.stop_speaking() == EVENT.id
        await delivery.feed(f"{FIRST} {SECOND}")
        await delivery.close()
        assert await delivery.ended() == Delivered("", "", interrupted=True)
        assert room.published == []


@pytest.mark.shows("V17", "V22")
async def test_paused_and_resumed_it_was_heard_whole() -> None:
    async with a_room() as room:
        room.player.at_once = False
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(FIRST)
        await delivery.close()
        await room.player.draining.wait()
        room.mouth.pause()
        room.mouth.resume()
        room.player.go_on.set()
        assert await delivery.ended() == Delivered(FIRST, FIRST)
        (ended,) = (event.metadata for event in room.published if event.type == SENTENCE_ENDED)
        assert "unsaid" not in ended


@pytest.mark.shows("V16", "V22")
async def test_what_is_said_again_or_by_a_reflex_is_journaled_for_itself() -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "c1"))
        await delivery.feed(FIRST)
        await delivery.close()
        await delivery.ended()
        room.published.clear()

        for sentence in (*room.mouth.last_reply, SpokenSentence("", 0, "The volume is 40 percent.", "en")):
            await room.mouth.say(sentence)
        await room.mouth.quiet()

        assert room.committed() == [FIRST, "The volume is 40 percent."]
        assert {event.parent_id for event in room.published} == {""}
        assert room.topics() == [SENTENCE_STARTED, SENTENCE_ENDED] * 2


async def test_a_missing_loudspeaker_is_told_once_however_often_it_rings() -> None:
    with capture_logs() as logs:
        async with a_room() as room:
            room.player.fails = DeviceUnavailable
            for _ in range(18):
                await room.mouth.announce(bell(), SpokenSentence("", 0, "Timer: pasta.", "en"))
    told = [entry["log_level"] for entry in logs if entry["event"] == "sentence_failed"]
    assert (told.count("warning"), len(told)) == (1, 18)


@pytest.mark.shows("H10")
@pytest.mark.parametrize("refusal", [Superseded("another leads"), Unconfirmed("the engine is away")])
async def test_a_sentence_that_another_machine_may_be_saying_is_not_said(refusal: Exception) -> None:
    async with a_room() as room:
        delivery = room.outlet.open(Reply(EVENT, "call-1"))
        room.refusal = refusal
        await delivery.feed(f"{FIRST} {SECOND} ")
        await delivery.close()
        await room.mouth.quiet()
        assert "play" not in [each.split()[0] for each in room.player.happened]
        assert (await delivery.ended()).heard == ""


@pytest.mark.shows("H10")
async def test_an_outage_is_told_while_no_other_machine_is_known_to_lead() -> None:
    async with a_room() as room:
        said = []
        for number, refusal in enumerate((Unconfirmed("the engine is away"), Superseded("another leads"))):
            room.refusal = refusal
            before = len(room.player.happened)
            delivery = room.outlet.open(Reply(EVENT, f"{FILLER}disk-{number}"))
            await delivery.feed(FIRST)
            await delivery.close()
            await room.mouth.quiet()
            said.append(any(each.startswith("play") for each in room.player.happened[before:]))
        assert said == [True, False]
