"""What SSE and WebSocket say to a client, as models; the JSON Schema and the page's types are made from them."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any, Final, Literal

from pydantic import Field, JsonValue, TypeAdapter, create_model

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


class Message(Part):
    """What every message to a client has."""

    run_id: str | None = None
    seq: int | None = None
    """Its number in the journal, to go on after it; None for what passes."""
    at: datetime
    """Aware UTC."""


class HeardMessage(Message):
    """See `Heard`."""

    event: Literal["heard"] = "heard"
    payload: Heard


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


class SpeechStartedMessage(Message):
    """See `SpeechStarted`."""

    event: Literal["speech_started"] = "speech_started"
    payload: SpeechStarted


class SpeechEndedMessage(Message):
    """See `SpeechEnded`."""

    event: Literal["speech_ended"] = "speech_ended"
    payload: SpeechEnded


def _carrying(*payloads: type[Part]) -> list[type[Message]]:
    """Return models of messages that only carry a part each: a `StateMessage` tells `StateChanged` as `state`."""
    return [_carrier(payload) for payload in payloads]


def _carrier(payload: type[Part]) -> type[Message]:
    word = payload.__name__.removesuffix("Changed")
    event = re.sub("(?<!^)(?=[A-Z])", "_", word).lower()
    doc = f"See `{payload.__name__}`."
    fields: dict[str, Any] = {"event": (Literal[event], event), "payload": (payload, ...)}
    return create_model(f"{word}Message", __base__=Message, __doc__=doc, __module__=__name__, **fields)


_KINDS: Final[tuple[type[Message], ...]] = (
    *_carrying(Snapshot, RunStarted, TextChunk, ToolCallStarted, ToolCallFinished, RunFinished, StateChanged),
    *_carrying(WordsSoFar, Levels),
    HeardMessage,
    *_carrying(Sentence, Interrupted, Forgotten, MailboxChanged, TimerChanged),
    TurnMessage,
    ErrorMessage,
    AnswerMessage,
    ProgressMessage,
    *_carrying(Lost),
    SpeechStartedMessage,
    SpeechEndedMessage,
)
"""What the appliance says: on SSE as `data`, on a WebSocket as one text frame."""

MESSAGES: Final[Mapping[str, type[Message]]] = {str(kind.model_fields["event"].default): kind for kind in _KINDS}
"""The kinds by their names."""

_ANY: Final[Any] = Annotated[reduce(or_, _KINDS), Field(discriminator="event")]

TO_CLIENT: Final[TypeAdapter[Message]] = TypeAdapter(_ANY)
"""Reads any of them."""
