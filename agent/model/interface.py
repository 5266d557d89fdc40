"""The interface of every model: a stream of deltas that ends in one whole message."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec import Struct, field

from agent.model.messages import Message, ToolSpec, Usage
from memory.egress import SendsTo
from memory.json_value import Json

CachedPrefix: TypeAlias = Callable[[], tuple[Sequence[Message], Sequence[ToolSpec]] | None]
"""Returns the messages and tools of the conversation that is likely to go on, None when there is none yet.

Its prefix is the one that a local server keeps in its cache, and reads ahead.
"""


class ThinkingStarted(Struct, frozen=True):
    """The model thinks before it answers: it is there, and nothing of that is for anybody's ears. Once, and first."""


class TextDelta(Struct, frozen=True):
    """More of the answer's bare text."""

    text: str


class ToolCallStarted(Struct, frozen=True):
    """A new call began; its arguments follow as `ArgumentsDelta` with the same index."""

    index: int
    """Ours: 0, 1, 2 … in order of appearance, unique within the answer whatever the wire said."""
    id: str
    name: str


class ArgumentsDelta(Struct, frozen=True):
    """More of a call's arguments, as JSON text."""

    index: int
    text: str


class Answer(Struct, frozen=True):
    """The last item of every stream that did not fail: the whole message."""

    message: Message
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    """stop, tool_calls, length, content_filter; `length` means that the last call or text may be cut."""
    needs_model: bool = False
    """Of the offline model: it only says that this takes another one."""

    def figures(self) -> dict[str, Json]:
        """Return what the journal keeps of how it ended, and of how much was read and written."""
        return {
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.usage.prompt_tokens,
            "cached_tokens": self.usage.cached_tokens,
            "completion_tokens": self.usage.completion_tokens,
        }


OFFLINE: Final = "offline"
"""Name of the model that is always there, and can do little."""

MODEL_INPUT: Final = "what people say, write and attach, with the context it stands in"
"""What a model is given, in the words of `sends_to`."""

StreamItem: TypeAlias = ThinkingStarted | TextDelta | ToolCallStarted | ArgumentsDelta | Answer


class ChatModel(Protocol):
    """One model behind one provider. Safe to use for one call at a time."""

    name: str
    """For people and the journal, e.g. `ollama/qwen3:4b`, `offline`."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What it hands to other machines, by its own settings; () for nothing. Told before it is used."""

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer as it arrives and `Answer` last.

        The list is checked first (`IllegalMessages`). Raises `ModelUnavailable` and `ModelRefused` before the first
        item (`ThinkingStarted` apart), `StreamBroken` after it. Closing the iterator cancels the request.
        """

    async def warm(self) -> None:
        """Open the connection ahead of the first call; never raises, never bills."""

    async def aclose(self) -> None:
        """Close the connection; safe to call twice."""
