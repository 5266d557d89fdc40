"""What SSE and WebSocket say to a client, as models; the JSON Schema and the page's types are made from them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import JsonValue, create_model

from agent.event import utc_now
from appliance.live.parts import (
    Failure,
    Forgotten,
    Heard,
    Interrupted,
    Levels,
    Lost,
    MailboxChanged,
    Part,
    Progress,
    ReplyWritten,
    RunFinished,
    RunStarted,
    Sentence,
    Snapshot,
    SpeechEnded,
    SpeechStarted,
    StateChanged,
    TextChunk,
    TimerChanged,
    ToolCallFinished,
    ToolCallStarted,
    WordsSoFar,
)
from memory.json_value import whole


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
