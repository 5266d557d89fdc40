"""The journal as tools: what was said and heard, however long ago, and what left the context, word for word."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import Field

from agent.context.block import format_time
from agent.context.epochs import EPOCH, MESSAGE
from agent.errors import ToolFailed
from agent.event import Event
from agent.model.messages import Message
from agent.tools.registry.context import ToolContext
from agent.tools.tool import MAX_OBSERVATION, Tool, render, tool
from memory.json_value import Json
from memory.recall import Found, Hit, Line, Question, Recall
from memory.state.journal import DAMAGED, Journal

MAX_WORDS: Final = 500
"""Characters shown of one utterance."""

_BESIDE: Final = 100
"""Characters of an answer around its hits."""

PAGE: Final = 6_000
"""Characters of one answer."""


def tools(context: ToolContext) -> list[Tool]:
    """Return recall and journal_read."""
    return [recall_tool(context.recall, context.zone), journal_read_tool(context.journal)]


def recall_tool(recall: Recall, zone: str = "UTC") -> Tool:
    """Return recall over this memory; it finds only what belongs to the owner of the event in hand.

    `zone` is the time zone of the house, in which dates are meant.
    """

    async def recall_(  # noqa: PLR0913, PLR0917  the fields of a question
        event: Event,
        words: Annotated[str, Field(description="None: all of a time or speaker.")] = "",
        speaker: Annotated[str, Field(description="A name; you are `you`.")] = "",
        since: Annotated[str, Field(description="2025-09-17, or a time.")] = "",
        until: str = "",
        session: str = "",
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        skip: Annotated[int, Field(ge=0)] = 0,
    ) -> Json:
        """Find what was ever said here by anybody, and what you noted, with the turns around it.

        It tells how sure it is: sure, likely, faint, nothing.
        """
        first, last = _moment(since, zone), _moment(until, zone, is_end=True)
        found = await recall.find(Question(words, speaker, first, last, session, limit, skip), event.owner_key)
        return told(found)

    recall_.__name__ = "recall"
    return tool(recall_, effect="pure")


def told(found: Found) -> Json:
    """Return what was found as the model reads it: so many hits, the first of them, as one observation holds."""
    room = MAX_OBSERVATION - _BESIDE
    hits: list[Json] = []
    for hit in found.hits:
        shown = _shown(hit)
        room -= len(render(shown)) + 1
        if room < 0:  # cut off in the middle they could not be read, nor that there is more
            break
        hits.append(shown)
    return {"sureness": found.sureness, "hits": hits, **({"more": True} if found.more or room < 0 else {})}


def _shown(hit: Hit) -> dict[str, Json]:
    return {
        "id": hit.id,
        "at": format_time(hit.at),
        **({"speaker": hit.speaker} if hit.speaker else {}),
        **({"kind": hit.kind} if hit.kind != "said" else {}),
        "words": _cut(hit.words),
        **({"before": [_line(each) for each in hit.before]} if hit.before else {}),
        **({"after": [_line(each) for each in hit.after]} if hit.after else {}),
    }


def _line(line: Line) -> str:
    return f"{line.speaker}: {_cut(line.words)}" if line.speaker else _cut(line.words)


def _cut(words: str) -> str:
    return words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"


def _moment(given: str, zone: str, *, is_end: bool = False) -> datetime | None:
    """Return the moment that a text names, None for "". Without a zone it is the house's; a date ends with its day.

    Raises `ToolFailed` where it is none.
    """
    if not given.strip():
        return None
    try:
        moment = datetime.fromisoformat(given.strip().removesuffix(" UTC") + "+00:00" * given.strip().endswith(" UTC"))
    except ValueError as error:
        raise ToolFailed(f"{given!r} is no date: give it as 2025-09-17 or 2025-09-17T18:30") from error
    if is_end and len(given.strip()) <= len("2025-09-17"):
        moment += timedelta(days=1)
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))


def journal_read_tool(journal: Journal) -> Tool:
    """Return journal_read over this journal; it finds only what belongs to the owner of the event in hand."""

    async def journal_read(
        event: Event,
        id: Annotated[str, Field(min_length=1, description="Id of an event, or the one a summary names.")],
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
