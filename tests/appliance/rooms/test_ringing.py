"""Timers ring where they were set, over restarts too, and are stopped from where somebody says so."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.output.voice import VoiceReplySink
from appliance.rooms.rooms import Room
from appliance.timers.ringer import PAUSE, RingerHere
from audio.playback.speech_output import SpeechOutput
from tests.appliance.ringing_room import RingingRoom, ringing_room
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice


@dataclass
class There:
    """Another room, and what is heard there."""

    room: Room
    voice: ScriptedVoice
    player: ScriptedPlayer
    is_there: bool = True

    @property
    def rings(self) -> list[str]:
        return [text for text, _ in self.voice.asked]


def there(house: RingingRoom, name: str) -> There:
    """Add a room."""
    voice, player = ScriptedVoice(), ScriptedPlayer()
    mouth = SpeechOutput(voice, player)
    replies = VoiceReplySink(mouth, house.state.bus, "en")
    made = There(Room(name, mouth, replies, lambda: made.is_there, name), voice, player)
    house.rooms.add(made.room)
    return made


async def rung(house: RingingRoom, place: There, count: int) -> None:
    """Wait until a bell was heard there so often."""
    while place.player.happened.count("drain") < count:
        await house.settle()
    await house.settle()


@pytest.mark.shows("V28", "X16")
async def test_a_timer_rings_where_it_was_set(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as house:
        kitchen, study = there(house, "kitchen"), there(house, "study")
        await house.set(10, "pasta", room="Kitchen")
        await house.set(10, "call", room="study")
        house.clock.advance(10)
        await rung(house, kitchen, 1)
        await rung(house, study, 1)
        assert (kitchen.rings, study.rings, house.said) == (["Timer: pasta."], ["Timer: call."], [])


@pytest.mark.shows("V28", "X16")
async def test_it_rings_there_after_a_restart_too(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as house:
        await house.set(10, "pasta", room="kitchen")
        start = house.clock()
    async with ringing_room(tmp_path, start) as house:
        kitchen = there(house, "kitchen")
        house.clock.advance(10)
        await rung(house, kitchen, 1)
        assert (kitchen.rings, house.said) == (["Timer: pasta."], [])


@pytest.mark.shows("V28", "X16")
async def test_where_its_room_is_away_it_rings_at_the_box(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as house:
        kitchen = there(house, "kitchen")
        kitchen.is_there = False
        await house.set(10, "pasta", room="kitchen")
        house.clock.advance(10)
        await house.rings(1)
        assert (kitchen.rings, house.said) == ([], ["Timer: pasta."])


@pytest.mark.shows("V28", "X16")
async def test_a_room_unplugged_while_it_rings_leaves_the_ring_to_another(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as house:
        kitchen, study = there(house, "kitchen"), there(house, "study")
        house.somebody.last_room = "study"
        await house.set(10, "pasta", room="kitchen")
        house.clock.advance(10)
        await rung(house, kitchen, 1)
        kitchen.is_there = False
        house.clock.advance(PAUSE)
        await rung(house, study, 1)
        assert (len(kitchen.rings), study.rings, house.said) == (1, ["Timer: pasta."], [])


@pytest.mark.shows("V28", "X16")
async def test_stop_is_for_the_room_it_is_said_in(tmp_path: Path) -> None:
    async with _two_ringing(tmp_path) as (house, kitchen, study):
        assert await RingerHere(house.ringer, kitchen.room).take("stop")
        assert await house.stops() == ["stop"]
        assert house.ringer.is_ringing, "the study's goes on"
        assert [ringer.room for ringer in house.ringer.meant_in(study.room)] == [study.room]


@pytest.mark.shows("V28", "X16")
async def test_stop_said_elsewhere_is_for_what_alone_rings(tmp_path: Path) -> None:
    async with _two_ringing(tmp_path) as (house, kitchen, _):
        assert not await house.here.take("stop"), "which of the two?"
        assert await RingerHere(house.ringer, kitchen.room).take("stop")
        assert await house.here.take("stop"), "now there is one"
        assert not house.ringer.is_ringing


@asynccontextmanager
async def _two_ringing(folder: Path) -> AsyncIterator[tuple[RingingRoom, There, There]]:
    async with ringing_room(folder) as house:
        kitchen, study = there(house, "kitchen"), there(house, "study")
        await house.set(10, "pasta", room="kitchen")
        await house.set(10, "call", room="study")
        house.clock.advance(10)
        await rung(house, kitchen, 1)
        await rung(house, study, 1)
        yield house, kitchen, study
