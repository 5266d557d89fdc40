"""One set of verbs: each does the same, whether it is said alone, said in a sentence, called as a tool or commanded."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec import Struct

from agent.event import ASR_TRANSCRIPT, Event
from agent.tools.device import device_tools
from agent.tools.tool import Call, run_tool
from appliance.api.register import parse as parse_request
from appliance.api.requests.box import Hush
from appliance.reflexes.kept import KeptSwitches
from appliance.reflexes.verbs import Order
from tests.agent.offline_talk import OFFLINE, TOOLS, Talk
from tests.appliance.reflexes.reflex_room import ReflexRoom, heard, reflex_room


class Row(Struct, frozen=True):
    """A verb in every way that it can be asked for."""

    alone: str
    sentence: str
    tool: tuple[str, dict[str, object]]
    command: dict[str, object]
    is_done: Callable[[ReflexRoom], bool]


ROWS = {
    "louder": Row(
        "louder",
        "could you make it a bit louder please",
        ("set_volume", {"change": 15}),
        {"what": "louder"},
        lambda room: room.mouth.volume.percent == 65,
    ),
    "quieter": Row(
        "小声一点",
        "could you speak a little quieter please",
        ("set_volume", {"change": -15}),
        {"what": "quieter"},
        lambda room: room.mouth.volume.percent == 35,
    ),
    "volume": Row(
        "volume thirty",
        "please turn the volume down to 30 percent",
        ("set_volume", {"percent": 30}),
        {"what": "volume", "percent": 30},
        lambda room: room.mouth.volume.percent == 30,
    ),
    "mute": Row(
        "mute",
        "could you mute the microphone please",
        ("device", {"do": "mute"}),
        {"what": "mute"},
        lambda room: room.body.mute.is_on,
    ),
    "stop": Row(
        "stop",
        "could you please stop talking now",
        ("device", {"do": "stop"}),
        {"what": "stop"},
        lambda room: "stop" in room.player.happened,
    ),
    "wait": Row(
        "wait",
        "could you pause for a moment please",
        ("device", {"do": "wait"}),
        {"what": "wait"},
        lambda room: room.mouth.is_paused,
    ),
    "snooze": Row(
        "snooze",
        "could you snooze the alarm for five minutes",
        ("device", {"do": "snooze", "minutes": 5}),
        {"what": "snooze", "minutes": 5},
        lambda room: not room.ringer.is_ringing,
    ),
}


async def say_alone(room: ReflexRoom, row: Row) -> None:
    assert await room.reflexes.take(heard(row.alone, room.now))


async def say_in_a_sentence(room: ReflexRoom, row: Row) -> None:
    """Let the offline model call the tools, as any model would."""
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear(row.sentence)
    [(name, arguments)] = await talk.answer()
    talk.result(await call(room, name, arguments))
    assert (await talk.says()) != ""


async def call_the_tool(room: ReflexRoom, row: Row) -> None:
    await call(room, *row.tool)


async def command(room: ReflexRoom, row: Row) -> None:
    request = parse_request(json.dumps({"do": "hush", **row.command}).encode(), [Hush])
    assert isinstance(request, Hush)
    assert await room.reflexes.told(Order(request.what, request.percent, request.minutes))


async def call(room: ReflexRoom, name: str, arguments: dict[str, object], owner: str = "household") -> str:
    [found] = [each for each in device_tools(room.device) if each.name == name]
    event = Event(ASR_TRANSCRIPT, "", owner_key=owner)
    observation = await run_tool(found, json.dumps(arguments), Call("c1", event))
    assert not observation.startswith("error") or owner != "household", observation
    return observation


@pytest.mark.shows("V16", "V30")
@pytest.mark.parametrize("way", [say_alone, say_in_a_sentence, call_the_tool, command])
@pytest.mark.parametrize("verb", ROWS)
async def test_each_verb_works_by_every_way(tmp_path: Path, verb: str, way: Callable[..., Awaitable[None]]) -> None:
    row = ROWS[verb]
    async with reflex_room(tmp_path) as room:
        room.mouth.volume.percent = 50
        if verb in {"stop", "wait"}:
            await room.speak("First.", "Second.")
        if verb == "snooze":
            await room.ringing.set(5)
            await room.settle()
            room.ringing.clock.advance(5)
            await room.ringing.rings(1)
        assert not row.is_done(room)
        await way(room, row)
        assert row.is_done(room)
        room.mouth.hush()
        await room.settle()


async def test_what_a_tool_sets_lasts_and_is_journaled_as_the_tools(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        assert await call(room, "set_volume", {"percent": 40}) == '{"percent":40}'
        assert await room.journaled() == [("volume", "volume", "tool", None)]
    assert KeptSwitches(tmp_path / "switches.json").volume_for(100) == 40


async def test_a_tool_that_stops_its_voice_does_not_end_its_own_run(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        await room.speak("First.", "Second.")
        assert await call(room, "device", {"do": "stop"}) == "Stopped."
        assert room.interrupted == []
        await room.mouth.quiet()


async def test_no_model_switches_the_microphone_on(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        room.body.mute.is_on = True
        [device] = [each for each in device_tools(room.device) if each.name == "device"]
        observation = await run_tool(device, '{"do": "unmute"}', Call("c1", Event(ASR_TRANSCRIPT, "")))
        assert room.body.mute.is_on
        assert "do" in observation


@pytest.mark.parametrize("name", ["set_volume", "device"])
async def test_another_owner_does_not_act_on_the_room(tmp_path: Path, name: str) -> None:
    async with reflex_room(tmp_path) as room:
        room.mouth.volume.percent = 50
        arguments: dict[str, object] = {"percent": 10} if name == "set_volume" else {"do": "mute"}
        assert await call(room, name, arguments, owner="visitor") == "error: only the household may do that"
        assert room.mouth.volume.percent == 50
        assert not room.body.mute.is_on


async def test_a_volume_needs_one_number(tmp_path: Path) -> None:
    async with reflex_room(tmp_path) as room:
        [tool] = [each for each in device_tools(room.device) if each.name == "set_volume"]
        asked = Call("c1", Event(ASR_TRANSCRIPT, ""))
        for given in ("{}", '{"percent": 40, "change": 5}'):
            assert await run_tool(tool, given, asked) == "error: give either percent or change"
