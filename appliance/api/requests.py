"""What may be asked at the door: one JSON object a line, checked before anybody sees it."""

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
)

from agent.attachments.attachment import ATTACHMENTS
from appliance.api.attaching import Attach, Attached
from appliance.api.mailbox_requests import MailboxRequest
from appliance.api.memory_requests import MemoryRequest, Tools, UseTool
from appliance.api.model_requests import UseModel
from appliance.api.owner_requests import ForgetOwner, OwnerRequest
from appliance.api.request_model import Asked, Name, Words
from memory.state.importance import UNSET


def _portable(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    json.dumps(value, allow_nan=False)  # NaN and Infinity would pass here and be no JSON for the next reader
    if ATTACHMENTS in value:
        raise ValueError(f"should have no {ATTACHMENTS}: those come by attach, with an ask")
    return value


Metadata = Annotated[dict[str, JsonValue], AfterValidator(_portable)]


class Ping(Asked):
    """Whether anybody is there."""

    do: Literal["ping"]


class Status(Asked):
    """How it is."""

    do: Literal["status"]


class Ask(Asked):
    """Somebody types; the answer comes back here."""

    do: Literal["ask"]
    text: Words
    session: Name = "cli"
    """Whose context it belongs to; each program should choose its own."""
    speak: bool = False
    """Whether the answer is said in the room too; the household's only."""
    stream: bool = True
    """Whether the answer comes piece by piece, or whole with `run_finished`."""
    attachments: Attached = Field(default_factory=list)
    """What the question is about."""


class Say(Asked):
    """Somebody has it say a text in the room; the answer comes when that is over."""

    do: Literal["say"]
    text: Words
    id: Name | None = None
    """Said once, however often it is asked for by this id."""


class Enqueue(Asked):
    """Something happened that it should know of."""

    do: Literal["enqueue"]
    type: Name
    content: str = ""
    priority: Annotated[int, Field(ge=-1000, le=1000)] = 0
    importance: Annotated[float, Field(ge=0, le=1)] = UNSET
    """How much it matters to memory; above 0.6 is kept for long."""
    metadata: Metadata = Field(default_factory=dict)


class Hush(Asked):
    """Somebody acts on it as by a reflex word."""

    do: Literal["hush"]
    what: Literal["stop", "wait", "go on", "quieter", "louder", "repeat", "mute", "unmute", "volume", "snooze"]
    percent: Annotated[int, Field(ge=0, le=100)] = 100
    """Of volume."""
    minutes: Annotated[float, Field(gt=0, le=720)] | None = None
    """Of snooze; the usual five where none are given."""


class Forget(Asked):
    """Somebody wants forgotten what the household told its last, aloud or in writing."""

    do: Literal["forget"]
    last: Annotated[int, Field(ge=1, le=1000)] = 1
    """So many turns."""
    minutes: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """All of so many minutes, instead."""
    these: Annotated[list[Name], Field(max_length=1000)] = Field(default_factory=list)
    """Or the things that "forget.preview" named, and nothing that was said since."""


class PreviewForget(Asked):
    """Somebody wants to see what would be forgotten."""

    do: Literal["forget.preview"]
    last: Annotated[int, Field(ge=1, le=1000)] = 1
    minutes: Annotated[float, Field(gt=0, le=100_000)] | None = None


class Calibrate(Asked):
    """Somebody wants its echo measured: a loudspeaker was moved."""

    do: Literal["calibrate"]


Acting: TypeAlias = Hush | Say | Forget | Calibrate | UseModel
"""What is answered by one sentence."""

ForEveryOwner: TypeAlias = Ping | Status | Attach | Ask | Enqueue | MailboxRequest | OwnerRequest
"""What an owner with a key may ask, of what is theirs; all the rest, and what will be added, is the household's; but
everybody may ask to be forgotten."""

AnyRequest: TypeAlias = ForEveryOwner | ForgetOwner | PreviewForget | Acting | Tools | UseTool | MemoryRequest

Request = Annotated[AnyRequest, Field(discriminator="do")]

_ADAPTER: TypeAdapter[AnyRequest] = TypeAdapter(Request)


class BadRequest(Exception):
    """A line that is no request; its text is the sentence the program gets."""


def parse(line: bytes) -> AnyRequest:
    """Return the request of a line. Raises `BadRequest`."""
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        raise BadRequest(f"this line is no JSON: {first['ctx']['error']}")
    place = ".".join(str(part) for part in first["loc"][1:])
    what = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error" and not place:
        place = str(first["loc"][0])
    if not place:
        raise BadRequest(
            'a request is one JSON object with "do": "ping", "status", "attach", "ask", "say", "enqueue", "hush", '
            '"forget", "forget.preview", "forget.owner", "calibrate", "model", "tools", "tool", "backup", "challenge", '
            '"prove", "settings…", "mailbox…", "events…", "timers", "memory.…"'
        )
    raise BadRequest(f"{place}: {what[0].lower()}{what[1:]}")
