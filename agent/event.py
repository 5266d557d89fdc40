"""The one envelope: everything in the mailbox and on the bus is an Event, in memory or as one line of JSON."""

import json
import uuid
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct, field
from msgspec.structs import fields, replace

from agent.attachments.attachment import ATTACHMENTS, Attachment, Image, attachments_from
from memory.clock import Moment
from memory.clock import utc_now as utc_now
from memory.clock import utc_text as utc_text
from memory.json_value import Json, parse_json, read_as
from memory.state.importance import UNSET

HOUSEHOLD: Final = "household"
"""The owner of everything nobody registered for."""

DEFAULT_MAX_TOOL_CALLS: Final = 10
"""Tool calls an event may use where neither it nor the configuration says."""

USER_TEXT: Final = "user_text"
ASR_TRANSCRIPT: Final = "asr_transcript"
TIMER: Final = "timer"
SELF_CREATED: Final = "self_created"
SYSTEM: Final = "system"
CALENDAR: Final = "calendar"
"""A reminder of what begins in a calendar."""
HOME_WATCH: Final = "home_watch"
"""Something in the house that somebody waits for, and that it has come."""
REFLECTION: Final = "reflection"
"""A conversation is over: the agent looks back on what was new in it."""
NIGHT: Final = "night"
"""Quiet hours: the agent looks over its memory."""
GROWTH: Final = frozenset({REFLECTION, NIGHT})
"""Events of the agent's own that its growth brings; they come when nobody speaks."""

MODEL_AVAILABLE: Final = "model_available"
"""What its own work waits for while only the offline model is there; a name for `Mailbox.wake`."""

OUTSIDE: Final = "outside"
"""Key of an event's metadata and of a step of the journal: the stranger whose words its content carries."""

SPEAKER: Final = "speaker"
"""Key of an event's metadata: the name of whoever said it, where a client, a voice or an import tells it."""

ROOM: Final = "room"
"""Key of an event's metadata: the name of the room in which it was said, or that it is meant for."""

BOX: Final = "box"
"""What the box's own room is called where it has no name."""

VOICE: Final = "voice"
"""Key of the evidence of what was heard: whose voice it may be, as name, margin, and whether that is sure."""

UNKNOWN: Final = "unknown"
"""The name of whoever no known voice is near to: the normal case."""

ATTACHED: Final = "what is attached"
"""Stands for whoever wrote an attached document or image."""

PERSON_TYPES: Final = frozenset({USER_TEXT, ASR_TRANSCRIPT})
"""Events in which a person speaks or writes: their words are `<Human_Input>`, and they always end in words."""


def require_event(value: object) -> None:
    """Raise TypeError for anything that is no `Event`: it is the one unit of communication."""
    if not isinstance(value, Event):
        raise TypeError(f"only an Event can be sent or filed, not {type(value).__name__}")


def new_id() -> str:
    """Return a fresh identifier: 32 hexadecimal digits."""
    return uuid.uuid4().hex


MOST_PRIORITY: Final = 2**63 - 1
"""What SQLite holds."""


class Event(Struct, frozen=True):
    """Something that happened, or should: speech, typed text, a timer, its own plan, a step of the loop.

    Frozen; whoever needs another status makes another envelope (`msgspec.structs.replace`).
    """

    type: str
    """Open set, not empty: user_text, asr_transcript, timer, self_created, system; on the bus the topic."""
    content: str = ""
    id: str = field(default_factory=new_id)
    owner_key: str = HOUSEHOLD
    """Whose it is; `household`, or the public key of a registered owner."""
    session_id: str = "room"
    """Whose context it belongs to: `room` is the household's voice, each text client has its own."""
    parent_id: str = ""
    source: str = "system"
    """mic, cli, http, timer, self, system: where it came from and where its reply goes."""
    target: str = ""
    status: str = "pending"
    result: str = ""
    error: str = ""
    max_tool_calls: int | None = None
    """Tool calls it may use; None is what an event of its type may."""
    priority: Annotated[int, Meta(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] = 0
    """Higher first; a person's events are 10, timers 20, its own 0, idle work negative."""
    importance: float = UNSET
    """How much it matters to memory, 0 to 1, as whoever made it says; `UNSET` leaves it to the rule and the agent."""
    not_before: Moment | None = None
    """UTC; not delivered earlier."""
    metadata: Mapping[str, Json] = {}
    """Evidence of a transcript, timings, notes: free, JSON-able, never changed."""
    created_at: Moment = field(default_factory=utc_now)
    """UTC; for speech the moment it began."""

    def __post_init__(self) -> None:
        if not self.type.strip():
            raise ValueError("an event needs a type: any non-empty string")

    @property
    def is_from_person(self) -> bool:
        """Whether a person spoke or wrote it."""
        return self.type in PERSON_TYPES

    @property
    def is_addressed(self) -> bool:
        """Whether a person surely meant nakari: by writing, its name or the wake word."""
        evidence = self.metadata.get("evidence")
        marks = str(evidence.get("addressed", "")).split() if isinstance(evidence, Mapping) else ()
        return self.type == USER_TEXT or (self.is_from_person and not {"named", "woken"}.isdisjoint(marks))

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The images and documents that came with it."""
        return attachments_from(self.metadata)

    @property
    def images(self) -> tuple[Image, ...]:
        """The images among them."""
        return tuple(each for each in self.attachments if isinstance(each, Image))

    @property
    def outside(self) -> str:
        """The stranger whose words came with it, "" for none: what an image or a document says is nobody's order."""
        return str(self.metadata.get(OUTSIDE) or "") or (ATTACHED if self.metadata.get(ATTACHMENTS) else "")


def speaker_of(event: Event) -> str:
    """Return the name of the person who said or wrote it, "" where nobody knows which one it was."""
    return _told(event, SPEAKER)


def room_of(event: Event) -> str:
    """Return the name of the room in which it was said, or that it is meant for; "" for the box's without a name."""
    return _told(event, ROOM)


def predecessor(event: Event) -> str:
    """Return the id of the event whose words this one goes on with, "" when it stands alone."""
    return _told(event, "continues")


def _told(event: Event, key: str) -> str:
    """Return a text of an event's metadata, "" for what is none."""
    told = event.metadata.get(key)
    return told.strip() if isinstance(told, str) else ""


def in_room(event: Event, room: str) -> Event:
    """Return an event as one that belongs to this room, "" for the one it belongs to already."""
    return replace(event, metadata={**event.metadata, ROOM: room}) if room else event


def in_room_of(event: Event) -> dict[str, Json]:
    """Return the metadata by which what comes of an event belongs to the same room."""
    return {ROOM: room} if (room := room_of(event)) else {}


def to_json(event: Event) -> str:
    """Return the event as JSON text; `from_json` inverts it exactly, whatever characters it holds.

    Raises ValueError for a naive time and for a number that JSON has not, TypeError for metadata JSON cannot hold.
    """
    body: dict[str, object] = {field.name: getattr(event, field.name) for field in fields(Event)}
    body["metadata"] = dict(event.metadata)
    body["created_at"] = utc_text(event.created_at)
    body["not_before"] = None if event.not_before is None else utc_text(event.not_before)
    return json.dumps(body, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Event:
    """Return the event `to_json` wrote; fields that this version does not know are left out.

    It may come from another machine: raises ValueError for what is none.
    """
    return read_as(parse_json(text), Event, always="created_at")
