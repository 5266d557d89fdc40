"""The rooms: the box's own, one for each device that hears and speaks, and what the agent is told of them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from msgspec import Struct

from agent.context.situation import SituationProvider
from agent.event import BOX, Event, room_of
from agent.mailbox import Lease
from agent.replies import ReplySink
from appliance.input.event import Origin
from audio.playback.speech_output import Speaks, SpeechObserver, SpokenSentence
from audio.speech import SpeechAudio

SATELLITE: Final = "satellite"
"""Source of what was heard by a device in another room."""

SESSION: Final = "room:"
"""How the session of a device in another room begins; the box's own is `room`."""

DEVICE: Final = "device"
"""Key of an event's metadata: the id of the device that heard it, where several stand in one room."""


class RoomReplies(ReplySink, Protocol):
    """Replies into the sound of one room (`appliance.output.voice.VoiceReplySink`)."""

    @property
    def is_replying(self) -> bool:
        """Whether a reply is under way."""

    def stop_speaking(self) -> str:
        """Be silent at once; return the id of the event whose reply was under way first, "" when there was none."""


class RoomSpeech(Speaks, Protocol):
    """What says sentences in one room (`SpeechOutput`, or `appliance.machines.mind.speech.MachineSpeech`)."""

    @property
    def current(self) -> SpokenSentence | None:
        """The sentence that sounds or comes next, None when all has ended."""

    async def announce(
        self, sound: SpeechAudio, sentence: SpokenSentence, unless: Callable[[], bool] | None = None
    ) -> bool:
        """Play a sound and say a sentence; False, and nothing, where `unless` says so when its turn has come."""


class Room(Struct, frozen=True):
    """One place with a mouth. Several may have the same name: devices in one room."""

    name: str
    """As people say it, "" where the box's own has none."""
    speech: RoomSpeech
    replies: RoomReplies
    is_there: Callable[[], bool]
    """Whether it can be heard there now."""
    device: str = ""
    """Id of the device; "" is the box itself."""
    rings_itself: bool = False
    """Whether the timers that were set there ring there by themselves, also while it is away."""

    @property
    def called(self) -> str:
        """What to call it."""
        return self.name or BOX


class Rooms:
    """All rooms. On the event loop; `observe` is told of what is spoken in any of them (`Speaks`)."""

    def __init__(self, own: Room) -> None:
        """`own` is the box's, which is never removed."""
        self.own = own
        self._rooms = [own]
        self._observers: list[SpeechObserver] = []

    def add(self, room: Room) -> None:
        """Take that there is one more, behind those that are there; it may be away for now."""
        for observer in self._observers:
            room.speech.observe(observer)
        self._rooms.append(room)

    def remove(self, room: Room) -> None:
        """Take that there is none such any more; nothing happens where there never was."""
        if room is not self.own and room in self._rooms:
            self._rooms.remove(room)

    def observe(self, observer: SpeechObserver) -> None:
        """Tell one more of what is spoken in each room, those to come among them; for good."""
        self._observers.append(observer)
        for room in self._rooms:
            room.speech.observe(observer)

    def __iter__(self) -> Iterator[Room]:
        """Every room, the box's own first, also those that are away."""
        return iter(tuple(self._rooms))

    @property
    def there(self) -> tuple[Room, ...]:
        """Those in which something can be heard now, the box's own first."""
        return tuple(room for room in self._rooms if room.is_there())

    @property
    def any(self) -> Room:
        """The first in which something can be heard now, the box's own where there is none."""
        return next(iter(self.there), self.own)

    @property
    def names(self) -> tuple[str, ...]:
        """What those that are there are called, each once."""
        names: dict[str, str] = {}
        for room in self.there:
            names.setdefault(same_name(room.called), room.called)
        return tuple(names.values())

    @property
    def is_speaking(self) -> bool:
        """Whether something is said anywhere, or about to be."""
        return any(room.speech.current is not None for room in self._rooms)

    def is_away(self, name: str) -> bool:
        """Whether there is a room of this name whose device cannot be reached now."""
        return self.named(name) is None and any(_is_called(room, name) for room in self._rooms)

    def named(self, name: str) -> Room | None:
        """Return the room of this name that is there, "" being the box's own; None where none is."""
        return next((room for room in self.there if _is_called(room, name)), None)

    def rings_itself(self, timer: Event) -> bool:
        """Whether a timer is left to the room in which it was set, which rings for it on its own."""
        return any(room.rings_itself and _is_called(room, room_of(timer)) for room in self._rooms)

    def of(self, event: Event) -> Room | None:
        """Return the room an event came from, the very device before others there; None where it is away."""
        name, device = room_of(event), str(event.metadata.get(DEVICE) or "")
        if not name and not device:
            return self.own
        there = [room for room in self.there if _is_called(room, name)]
        return next((room for room in there if room.device == device), there[0] if there else None)


def origin_of(name: str, device: str) -> Origin:
    """Return where words that a device in a room of this name hears come from: a session, so a context, a room."""
    return Origin(SATELLITE, session_id=f"{SESSION}{same_name(name)}", metadata={DEVICE: device}, room=name)


def same_name(name: str) -> str:
    """Return the name as it is compared."""
    return " ".join(name.casefold().split())


def _is_called(room: Room, name: str) -> bool:
    wanted = same_name(name)
    return wanted in {same_name(room.name), same_name(room.called)} if wanted else not room.device


def where(rooms: Rooms, heard: Callable[[], Mapping[str, float]]) -> SituationProvider:
    """Return a provider of the room of an event: nothing where there is one room, and that has no name.

    With what no person said it also tells where people were heard lately; `heard` has by room how many seconds ago.
    """

    def situation(lease: Lease) -> Mapping[str, str]:
        # What was typed has no room, and neither has what is the agent's own.
        here = room_of(lease.event) or (BOX if lease.event.source == "mic" else "")
        others = [name for name in rooms.names if same_name(name) != same_name(here)]
        if here in {"", BOX} and not (others and len(tuple(rooms)) > 1):
            return {}
        told = [here] if here else []
        if others:
            told.append(f"{'others' if here else 'rooms'}: {', '.join(others)}")
        if not lease.event.is_from_person and (near := heard()):
            told.append("heard lately: " + ", ".join(f"{room} {round(ago / 60)} min ago" for room, ago in near.items()))
        return {"Room": "; ".join(told)}

    return situation
