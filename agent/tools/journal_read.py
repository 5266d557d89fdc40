"""What left her context, word for word: by the id of an event, or of a context that was summed up."""

from typing import Annotated, Any, Final, cast

from pydantic import Field

from agent.context.epochs import EPOCH, MESSAGE
from agent.errors import ToolFailed
from agent.event import Event
from agent.model.messages import Message
from agent.tools.tool import Tool, tool
from memory.json_value import Json
from memory.state.journal import ERASED, THINNED, Journal, Stored

PAGE: Final = 6_000
"""Characters of one answer."""


def journal_read_tool(journal: Journal) -> Tool:
    """Return journal_read over this journal; it finds only what belongs to the owner of the event in hand."""

    async def journal_read(
        event: Event,
        id: Annotated[str, Field(min_length=1, description="Id of an event, or the one a summary names.")],  # noqa: A002
        start: Annotated[int, Field(ge=0, description="Where to read on, as the last answer says.")] = 0,
    ) -> Json:
        """Read again, word for word, what left your context: what was said and done for an event, or in a context."""
        lines = [line for message in await _messages(journal, id, event.owner_key) for line in _told(message)]
        if not lines:
            raise ToolFailed(f"the journal has nothing of {id!r}: it is no id, or its details were dropped with age")
        text = "\n".join(lines)
        page = text[start : start + PAGE]
        end = start + len(page)
        return page if end >= len(text) else f"{page}\n… {len(text) - end} more characters: read on with start={end}"

    return tool(journal_read, effect="pure")


async def _messages(journal: Journal, name: str, owner_key: str) -> list[Message]:
    entry = await journal.entry(name)
    if entry is not None and entry.topic == EPOCH and entry.owner_key == owner_key:
        if not _is_whole(entry):
            return []
        grown = await journal.entries(topic=MESSAGE, session_id=entry.session_id, owner_key=owner_key, after=entry.seq)
        opening = cast("dict[str, Any]", entry.body)["messages"][1:]
        since = [each for each in grown if each.body.get("epoch") == name]
        return [Message.from_json(message) for message in opening] + [_message(each) for each in since]
    of_event = await journal.entries(topic=MESSAGE, event_id=name)
    return [_message(each) for each in of_event if each.owner_key == owner_key and _is_whole(each)]


def _is_whole(entry: Stored) -> bool:
    return ERASED not in entry.body and THINNED not in entry.body


def _message(entry: Stored) -> Message:
    return Message.from_json(cast("dict[str, Any]", entry.body)["message"])


def _told(message: Message) -> list[str]:
    """Return a message as lines for her."""
    called = [f"you called {call.name}: {call.arguments}" for call in message.tool_calls]
    if message.role == "assistant":
        return [*([f"you: {message.content}"] if message.content else []), *called]
    return [f"result: {message.content}" if message.role == "tool" else message.content]
