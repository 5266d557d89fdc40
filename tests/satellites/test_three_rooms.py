"""The box's own room and two more, through the whole box in virtual time: and who is answered where."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from agent.event import room_of
from agent.replies import INTERRUPTED
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.satellites.interfaces import VoiceEvent
from audio.pcm import SAMPLE_RATE
from memory.state.journal import Stored
from tests.fakes import calls
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import says, spoken
from tests.satellites.devices import RoomDevice, RoomDevices
from tests.satellites.test_talking import TALE, journaled, played, said

T = TypeVar("T")

pytestmark = pytest.mark.shows("V28", "X16")

LIGHT = "Turn on the kitchen light."
NAME = "What is your name?"
TIME = "What time is it?"

NEAR, FAR = -24.0, -44.0
"""dBFS at the box's own microphone: whoever speaks beside it, and through a door."""

SETTLED_SECONDS = 4.0


def told(
    folder: Path,
    story: Callable[[House, RoomDevice, RoomDevice], Coroutine[Any, Any, T]],
    answers: tuple[str, ...] = ("Good morning.", "Good night.", "Play some music."),
) -> T:
    """Let a story happen in the box's own room, the kitchen and the study."""
    kitchen, study = RoomDevice("kitchen"), RoomDevice("study")

    async def tell(house: House) -> T:
        await house.wait(lambda: kitchen.is_there and study.is_there)
        result = await story(house, kitchen, study)
        await house.silence()
        return result

    return live(folder, tell, Surroundings(answers=answers, voice="en-us", satellites=RoomDevices(kitchen, study)))


async def answered(house: House) -> None:
    """Return when it has answered, and all is quiet."""
    await passed(SETTLED_SECONDS)
    await house.silence()


async def questions(house: House) -> list[tuple[str, str]]:
    """Return what people said that the agent was asked, each with its room."""
    runs = await journaled(house, "runs.new")
    events = [await house.box.household.mailbox.find(str(each.event_id)) for each in runs]
    return [(each.event.content, room_of(each.event)) for each in events if each is not None]


def test_each_is_answered_in_the_room_where_it_was_asked(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice, study: RoomDevice) -> None:
        house.put(says(TIME, "en-us"), NEAR)
        await house.wait(lambda: house.card.played)
        await answered(house)
        own = len(house.card.played)
        assert not kitchen.played
        assert not study.played
        await kitchen.says(spoken(LIGHT, "en-us"))
        await played(house, kitchen)
        await study.says(spoken(NAME, "en-us"))
        await played(house, study)
        await house.silence()
        assert len(house.card.played) == own, "nothing more sounded in the box's own room"
        assert said(kitchen.played[0].heard) == "Good night."
        assert said(study.played[0].heard) == "Play some music."
        assert len(kitchen.played) == len(study.played) == 1
        assert await questions(house) == [(TIME, ""), (LIGHT, "kitchen"), (NAME, "study")]

    told(tmp_path, story)


@pytest.mark.parametrize(("at_the_box", "wins"), [(FAR, "kitchen"), (NEAR, "")])
def test_a_sentence_that_two_rooms_hear_is_one_event_of_the_one_that_heard_it_better(
    tmp_path: Path, at_the_box: float, wins: str
) -> None:
    async def story(house: House, kitchen: RoomDevice, study: RoomDevice) -> None:
        house.put(says(LIGHT), at_the_box)
        quiet = (spoken(LIGHT, "en-us") * (1.0 if wins else 0.1)).astype(np.int16)
        await kitchen.says(quiet)
        await answered(house)
        assert await questions(house) == [(LIGHT, wins)]
        (echo,) = [each for each in await journaled(house, EARS_SUPPRESSED) if each.body.get("echo_of")]
        assert bool(kitchen.played) == bool(wins)
        assert bool(house.card.played) != bool(wins)
        assert not study.played
        assert len(house.model.requests) == 1
        assert VoiceEvent.ERROR not in kitchen.events, "who was heard, be it elsewhere, is shown no error"
        assert kitchen.events[-1] == VoiceEvent.RUN_END
        assert echo.body["heard_in"] == (wins or "box")

    told(tmp_path, story)


def test_a_timer_rings_where_it_was_set_until_somebody_there_says_stop(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice, study: RoomDevice) -> None:
        house.model.script.append(calls(("set_timer", json.dumps({"seconds": 20})), prefix="timer"))
        await study.says(spoken(TIME, "en-us"))
        await played(house, study)
        await house.wait(lambda: len(study.played) >= 3)
        ringer = house.box.output.ringer
        assert ringer is not None
        assert ringer.is_ringing, "again and again"
        assert not kitchen.played
        assert not house.card.played
        await study.says(spoken("Stop.", "en-us"))
        await house.wait(lambda: not ringer.is_ringing)
        rings = len(study.played)
        await passed(20.0)
        assert len(study.played) - rings <= 1, "at most what the agent says to it"
        assert not kitchen.played
        assert not house.card.played

    told(tmp_path, story)


def test_a_reply_in_one_room_goes_on_while_the_other_is_unplugged_and_the_box_is_spoken_to(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice, study: RoomDevice) -> list[Stored]:
        await kitchen.says(spoken(LIGHT, "en-us"))
        await house.wait(lambda: kitchen.played and kitchen.played[0].body)
        await passed(1.5)
        study.unplug()
        house.put(says(NAME, "en-us"), NEAR)
        await played(house, kitchen)
        await house.wait(lambda: house.card.played)
        await answered(house)
        study.plug_in()
        assert len(kitchen.played[0].heard) == len(kitchen.played[0].samples), "to its end"
        assert kitchen.events[-1] == VoiceEvent.RUN_END
        assert len(kitchen.played) == 1
        assert not study.played
        return await journaled(house, INTERRUPTED)

    assert told(tmp_path, story, (TALE, "Good night.")) == []


def test_a_device_unplugged_in_mid_reply_is_told_nothing_twice_and_nobody_else_hears_it(tmp_path: Path) -> None:
    async def story(house: House, kitchen: RoomDevice, study: RoomDevice) -> list[Stored]:
        await kitchen.says(spoken(LIGHT, "en-us"))
        await house.wait(lambda: kitchen.played and kitchen.played[0].body)
        await passed(2.0 + kitchen.delay)
        kitchen.unplug()
        async with asyncio.timeout(120):
            await study.says(spoken(NAME, "en-us"))
            await played(house, study)
        kitchen.plug_in()
        await passed(30.0)
        assert said(study.played[0].heard) == "Good night."
        assert len(kitchen.played) == len(study.played) == 1
        assert not house.card.played
        assert len(kitchen.played[0].heard) < 5 * SAMPLE_RATE
        return await journaled(house, INTERRUPTED)

    (interrupted,) = told(tmp_path, story, (TALE, "Good night."))
    assert str(interrupted.body["heard"]).startswith("Good morning.")
