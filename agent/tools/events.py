"""Her own mailbox and her own context as tools: what she decides here, the run carries out."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field

from agent.context.block import format_time, parse_time
from agent.desk import Completion, Desk, Suspension
from agent.errors import ToolFailed
from agent.event import SELF_CREATED, Event
from agent.mailbox import Mailbox, Wake
from agent.model.messages import Json
from agent.tools.tool import Tool, tool

COMPLETED = "completed"
SUSPENDED = "suspended"

ENDINGS = frozenset({"complete_event", "suspend_event"})
"""Run last in their message, whatever their place in it."""


def event_tools(mailbox: Mailbox, desk: Desk) -> list[Tool]:
    """Return check_mailbox, create_event, suspend_event, complete_event and compress_context."""

    async def check_mailbox() -> Json:
        """Look at the event you have in hand, and at how many others are waiting. You are handed the next by itself."""
        hand = desk.hand
        if hand is None:
            return {"in_hand": None}
        event = hand.event
        return {
            "in_hand": {"id": event.id, "type": event.type, "source": event.source, "content": event.content},
            "note": hand.note,
            "waiting": dict(await mailbox.counts()),
        }

    async def create_event(
        event: Event,
        content: Annotated[str, Field(description="What is to be done, in words you will understand later.")],
        type: Annotated[str, Field(description="Any name.")] = SELF_CREATED,  # noqa: A002  the model reads this name
        priority: Annotated[int, Field(ge=-10, le=9, description="Higher comes first; below 0 only when idle.")] = 0,
        not_before: Annotated[str, Field(description="UTC time before which it must not come, or empty.")] = "",
        max_tool_calls: Annotated[int, Field(ge=1, le=50, description="Its budget of tool calls.")] = 10,
    ) -> Json:
        """Put a task of your own into your mailbox: a subtask, something for later, or quiet reflection."""
        when = parse_time(not_before) if not_before else None
        if not_before and when is None:
            raise ToolFailed(f"{not_before!r} is no time; write it as {format_time(datetime.now(UTC))}")
        created = Event(
            type=type,
            content=content,
            owner_key=event.owner_key,
            session_id=event.session_id,
            parent_id=event.id,
            source="self",
            max_tool_calls=max_tool_calls,
            priority=priority,
            not_before=when,
        )
        await mailbox.enqueue(created)
        return {"id": created.id}

    async def suspend_event(
        note: Annotated[str, Field(description="How far you got; you get it back word for word.")],
        wake_at: Annotated[str, Field(description="UTC time at which it shall come back, or empty.")] = "",
        wake_on: Annotated[
            str, Field(description="Name of what it waits for, or empty for the next idle moment.")
        ] = "",
    ) -> Json:
        """Put the event in hand back, with a note, until a time, a named event, or the next idle moment."""
        desk.ending = Suspension(note, _wake(wake_at, wake_on))
        return SUSPENDED

    async def complete_event(
        summary: Annotated[str, Field(description="One sentence for the archive.")] = "",
    ) -> Json:
        """Finish the event in hand."""
        desk.ending = Completion(summary)
        return COMPLETED

    async def compress_context(
        summary: Annotated[str, Field(description="What of all that came before you want to carry on, in your words.")],
    ) -> Json:
        """Start your context anew with your own summary; the event in hand stays whole, the journal keeps the rest."""
        desk.compression = summary
        return "your context begins anew with this summary after this round"

    free = [tool(function, counted=False) for function in (suspend_event, complete_event, check_mailbox)]
    return [*free, tool(create_event), tool(compress_context)]


def _wake(at: str, on: str) -> Wake:
    if at:
        when = parse_time(at)
        if when is None:
            raise ToolFailed(f"{at!r} is no time; write it as {format_time(datetime.now(UTC))}")
        return Wake("time", at=when)
    kind: Literal["event", "idle"] = "event" if on else "idle"
    return Wake(kind, name=on)
