"""What a client says over a WebSocket, as models; the JSON Schema and the page's types are made from them."""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

MOST_CONTENT: Final = 100_000
"""Characters of one user message."""

WIDEST_OFFSET: Final = 14 * 60
"""Minutes; no zone on Earth is further from UTC."""


FIRST_YEAR, LAST_YEAR = 1971, 9998
"""Between them a clock may be, so that every zone can show it."""


def _in_utc(moment: datetime) -> datetime:
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"should be between the years {FIRST_YEAR} and {LAST_YEAR}")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


class FromClient(BaseModel):
    """A frame or a piece of one that a client sent: checked, and what is unknown in it is passed over.

    So a client of tomorrow can talk to today's appliance.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)


class UserWords(FromClient):
    """A line of text from a person; all but the words may be missing."""

    content: str = Field(min_length=1, max_length=MOST_CONTENT)
    client_timestamp_utc: Annotated[datetime, AfterValidator(_in_utc)] | None = Field(
        default=None, validation_alias=AliasChoices("client_timestamp_utc", "client_timestamp")
    )
    """When it was written, by the client's clock; without a zone it is UTC. `client_timestamp` is the same."""
    client_timezone_offset: int | None = Field(default=None, ge=-WIDEST_OFFSET, le=WIDEST_OFFSET)
    """Minutes as JavaScript's getTimezoneOffset gives them: -480 is UTC+08:00."""
    session: str = Field(default="console", min_length=1, max_length=200)
    attachments: list[str] = Field(default=[], max_length=20)
    """Names of files that were given before."""
    speak: bool = False
    """Whether the answer is to sound here."""


class UserMessage(FromClient):
    """See `UserWords`; with an `id` it is answered by the id of its event, once that is durable."""

    type: Literal["user_message"]
    id: str | None = Field(default=None, min_length=1, max_length=200)
    payload: UserWords


class RequestMessage(FromClient):
    """A request of the register, `do` and what belongs to it; the answer has its `id`."""

    type: Literal["request"]
    id: str = Field(min_length=1, max_length=200)
    payload: dict[str, JsonValue]


class AudioStart(FromClient):
    """What audio the binary frames that follow are: int16 mono of 16 kHz."""

    session: str = Field(default="console", min_length=1, max_length=200)
    mode: Literal["push_to_talk", "open"] = "push_to_talk"


class AudioStartMessage(FromClient):
    """See `AudioStart`."""

    type: Literal["audio_start"]
    payload: AudioStart = AudioStart()


class AudioEndMessage(FromClient):
    """No more binary frames for now: what was said is to be understood."""

    type: Literal["audio_end"]


class StopMessage(FromClient):
    """Stop the answer that is being given, as the word does in the room."""

    type: Literal["stop"]


ClientMessage = Annotated[
    UserMessage | RequestMessage | AudioStartMessage | AudioEndMessage | StopMessage, Field(discriminator="type")
]
"""What a client says: on a WebSocket as one text frame; sound as binary frames."""

FROM_CLIENT: Final[TypeAdapter[ClientMessage]] = TypeAdapter(ClientMessage)
