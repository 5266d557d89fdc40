"""The journal as tools: what was said and heard, however long ago, and what left the context, word for word."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Final

from pydantic import Field

from agent.context.block import format_time
from agent.context.epochs import EPOCH, MESSAGE
from agent.errors import ToolFailed
from agent.event import Event
from agent.model.messages import Message
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from memory.errors import EmbeddingUnavailable
from memory.json_value import Json
from memory.state.journal import DAMAGED, WORDS, Journal, Stored
from memory.state.recall import Recall

MAX_WORDS: Final = 500
"""Characters shown of one utterance."""

PAGE: Final = 6_000
"""Characters of one answer."""


def tools(context: ToolContext) -> list[Tool]:
    """Return journal_search, journal_read and journal_recall."""
    return [journal_tool(context.journal), journal_read_tool(context.journal), recall_tool(context.recall)]


def journal_tool(journal: Journal) -> Tool:
    """Return journal_search over this journal; it finds only what belongs to the owner of the event in hand."""

    async def journal_search(
        event: Event,
        words: Annotated[str, Field(min_length=1, description="Words that were said, in the language they were in.")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Json:
        """Search everything that was ever said here, by them and by you, for words; the newest whole matches first."""
        # What was said is in the journal once as it began and once as it ended: look a little further than asked.
        found = said(await journal.search(words, event.owner_key, 3 * limit))[:limit]
        return list(found) or "nothing with these words was said; try other words, or one alone"

    return tool(journal_search, effect="pure")


def recall_tool(recall: Recall) -> Tool:
    """Return journal_recall over these vectors; it finds only what belongs to the owner of the event in hand."""

    async def journal_recall(
        event: Event,
        about: Annotated[str, Field(min_length=1, description="What it was about, in any words and any language.")],
        limit: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> Json:
        """Find what mattered among all that people ever told you here, by its meaning; the nearest first.

        For the exact words around it, use journal_search.
        """
        try:
            found = await recall.find(about, event.owner_key, limit)
        except EmbeddingUnavailable as error:
            raise ToolFailed(f"{error}; journal_search finds it by its words") from error
        told: list[Json] = [
            {
                "when": format_time(each.item.at),
                "who": each.item.who,
                "words": each.item.words,
                "similarity": round(each.similarity, 2),
                "importance": each.item.importance,
            }
            for each in found
        ]
        return told or "nothing that mattered was said yet"

    return tool(journal_recall, effect="pure")


def said(entries: Iterable[Stored]) -> list[Json]:
    """Return when, who and words of entries in their order; the same words of the same event only once."""
    seen: dict[tuple[str, str, str], Json] = {}
    for entry in entries:
        who, words = _who(entry), str(entry.body[WORDS])
        shown = words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"
        seen.setdefault((entry.event_id, who, words), {"when": format_time(entry.at), "who": who, "words": shown})
    return list(seen.values())


def _who(entry: Stored) -> str:
    """Return who said it: `you` for the agent's own speech, else what the entry says, else where it came from."""
    if entry.topic.startswith("speech."):
        return "you"
    return str(entry.body.get("who") or entry.body.get("source") or "person")


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
    """Return the messages of a context or an event, without those that the disk has changed."""
    entry = await journal.entry(name)
    if entry is not None and entry.topic == EPOCH and entry.owner_key == owner_key:
        if not (entry.is_whole or DAMAGED in entry.body):
            return []
        grown = await journal.entries(topic=MESSAGE, session_id=entry.session_id, owner_key=owner_key, after=entry.seq)
        opening = entry.body.get("messages")
        since = [each.body.get("message") for each in grown if each.body.get("epoch") == name]
        return _readable([*(opening[1:] if isinstance(opening, list) else ()), *since])
    of_event = await journal.entries(topic=MESSAGE, event_id=name)
    return _readable(each.body.get("message") for each in of_event if each.owner_key == owner_key and each.is_whole)


def _readable(bodies: Iterable[Json]) -> list[Message]:
    messages = []
    for body in bodies:
        with suppress(ValueError):
            messages.append(Message.from_json(body))
    return messages


def _told(message: Message) -> list[str]:
    """Return a message as lines for the model."""
    called = [f"you called {call.name}: {call.arguments}" for call in message.tool_calls]
    if message.role == "assistant":
        return [*([f"you: {message.content}"] if message.content else []), *called]
    return [f"result: {message.content}" if message.role == "tool" else message.content]
