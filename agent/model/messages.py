"""Canonical messages: what the context holds and the journal keeps, independent of any provider's wire form."""

import unicodedata
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from agent.attachments.attachment import Image
from memory.json_value import Json, fields, read_as

Role = Literal["system", "user", "assistant", "tool"]

MOST_TOKENS: Final = 2**53
"""No call costs so many; every reader of JSON can hold a smaller number."""


class ToolCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A call as the model wrote it."""

    id: str
    """Unique within the conversation; ours when the provider gave none."""
    name: str
    arguments: str
    """The JSON text as written, byte for byte; may be malformed, which the tool caller answers."""


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the list a model is given. Frozen: an epoch only ever appends."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Only on an assistant's message."""
    tool_call_id: str = ""
    """Only on a tool's message: the call it answers."""
    extra: Mapping[str, Json] = {}
    """Opaque provider fields (thought signatures, reasoning) that must travel back unchanged."""
    images: tuple[Image, ...] = ()
    """Of a user's or a tool's message: shown behind its words to a model that sees, told of to any other."""

    @property
    def is_empty(self) -> bool:
        """Whether it neither calls nor says anything."""
        return not self.tool_calls and is_wordless(self.content)

    def to_json(self) -> dict[str, Json]:
        """Return the journal's form: fields in fixed order, empty ones left out; `from_json` inverts it exactly."""
        body: dict[str, Json] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            body["tool_calls"] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in self.tool_calls]
        if self.tool_call_id:
            body["tool_call_id"] = self.tool_call_id
        if self.extra:
            body["extra"] = dict(self.extra)
        if self.images:
            body["images"] = [asdict(image) for image in self.images]
        return body

    @classmethod
    def from_json(cls, body: object) -> "Message":
        """Return the message that `to_json` wrote. Raises ValueError on a body that is none."""
        return read_as(body, cls, always="content")


def is_wordless(text: str) -> bool:
    """Whether a text has nothing to be heard: blanks and punctuation alone, such as `...`."""
    return all(unicodedata.category(character)[0] in "CPZ" for character in text)


class ToolSpec(Struct, frozen=True):
    """What the model is told of a tool."""

    name: str
    """`[a-zA-Z0-9_-]{1,64}`, the narrowest rule among providers."""
    description: str
    parameters: Mapping[str, Json]
    """JSON Schema of the arguments object."""

    def to_json(self) -> dict[str, Json]:
        """Return it as the journal and most servers have it."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


class Usage(Struct, frozen=True):
    """What a call cost, as the provider counts it; 0 where it does not say."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """The part of the prompt that came out of the provider's cache."""
    completion_tokens: int = 0
    cost: float = 0.0
    """US dollars, as the provider says or the catalog's prices make it; 0 where neither is known."""


def read_usage(usage: Mapping[str, Json]) -> Usage:
    """Return the counts, wherever the provider puts what came out of its cache (OpenAI, DeepSeek, Moonshot).

    OpenRouter says the cost besides.
    """
    nested = fields(usage.get("prompt_tokens_details")).get("cached_tokens")
    cached = nested or usage.get("prompt_cache_hit_tokens") or usage.get("cached_tokens")
    asked, answered = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    cost = usage.get("cost")
    told = float(cost) if isinstance(cost, int | float) and 0 <= cost < MOST_TOKENS else 0.0
    return Usage(asked, _count(cached), answered, told)


def _count(value: Json) -> int:
    """Return a number of tokens; 0 for what can be none (negative, infinite, no number)."""
    return int(value) if isinstance(value, int | float) and 0 <= value < MOST_TOKENS else 0
