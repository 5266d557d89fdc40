"""The opening of an epoch as the journal has it: written down, and read back."""

from collections.abc import Sequence

from msgspec import Struct

from agent.context.epoch import Prefix
from agent.context.summary import Front
from agent.model.messages import Message, ToolSpec
from memory.json_value import Json, read_as
from memory.state.journal import Stored


class Opened(Struct, frozen=True):
    """What an epoch was opened with."""

    id: str
    tools: tuple[ToolSpec, ...]
    model: str
    messages: tuple[Message, ...]
    """The prompt, the front if there is one, and what was taken over."""
    front: Front | None = None


def body_of(name: str, prefix: Prefix, messages: Sequence[Message], front: Front | None) -> dict[str, Json]:
    """Return the body of the entry that opens the epoch of this id; `opened_of` inverts it."""
    described: list[Json] = [
        {"name": t.name, "description": t.description, "parameters": dict(t.parameters)} for t in prefix.tools
    ]
    return {
        "epoch": name,
        "model": prefix.model,
        "tools": described,
        "messages": [message.to_json() for message in messages],
        **({"front": front.to_json()} if front else {}),
    }


def opened_of(entry: Stored) -> Opened:
    """Return what an entry opened. Raises ValueError where it does not say."""
    body = entry.body
    name, model, messages = body.get("epoch"), body.get("model", ""), body.get("messages")
    if not isinstance(name, str) or not isinstance(model, str) or not isinstance(messages, list) or not messages:
        raise ValueError("its opening lacks a part")
    listed = tuple(Message.from_json(message) for message in messages)
    if listed[0].role != "system":
        raise ValueError("its opening does not begin with a prompt")
    front = Front.from_json(body["front"]) if "front" in body else None
    return Opened(name, read_as(body.get("tools"), tuple[ToolSpec, ...]), model, listed, front)


def front_of(entry: Stored) -> Front | None:
    """Return the front of an epoch, None where it has none that can be read."""
    try:
        return Front.from_json(entry.body["front"]) if "front" in entry.body else None
    except ValueError:
        return None
