"""What the tests of providers say to a model, and how they take its answer."""

from collections.abc import Sequence

from agent.model.interface import Answer, ChatModel, StreamItem
from agent.model.messages import Message, ToolSpec
from agent.model.stream.relay import Patience

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
TOOLS = [
    ToolSpec("reply", "Say something.", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ToolSpec("recall", "Look it up.", {"type": "object", "properties": {"about": {"type": "string"}}}),
]
PATIENCE = Patience(first=30.0)


async def items_of(model: ChatModel, messages: Sequence[Message]) -> list[StreamItem]:
    """Return all that it answers, with the two tools."""
    return [item async for item in model.stream(messages, TOOLS)]


async def ask(model: ChatModel, messages: Sequence[Message]) -> Answer:
    """Return its whole answer."""
    last = (await items_of(model, messages))[-1]
    assert isinstance(last, Answer)
    return last


def answered(message: Message, words: str) -> list[Message]:
    """Return a message with the same result for each of its calls."""
    return [message, *(Message("tool", words, tool_call_id=call.id) for call in message.tool_calls)]
