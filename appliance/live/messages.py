"""What SSE and WebSocket say to a client, as models; the JSON Schema and the page's types are made from them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, JsonValue, TypeAdapter

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


class SnapshotMessage(Message):
    """See `Snapshot`."""

    event: Literal["snapshot"] = "snapshot"
    payload: Snapshot


class RunStartedMessage(Message):
    """See `RunStarted`."""

    event: Literal["run_started"] = "run_started"
    payload: RunStarted


class TextChunkMessage(Message):
    """See `TextChunk`."""

    event: Literal["text_chunk"] = "text_chunk"
    payload: TextChunk


class ReplyWrittenMessage(Message):
    """See `ReplyWritten`."""

    event: Literal["reply_written"] = "reply_written"
    payload: ReplyWritten


class ToolCallStartedMessage(Message):
    """See `ToolCallStarted`."""

    event: Literal["tool_call_started"] = "tool_call_started"
    payload: ToolCallStarted


class ToolCallFinishedMessage(Message):
    """See `ToolCallFinished`."""

    event: Literal["tool_call_finished"] = "tool_call_finished"
    payload: ToolCallFinished


class RunFinishedMessage(Message):
    """See `RunFinished`."""

    event: Literal["run_finished"] = "run_finished"
    payload: RunFinished


class StateMessage(Message):
    """See `StateChanged`."""

    event: Literal["state"] = "state"
    payload: StateChanged


class WordsSoFarMessage(Message):
    """See `WordsSoFar`."""

    event: Literal["words_so_far"] = "words_so_far"
    payload: WordsSoFar


class LevelsMessage(Message):
    """See `Levels`."""

    event: Literal["levels"] = "levels"
    payload: Levels


class HeardMessage(Message):
    """See `Heard`."""

    event: Literal["heard"] = "heard"
    payload: Heard


class SentenceMessage(Message):
    """See `Sentence`."""

    event: Literal["sentence"] = "sentence"
    payload: Sentence


class InterruptedMessage(Message):
    """See `Interrupted`."""

    event: Literal["interrupted"] = "interrupted"
    payload: Interrupted


class ForgottenMessage(Message):
    """See `Forgotten`."""

    event: Literal["forgotten"] = "forgotten"
    payload: Forgotten


class MailboxMessage(Message):
    """See `MailboxChanged`."""

    event: Literal["mailbox"] = "mailbox"
    payload: MailboxChanged


class TimerMessage(Message):
    """See `TimerChanged`."""

    event: Literal["timer"] = "timer"
    payload: TimerChanged


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


class LostMessage(Message):
    """See `Lost`."""

    event: Literal["lost"] = "lost"
    payload: Lost


class SpeechStartedMessage(Message):
    """See `SpeechStarted`."""

    event: Literal["speech_started"] = "speech_started"
    payload: SpeechStarted


class SpeechEndedMessage(Message):
    """See `SpeechEnded`."""

    event: Literal["speech_ended"] = "speech_ended"
    payload: SpeechEnded


ServerMessage = Annotated[
    SnapshotMessage
    | RunStartedMessage
    | TextChunkMessage
    | ReplyWrittenMessage
    | ToolCallStartedMessage
    | ToolCallFinishedMessage
    | RunFinishedMessage
    | StateMessage
    | WordsSoFarMessage
    | LevelsMessage
    | HeardMessage
    | SentenceMessage
    | InterruptedMessage
    | ForgottenMessage
    | MailboxMessage
    | TimerMessage
    | TurnMessage
    | ErrorMessage
    | AnswerMessage
    | ProgressMessage
    | LostMessage
    | SpeechStartedMessage
    | SpeechEndedMessage,
    Field(discriminator="event"),
]
"""What the appliance says: on SSE as `data`, on a WebSocket as one text frame."""

MESSAGES: Final[Mapping[str, type[Message]]] = {
    str(kind.model_fields["event"].default): kind for kind in get_args(get_args(ServerMessage)[0])
}
"""The kinds by their names."""

TO_CLIENT: Final[TypeAdapter[ServerMessage]] = TypeAdapter(ServerMessage)


def as_text(message: Message) -> str:
    """Return it as JSON."""
    try:
        return message.model_dump_json()
    except ValueError:  # a model wrote half a character
        return type(message).model_validate(whole(message.model_dump(mode="json"))).model_dump_json()
