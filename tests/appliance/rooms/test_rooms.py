"""The registry of rooms, and what the agent is told of them."""

from pathlib import Path

import pytest

from agent.event import ASR_TRANSCRIPT, SELF_CREATED, USER_TEXT, Event, in_room, in_room_of, room_of
from agent.mailbox import Lease
from agent.replies import Reply, ReplyStream
from appliance.config.load import load
from appliance.rooms.rooms import Room, Rooms, origin_of, where
from audio.playback.speech_output import SpeechOutput
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.fakes import RecordingOutlet


class Replies(RecordingOutlet):
    """`RoomReplies` that keeps what was opened."""

    is_replying = False

    def stop_speaking(self) -> str:
        return ""

    def open(self, reply: Reply) -> ReplyStream:
        return super().open(reply)


def room(name: str, device: str = "", *, there: bool = True) -> Room:
    return Room(name, SpeechOutput(ScriptedVoice(), ScriptedPlayer()), Replies(), lambda: there, device)


def said(room: str = "", device: str = "", source: str = "satellite") -> Event:
    return Event(ASR_TRANSCRIPT, "hello", source=source, metadata={"room": room, "device": device})


def test_an_event_belongs_to_the_very_device_or_to_another_one_there() -> None:
    left, right, gone = room("Kitchen", "left"), room("kitchen", "right"), room("Study", "x", there=False)
    own = room("")
    rooms = Rooms(own)
    for each in (left, right, gone):
        rooms.add(each)
    assert rooms.of(said("kitchen", "right")) is right
    assert rooms.of(said("KITCHEN", "one that was replaced")) is left
    assert rooms.of(said("study", "x")) is None, "it is away, and nobody else's"
    assert rooms.of(said("attic")) is None
    assert rooms.of(said(source="mic")) is own
    assert rooms.names == ("box", "Kitchen")
    assert rooms.named("the box") is None
    assert rooms.named("box") is own
    rooms.remove(left)
    rooms.remove(left)
    rooms.remove(own)
    assert [each.device for each in rooms] == ["", "right", "x"]


def test_the_box_has_the_name_of_its_room() -> None:
    own = room("living room")
    rooms = Rooms(own)
    assert rooms.of(said("Living  Room", source="mic")) is own
    assert rooms.names == ("living room",)


@pytest.mark.shows("V28", "X16")
def test_a_room_is_a_session() -> None:
    origin = origin_of("Living Room", "mac")
    assert (origin.source, origin.session_id) == ("satellite", "room:living room")
    assert origin.marks == {"device": "mac", "room": "Living Room"}


def test_what_comes_of_an_event_belongs_to_its_room() -> None:
    cause = said("kitchen", "mac")
    made = Event(SELF_CREATED, "x", metadata=in_room_of(cause))
    assert room_of(made) == "kitchen"
    assert room_of(in_room(made, "")) == "kitchen"
    assert room_of(in_room(made, "study")) == "study"


def told(rooms: Rooms, event: Event, **heard: float) -> str:
    return where(rooms, lambda: heard)(Lease(event)).get("Room", "")


@pytest.mark.shows("V28", "X16")
def test_one_room_without_a_name_costs_no_token() -> None:
    rooms = Rooms(room(""))
    assert where(rooms, lambda: {"box": 1.0})(Lease(said(source="mic"))) == {}
    assert where(rooms, lambda: {})(Lease(Event(USER_TEXT, "hello", source="cli"))) == {}
    assert told(Rooms(room("kitchen")), said("kitchen", source="mic")) == "kitchen"


@pytest.mark.shows("V28", "X16")
def test_the_agent_is_told_where_somebody_spoke_and_who_was_heard_where() -> None:
    rooms = Rooms(room(""))
    rooms.add(room("kitchen", "a"))
    rooms.add(room("study", "b", there=False))
    assert told(rooms, said("kitchen", "a"), box=60.0) == "kitchen; others: box"
    assert told(rooms, said(source="mic")) == "box; others: kitchen"
    assert told(rooms, said("study", "b")) == "study; others: box, kitchen"
    assert told(rooms, Event(USER_TEXT, "hello", source="cli")) == "rooms: box, kitchen"
    own = Event(SELF_CREATED, "x", source="self")
    assert told(rooms, own, kitchen=130.0) == "rooms: box, kitchen; heard lately: kitchen 2 min ago"


def test_the_room_of_the_box_is_configured(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text('[ears]\nroom = "kitchen"\n')
    assert load(file, {"HOME": str(tmp_path)}).ears.room == "kitchen"
