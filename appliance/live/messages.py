"""What SSE and WebSocket say to a client, as models; the JSON Schema and the page's types are made from them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue, create_model

from agent.event import utc_now
from memory.json_value import whole

State: TypeAlias = Literal["idle", "listening", "hearing", "thinking", "using_a_tool", "speaking"]
RunStatus: TypeAlias = Literal["COMPLETED", "FAILED", "TIMED_OUT", "SUSPENDED"]
CallStatus: TypeAlias = Literal["ok", "error", "refused", "cancelled", "asked"]
"""`asked`: a person was asked for a yes first."""
TimerState: TypeAlias = Literal["set", "rings", "ended", "cancelled"]


class Part(BaseModel):
    """A piece of a message; what is unknown in it is an error where it was made here."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class ToolCall(Part):
    """A call of a tool, under way until it has a status."""

    call_id: str
    tool_name: str
    args: JsonValue
    """An object, mostly; the text as the model wrote it where that is none, or too long."""
    status: CallStatus | None = None
    result: str = ""
    """What the model was told; bounded."""
    seconds: float | None = None


class RunStarted(Part):
    """An event was taken in hand."""

    event_id: str
    session: str
    source: str
    content: str
    """What the person said or wrote, or what the event says."""
    parent_id: str | None = None


class RunInHand(RunStarted):
    """A run as far as it has come."""

    run_id: str
    started_at: datetime
    text: str = ""
    """Of its replies so far, in order, a line break between two; bounded: of a very long one the end."""
    call_id: str | None = None
    """Of the reply that `text` ends with: the chunks of the same one go on with it."""
    tool_calls: list[ToolCall] = []


class TimerChanged(Part):
    """A timer was set, rings, or is over."""

    id: str
    label: str
    due: datetime | None
    state: TimerState


class Snapshot(Part):
    """How it is now: the first message after connecting, and the last word on what came before."""

    version: str
    state: State
    tool: str | None = None
    muted: bool
    run: RunInHand | None = None
    """The owner's own run in hand."""
    mailbox: dict[str, int]
    """How many events of this owner are in which state."""
    timers: list[TimerChanged]
    """Those of this owner that are set, the next one first."""


class TextChunk(Part):
    """Words of a reply as they are written, of one that is said whole sentences; those of a `call_id` are its text."""

    event_id: str
    call_id: str
    chunk: str


class ReplyWritten(Part):
    """A reply in writing is over: `text` is all that its chunks made, whatever was missed of them."""

    event_id: str
    call_id: str
    text: str
    """Bounded: of a very long one the beginning."""


class ToolCallStarted(Part):
    """A tool is called."""

    call_id: str
    tool_name: str
    args: JsonValue


class ToolCallFinished(Part):
    """A call has its result."""

    call_id: str
    tool_name: str
    status: CallStatus
    result: str
    seconds: float


class RunFinished(Part):
    """A run is over; exactly one for each that started."""

    event_id: str
    status: RunStatus
    error: str | None = None


class StateChanged(Part):
    """What it is doing now."""

    state: State
    tool: str | None = None
    muted: bool


class WordsSoFar(Part):
    """What somebody is saying in the room, as far as it is understood; the next such message replaces it.

    It may become other words, or none: `heard` has what was said, and a state without `hearing` ends it.
    """

    text: str
    language: str = ""
    """ISO 639-1; "" where nobody knows."""


class Levels(Part):
    """How loud it is, in dB below full scale; at most ten a second, and only while somebody looks."""

    microphone_db: float
    loudspeaker_db: float | None = None
    """None while nothing is played."""


class Heard(Part):
    """What was understood; with the reason where it went no further."""

    text: str
    session: str
    event_id: str | None = None
    held_back: str | None = None


class Sentence(Part):
    """A sentence began to sound."""

    event_id: str | None
    call_id: str
    text: str


class Interrupted(Part):
    """A reply was not heard whole."""

    event_id: str
    heard: str
    unsaid: str


