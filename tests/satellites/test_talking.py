"""A satellite's questions and answers through the whole box, in virtual time: all real but device, clock and model."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from msgspec.structs import replace

from agent.event import ROOM, TIMER, Event
from agent.replies import INTERRUPTED
from appliance.satellites.interfaces import Features, PlayedFormat, VoiceEvent
from appliance.satellites.talk.body import LEAST_AHEAD
from appliance.satellites.talk.ears import NOBODY_SECONDS, STALLED_SECONDS
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from memory.state.journal import Stored
from tests.appliance.remote.page import words_in
from tests.audio.spoken import HOUSEHOLD_WHISPER
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import spoken
from tests.satellites.devices import ALL, SPEAKER, Fault, RoomDevice, RoomDevices

T = TypeVar("T")

pytestmark = pytest.mark.shows("V28", "X15")

QUESTION = "Turn on the kitchen light."
LONG = "Good morning. Turn off the kitchen light. Cancel the timer. Play some music. What time is it?"
"""A reply of some ten seconds, a question at its end."""

TALE = "Good morning. Turn off the kitchen light. Cancel the timer. Play some music. Turn on the fan."

HEARING = [VoiceEvent.RUN_START, VoiceEvent.STT_START, VoiceEvent.STT_VAD_END]
UNDERSTOOD = [*HEARING, VoiceEvent.STT_END, VoiceEvent.INTENT_START]
ANSWERED = [VoiceEvent.INTENT_END, VoiceEvent.TTS_START, VoiceEvent.TTS_END, VoiceEvent.RUN_END]


def told(
    folder: Path,
    story: Callable[[House, RoomDevice], Coroutine[Any, Any, T]],
    answer: str = "Good morning.",
    kitchen: RoomDevice | None = None,
    **around: Any,
) -> tuple[RoomDevice, T]:
    """Let a story happen in the kitchen; return its device, and what the story returns."""
    device = kitchen or RoomDevice("kitchen")

    async def tell(house: House) -> T:
        result = await story(house, device)
        await house.silence()
        assert not house.card.played, "the box's own room stays silent"
        return result

    answers = [answer, "Good morning."]
    return device, live(folder, tell, Surroundings(answers=answers, voice="en-us", satellites=RoomDevices(device)))


@cache
def whisper() -> FasterWhisperRecognizer:
    return FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")


def said(samples: Samples) -> str:
    return words_in(samples, whisper())


def longest_silence(samples: Samples) -> float:
    """Return the seconds of the longest stretch without a sound."""
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 100)
    return float(np.diff(loud).max()) / SAMPLE_RATE


async def journaled(house: House, topic: str) -> list[Stored]:
    return await house.box.household.replies.sayings.journal.entries(topic=topic)


async def played(house: House, kitchen: RoomDevice, count: int = 1) -> None:
    """Return when it has played so many sounds to their end."""
    await house.wait(lambda: len(kitchen.played) >= count and kitchen.played[count - 1].ended)


async def answering(house: House, kitchen: RoomDevice) -> None:
    """Ask; return two seconds into the answer."""
    await kitchen.says(spoken(QUESTION, "en-us"))
    await house.wait(lambda: kitchen.played and kitchen.played[-1].body)
    await passed(2.0 + kitchen.delay)


def test_a_question_in_the_kitchen_is_answered_there(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> list[Stored]:
        assert await kitchen.says(spoken(QUESTION, "en-us")), "its microphone was closed"
        await played(house, kitchen)
        return await journaled(house, "mail.put")

    kitchen, _ = told(tmp_path, story)
    assert kitchen.events == [*UNDERSTOOD, *ANSWERED]
    assert kitchen.data_of(VoiceEvent.STT_END)["text"] == QUESTION
    assert kitchen.data_of(VoiceEvent.INTENT_END)["continue_conversation"] == "0"
    (sound,) = kitchen.played
    assert said(sound.heard) == "Good morning."
    assert sound.headers["content-type"] == "audio/wav"


def test_the_sentences_of_a_reply_are_one_sound_without_gaps(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> None:
        await kitchen.says(spoken(QUESTION, "en-us"))
        await played(house, kitchen)

    kitchen, _ = told(tmp_path, story, TALE)
    (sound,) = kitchen.played
    assert longest_silence(sound.heard) < 0.125 + LEAST_AHEAD
    assert kitchen.events == [*UNDERSTOOD, *ANSWERED]


def test_a_question_at_the_end_opens_the_microphone_again(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> None:
        await kitchen.says(spoken(QUESTION, "en-us"))
        await played(house, kitchen)
        await kitchen.hears(spoken("Yes please.", "en-us"))
        await kitchen.quiet(3.0)
        await played(house, kitchen, 2)

    kitchen, _ = told(tmp_path, story, "What time is it?")
    assert kitchen.told[5].data["continue_conversation"] == "1"
    assert kitchen.events.count(VoiceEvent.RUN_START) == 2
    assert kitchen.data_of(VoiceEvent.STT_END)["text"] == "Yes please."


def test_nobody_who_answers_a_question_is_no_error(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> None:
        await kitchen.says(spoken(QUESTION, "en-us"))
        await played(house, kitchen)
        await kitchen.quiet(20.0)

    kitchen, _ = told(tmp_path, story, "What time is it?")
    assert kitchen.events[-4:] == [*HEARING, VoiceEvent.RUN_END]


def test_a_wake_without_a_word_ends_with_an_error(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> float:
        kitchen.wake()
        began = house.now
        await kitchen.quiet(30.0)
        return house.now - began

    kitchen, seconds = told(tmp_path, story)
    assert kitchen.events == [*HEARING, VoiceEvent.ERROR, VoiceEvent.RUN_END]
    assert kitchen.data_of(VoiceEvent.ERROR) == {
        "code": "stt-no-text-recognized",
        "message": "Nothing was understood.",
    }
    assert NOBODY_SECONDS <= seconds < NOBODY_SECONDS + 0.5


def test_sound_without_end_is_one_turn_at_most(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> float:
        kitchen.wake()
        began = house.now
        await kitchen.hears(np.tile(spoken(TALE.replace(".", ""), "en-us"), 20))
        return house.now - began

    kitchen, seconds = told(tmp_path, story)
    assert seconds < 30.0
    assert kitchen.events[:3] == HEARING


def test_a_device_that_dies_in_mid_question_has_said_what_it_said(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> str:
        kitchen.wake()
        await kitchen.hears(spoken(QUESTION, "en-us"))
        kitchen.unplug()
        await house.wait(lambda: house.model.requests)
        kitchen.plug_in()
        return str(house.model.requests[0][-1].content)

    _, asked = told(tmp_path, story)
    assert QUESTION in asked


def test_a_microphone_that_falls_silent_is_closed(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> None:
        kitchen.wake()
        await kitchen.hears(spoken(QUESTION, "en-us"))
        await passed(STALLED_SECONDS + 1.0)
        await played(house, kitchen)

    kitchen, _ = told(tmp_path, story)
    assert kitchen.events[:5] == UNDERSTOOD


def test_what_is_stopped_at_the_device_is_taken_back(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> int:
        kitchen.wake()
        await kitchen.hears(spoken(QUESTION, "en-us"))
        kitchen.abort()
        await passed(5.0)
        return len(house.model.requests)

    kitchen, requests = told(tmp_path, story)
    assert not requests
    assert VoiceEvent.STT_END not in kitchen.events


def test_a_wake_during_the_reply_ends_it_and_its_run(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> list[Stored]:
        await answering(house, kitchen)
        await kitchen.says(spoken("What is your name?", "en-us"))
        await played(house, kitchen, 2)
        return await journaled(house, INTERRUPTED)

    kitchen, interrupted = told(tmp_path, story, TALE)
    first, second = kitchen.played
    assert first.ended is not None
    assert len(first.heard) < 4 * SAMPLE_RATE
    assert len(interrupted) == 1
    assert said(second.heard) == "Good morning."


def test_its_own_stop_word_ends_the_reply(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> list[Stored]:
        await answering(house, kitchen)
        kitchen.stop_word()
        await passed(20.0)
        return await journaled(house, INTERRUPTED)

    kitchen, interrupted = told(tmp_path, story, TALE)
    assert len(kitchen.played) == 1
    assert len(interrupted) == 1


def test_a_device_unplugged_in_mid_reply_was_heard_so_far_and_says_nothing_twice(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> list[Stored]:
        await answering(house, kitchen)
        kitchen.unplug()
        await passed(5.0)
        kitchen.plug_in()
        await passed(20.0)
        return await journaled(house, INTERRUPTED)

    kitchen, interrupted = told(tmp_path, story, TALE)
    assert len(kitchen.played) == 1
    assert len(interrupted) == 1
    heard = str(interrupted[0].body["heard"])
    assert heard.startswith("Good morning.")
    assert "music" not in heard


async def thought_of(house: House, questions: int) -> None:
    """Return when the model was asked so often, and all of it was said as far as that goes."""
    await house.wait(lambda: len(house.model.requests) >= questions)
    await house.box.household.mailbox.until_idle()


def test_a_device_that_misbehaves_holds_nothing_up(tmp_path: Path) -> None:
    """In each way that there is, and behaves again before the next question."""

    async def story(house: House, kitchen: RoomDevice) -> None:
        for fault in (Fault.GETS_NOTHING, Fault.NEVER_TELLS, Fault.GETS_TWICE, Fault.STOPS_READING):
            kitchen.fault = fault
            kitchen.answers.clear()
            await kitchen.says(spoken("What time is it?", "en-us"))  # no words of the tale, which may be its own echo
            await thought_of(house, 1)
            kitchen.fault, before = Fault.NONE, len(kitchen.played)
            kitchen.stop_word()
            await kitchen.says(spoken("What is your name?", "en-us"))
            await thought_of(house, 2)
            house.model.requests.clear()
            await played(house, kitchen, before + 1)
            assert said(kitchen.played[-1].heard) == "Good morning.", fault
            assert (404 in kitchen.answers) is (fault is Fault.GETS_TWICE), "what is got twice is not said twice"

    told(tmp_path, story, TALE)


def test_a_timer_set_there_rings_there_until_somebody_wakes_it(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> tuple[bool, bool]:
        of_room, due = {ROOM: "kitchen"}, datetime.now(UTC) - timedelta(minutes=1)  # the house's clock is behind
        timer = Event(TIMER, "Timer is due.", priority=20, source="timer", metadata=of_room, created_at=due)
        await house.box.household.mailbox.enqueue(timer)
        await played(house, kitchen)
        ringer = house.box.output.ringer
        assert ringer is not None
        before = ringer.is_ringing
        kitchen.wake()
        after = ringer.is_ringing
        await kitchen.quiet(10.0)
        return before, after

    kitchen, ringing = told(tmp_path, story)
    assert ringing == (True, False)
    # What the mind says of it comes before it where the machine is busy.
    assert any(len(each.samples) > SAMPLE_RATE for each in kitchen.played), "a bell and its words"
    assert VoiceEvent.TTS_START not in kitchen.events[:2], "a ring is announced, and wakes nothing"


def test_louder_in_the_kitchen_turns_the_kitchen(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice) -> int:
        await kitchen.says(spoken("Louder please.", "en-us"))
        await played(house, kitchen)
        return house.box.output.speech.volume.percent

    kitchen, own = told(tmp_path, story)
    assert kitchen.levels == [0.65]
    assert own == 100
    assert kitchen.events[:5] == UNDERSTOOD
    assert kitchen.events[-1] == VoiceEvent.RUN_END


def playing(kind: str) -> Features:
    """Return what a device can that asks for announcements in that format, and for nothing else but WAV."""
    formats = (PlayedFormat("wav", 48_000, 2), PlayedFormat(kind, 48_000, 1, is_for_announcements=True))
    return replace(ALL, formats=formats)


def test_a_device_gets_the_format_that_it_asks_for_and_one_without_a_player_raw_sound_in_its_pace(
    tmp_path: Path,
) -> None:
    players = {kind: RoomDevice(kind, playing(kind)) for kind in ("flac", "mp3")}
    kitchen = RoomDevice("kitchen", SPEAKER)

    async def story(house: House) -> float:
        for device in players.values():
            await device.says(spoken(QUESTION, "en-us"))
            await played(house, device)
        await kitchen.says(spoken(QUESTION, "en-us"))
        await house.wait(lambda: VoiceEvent.TTS_STREAM_START in kitchen.events)
        began = house.now
        await house.wait(lambda: VoiceEvent.TTS_STREAM_END in kitchen.events)
        seconds = house.now - began
        await house.silence()
        return seconds

    around = Surroundings(answers=["Good morning."], voice="en-us", satellites=RoomDevices(*players.values(), kitchen))
    seconds = live(tmp_path, story, around)
    for kind, device in players.items():
        assert said(device.played[0].samples) == "Good morning."
        assert device.played[0].url.endswith(kind)
    sound = np.frombuffer(bytes(kitchen.raw), "<i2")
    assert said(sound) == "Good morning."
    assert seconds >= 0.7 * len(sound) / SAMPLE_RATE


def test_two_rooms_are_told_at_once_that_they_were_heard(tmp_path: Path) -> None:
    kitchen, study = RoomDevice("kitchen"), RoomDevice("study")

    async def story(house: House) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(kitchen.says(spoken(QUESTION, "en-us")))
            group.create_task(study.says(spoken("What is your name?", "en-us")))
        await house.box.household.mailbox.until_idle()
        await house.wait(lambda: kitchen.played and kitchen.played[-1].ended)
        await house.wait(lambda: study.played and study.played[-1].ended)
        await house.silence()

    around = Surroundings(
        answers=["Good morning.", "Good night."], voice="en-us", satellites=RoomDevices(kitchen, study)
    )
    live(tmp_path, story, around)
    for device in (kitchen, study):
        assert device.events[:5] == UNDERSTOOD
        began, understood = device.told[2].at, device.told[3].at
        assert understood - began < 1.5
    (answer,), (after_a_sign,) = study.played, kitchen.played
    assert said(answer.samples) == "Good morning."
    assert said(after_a_sign.samples[-round(0.9 * SAMPLE_RATE) :]) == "Good night.", "in one sound with its sign"
