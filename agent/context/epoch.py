"""One stretch of a session's context: what it was opened with, and what has grown since; and both in the journal."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from agent.attachments.attachment import MOST_IMAGE_BYTES, Image
from agent.context.summary import Front
from agent.model.messages import Message, ToolSpec
from memory.json_value import Json, listed, read_as
from memory.state.journal import Stored


class Prefix(Struct, frozen=True):
    """The system prompt, tools and model that every call of an epoch shares."""

    system: str
    tools: tuple[ToolSpec, ...]
    """Sorted by name."""
    model: str = ""
    """Name of the model chosen when it was opened."""


class Epoch(Struct):
    """One stretch of a session's context. `messages` is only ever appended to."""

    id: str
    tools: tuple[ToolSpec, ...]
    messages: list[Message] = []
    tokens: int = 0
    """Of messages and tools, counted as they came."""
    model: str = ""
    opened_by: str = ""
    """Id of the event it was opened for."""
    front: Front | None = None
    """What stands first behind the prompt, in its parts; None where nothing came before."""
    opening_messages: int = 0
    """How many messages it was opened with; what these tell of the past may be a summary of it."""
    image_bytes: int = 0
    """Of all images it shows."""
    prefix_tokens: int = 0
    """Of the system prompt and the tools."""
    grown_at: float = float("-inf")
    """Seconds on the loop's own clock when it last grew; never, as far as this process knows."""
    may_have_unsaid: bool = True
    """Whether some of the session's last reply may not have been heard, and no block has told it since."""
    may_be_asked: bool = True
    """Whether a question of the session may wait for a person's yes."""
    is_outdated: bool = False
    """Whether its owner has asked for another prompt since."""
    follows_damage: bool = False
    """Whether it was begun because the one before could not be read, and nobody was told of it yet."""
    _hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> str:
        """SHA-256 over the journal forms of the messages so far, one a line: proves a rebuilt list equal."""
        return self._hash.hexdigest()

    def grow(self, message: Message, tokens: int) -> None:
        """Append a message and what it costs."""
        self.messages.append(message)
        self.tokens += tokens
        self.image_bytes += sum(image.bytes for image in message.images)
        self._hash.update(journal_line(message))

    def can_show(self, images: Iterable[Image]) -> bool:
        """Whether it may show these too; where it shows none yet, any."""
        return not self.image_bytes or self.image_bytes + sum(each.bytes for each in images) <= MOST_IMAGE_BYTES

    @property
    def system(self) -> str:
        """The system prompt it was opened with."""
        return self.messages[0].content

    @property
    def talk(self) -> list[Message]:
        """The messages behind the prompt and the front."""
        return self.messages[1 if self.front is None else 2 :]

    def position_of(self, event_id: str) -> int | None:
        """Return the index of the user message that handed over the event, None when it is not in this epoch."""
        mark = f'id="{event_id}"'
        for index in range(len(self.messages) - 1, 0 if self.front is None else 1, -1):
            message = self.messages[index]
            if message.role == "user" and mark in message.content:
                return index
        return None


def journal_line(message: Message) -> bytes:
    """Return what a digest takes of a message."""
    text = json.dumps(message.to_json(), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def digest_of(messages: Iterable[Message]) -> str:
    """Return the digest of a whole list, as `Epoch.digest` has it."""
    whole = hashlib.sha256()
    for message in messages:
        whole.update(journal_line(message))
    return whole.hexdigest()


class Opened(Struct, frozen=True):
    """What an epoch was opened with, as the journal has it."""

    epoch: str
    """Its id."""
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    """The prompt, the front if there is one, and what was taken over."""
    model: str = ""
    front: Front | None = None


def body_of(name: str, prefix: Prefix, messages: Sequence[Message], front: Front | None) -> dict[str, Json]:
    """Return the body of the entry that opens the epoch of this id; `opened_of` inverts it."""
    return {
        "epoch": name,
        "model": prefix.model,
        "tools": [spec.to_json() for spec in prefix.tools],
        "messages": [message.to_json() for message in messages],
        **({"front": front.to_json()} if front else {}),
    }


def opened_of(entry: Stored) -> Opened:
    """Return what an entry opened. Raises ValueError where it does not say."""
    messages = tuple(map(Message.from_json, listed(entry.body.get("messages"))))
    if not messages or messages[0].role != "system":
        raise ValueError("its opening does not begin with a prompt")
    return read_as({**entry.body, "messages": messages}, Opened)


def front_of(entry: Stored) -> Front | None:
    """Return the front of an epoch, None where it has none that can be read."""
    try:
        return Front.from_json(entry.body["front"]) if "front" in entry.body else None
    except ValueError:
        return None