class Forgotten(Part):
    """These events were erased, and what was held back since then: whoever shows their words takes them away."""

    event_ids: list[str]
    since: datetime | None = None


class MailboxChanged(Part):
    """How many events of this owner are in which state, after that changed."""

    counts: dict[str, int]


class Failure(Part):
    """What could not be done with something this client sent."""

    sentence: str
    code: int | None = None
    """As the exit code of the command that would have asked for it."""


class Lost(Part):
    """This reader was too slow, or asked for too much of the past: so many messages are missing before this one."""

    count: int


class SpeechStarted(Part):
    """Binary frames follow: int16 mono PCM of so many Hz, until `speech_ended`."""

    sample_rate: int
    event_id: str | None = None


class SpeechEnded(Part):
    """No more binary frames of this speech; where it was cut, what was not heard yet is to be dropped at once."""

    event_id: str | None = None
    is_cut: bool = False


class Progress(Part):
    """How far a request has come."""

    done: float
    of: float


class Message(Part):
    """What every message to a client has."""

    run_id: str | None = None
    seq: int | None = None
    """Its number in the journal, to go on after it; None for what passes."""
    at: datetime
    """Aware UTC."""


class TurnMessage(Message):
    """The waterfall of a turn that ended."""

    event: Literal["turn"] = "turn"
    payload: dict[str, JsonValue]


class ErrorMessage(Message):
    """See `Failure`; `id` is the request's, where it was one."""

    event: Literal["error"] = "error"
    id: str | None = None
    payload: Failure


class AnswerMessage(Message):
    """An answer to the request of this `id`; `is_last` of those that are answered in pieces."""

    event: Literal["answer"] = "answer"
    id: str
    is_last: bool = True
    payload: JsonValue


class ProgressMessage(Message):
    """See `Progress`; of the request of this `id`."""

    event: Literal["progress"] = "progress"
    id: str
    payload: Progress


_KINDS: Final[Mapping[str, type[Part]]] = {
    "snapshot": Snapshot,
    "run_started": RunStarted,
    "text_chunk": TextChunk,
    "reply_written": ReplyWritten,
    "tool_call_started": ToolCallStarted,
    "tool_call_finished": ToolCallFinished,
    "run_finished": RunFinished,
    "state": StateChanged,
    "words_so_far": WordsSoFar,
    "levels": Levels,
    "heard": Heard,
    "sentence": Sentence,
    "interrupted": Interrupted,
    "forgotten": Forgotten,
    "mailbox": MailboxChanged,
    "timer": TimerChanged,
    "turn": TurnMessage,
    "error": ErrorMessage,
    "answer": AnswerMessage,
    "progress": ProgressMessage,
    "lost": Lost,
    "speech_started": SpeechStarted,
    "speech_ended": SpeechEnded,
}
"""By the names of messages: the payload of those that say nothing beside it, else the message itself."""


def _model(event: str, payload: type[Part]) -> type[Message]:
    """Return the model of a message, such as `TextChunkMessage` of "text_chunk"."""
    if issubclass(payload, Message):
        return payload
    name = f"{event.title().replace('_', '')}Message"
    fields: dict[str, Any] = {"event": (Literal[event], event), "payload": (payload, ...)}
    return create_model(name, __base__=Message, __doc__=f"See `{payload.__name__}`.", **fields)


MESSAGES: Final[Mapping[str, type[Message]]] = {event: _model(event, payload) for event, payload in _KINDS.items()}
"""What the appliance says, by its name: on SSE as `data`, on a WebSocket as one text frame."""


def message_of(event: str, payload: Part) -> Message:
    """Return a message of this moment, with nothing beside its payload."""
    return MESSAGES[event].model_validate({"at": utc_now(), "payload": payload})


def as_text(message: Message) -> str:
    """Return it as JSON."""
    try:
        return message.model_dump_json()
    except ValueError:  # a model wrote half a character
        return type(message).model_validate(whole(message.model_dump(mode="json"))).model_dump_json()
