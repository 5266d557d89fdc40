"""Tools over the mailbox and the context: they record what the agent decides, and the run carries it out."""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from msgspec import Struct
from pydantic import Field

from agent.context.block import format_time, parse_time
from agent.context.epochs import Contexts
from agent.context.summary import Compression
from agent.errors import ToolFailed
from agent.event import CALENDAR, GROWTH, HOME_WATCH, HOUSEHOLD, PERSON_TYPES, SELF_CREATED, TIMER, Event, in_room_of
from agent.mailbox import Mailbox, Wake
from agent.mailbox.economy import SELF
from agent.mailbox.mail import first_words
from agent.run.budget import RunLimits
from agent.run.run_state import Completion, RunState, Suspension
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from agent.unasked.announcement import ANNOUNCEMENT, EXPIRES
from memory.json_value import Json

COMPLETED = "completed"
SUSPENDED = "suspended"

ENDINGS = frozenset({"complete_event", "suspend_event"})
"""Run last in their message, whatever their place in it."""

_COMPLETE: Final = "Finish the event in hand, with one sentence for the archive."

_SUSPEND: Final = (
    "Put the event in hand back with a note on how far you got, until a UTC time (wake_at), until the events you made "
    'for it are done (wake_on: "children"), or else the next idle moment.'
)
"""What a model with little room is told."""

RESERVED_TYPES = PERSON_TYPES | GROWTH | {TIMER, CALENDAR, HOME_WATCH, ANNOUNCEMENT}
"""The agent cannot give these to what it makes: its words would count as a person's, the room would hear it ring, or
what is new would count as looked at."""

BY_AGENT: Final = "cancelled by a tool"
"""The reason of what the agent takes out of the mailbox."""


def tools(context: ToolContext) -> list[Tool]:
    """Return the tools of the mailbox and of the context."""
    return event_tools(context.mailbox, context.run_state, context.contexts, context.limits)


def event_tools(mailbox: Mailbox, run_state: RunState, contexts: Contexts, limits: RunLimits) -> list[Tool]:
    """Return check_mailbox, mailbox, create_event, suspend_event, complete_event and compress_context."""
    own = EventTools(mailbox, run_state, contexts, limits)
    return [
        tool(own.check_mailbox, timeout=None, counted=False, effect="pure"),
        tool(own.suspend_event, counted=False, effect="pure", brief=_SUSPEND),
        tool(own.complete_event, counted=False, effect="pure", brief=_COMPLETE),
        *(tool(function, is_undoable=True) for function in (own.create_event, own.mailbox)),
        tool(own.compress_context, effect="reversible"),
    ]


class EventTools(Struct, frozen=True):
    """The tools' functions over one mailbox and one run state."""

    box: Mailbox
    run_state: RunState
    contexts: Contexts
    limits: RunLimits

    async def check_mailbox(self) -> Json:
        """Look at the event you have in hand, and at how many others are waiting. You are handed the next by itself."""
        lease = self.run_state.lease or await self.box.take()
        event = lease.event
        return {
            "in_hand": {"id": event.id, "type": event.type, "source": event.source, "content": event.content},
            "note": lease.note,
            "waiting": dict(await self.box.counts(None if event.owner_key == HOUSEHOLD else event.owner_key)),
        }

    async def create_event(
        self,
        event: Event,
        content: Annotated[str, Field(description="What to do, in words you will understand later.")],
        type: Annotated[str, Field(min_length=1)] = SELF_CREATED,  # noqa: A002  the model reads this name
        priority: Annotated[int, Field(ge=-10, le=9, description="Higher comes first; below 0 only when idle.")] = 0,
        not_before: Annotated[
            str, Field(description="UTC time before which it must not come, or empty; /time after which it is no use.")
        ] = "",
        budget: Annotated[int, Field(ge=0, description="Tool calls it may use; 0: the usual.")] = 0,
    ) -> Json:
        """Put a task of your own into your mailbox: a subtask, or for later."""
        if type in RESERVED_TYPES:
            raise ToolFailed(f"an event of type {type} is not for you to make: leave the type out, or use set_timer")
        begins, expires = (part.strip() for part in not_before.partition("/")[::2])
        created = Event(
            type=type,
            content=content,
            owner_key=event.owner_key,
            session_id=event.session_id,
            parent_id=event.id,
            source=SELF,
            max_tool_calls=budget or None,
            priority=priority,
            not_before=_moment(begins) if begins else None,
            metadata=in_room_of(event) | ({EXPIRES: _moment(expires).isoformat()} if expires else {}),
        )
        await self.box.enqueue(created)
        return {"id": created.id} | self._less_than(created) | await self._put_off(event.owner_key)

    def _less_than(self, created: Event) -> dict[str, Json]:
        """Tell of a budget that is less than what was asked for."""
        allowed = self.limits.tool_calls(created)
        asked = created.max_tool_calls
        return {"budget": f"{allowed}, the most that is allowed"} if asked is not None and allowed < asked else {}

    async def _put_off(self, owner_key: str) -> dict[str, Json]:
        """Tell that what was made waits, where the day of its own work is used up."""
        until = (await self.box.economy(owner_key))["waits_until"]
        return {"waits": f"until {until}: what your own work may take in a day is used up"} if until else {}

    async def mailbox(
        self,
        event: Event,
        action: Annotated[
            Literal["list", "cancel", "move"], Field(description="move: give it another priority or time.")
        ] = "list",
        id: str = "",
        priority: Annotated[int | None, Field(ge=-10, le=9)] = None,
        not_before: Annotated[str, Field(description="UTC time.")] = "",
    ) -> Json:
        """List what waits, and what your own work took today; or cancel or move one of it."""
        if action == "list":
            waiting = await self.box.coming(event.owner_key)
            listed: list[Json] = [each.outlined(self.box.now()) for each in waiting]
            return {"waiting": listed, "own_work": await self.box.economy(event.owner_key)}
        moment = _moment(not_before) if not_before else None
        if action == "move" and priority is None and moment is None:
            raise ToolFailed("say where it shall go: priority, not_before, or both")
        return await change_waiting(self.box, event.owner_key, Change(id, action == "cancel", priority, moment))

    async def suspend_event(
        self,
        note: Annotated[str, Field(description="How far you got; you get it back word for word.")],
        wake_at: Annotated[str, Field(description="UTC time to come back at, or empty.")] = "",
        wake_on: Annotated[
            str,
            Field(description='"children" for the events you made for it, another name, or empty for an idle moment.'),
        ] = "",
    ) -> Json:
        """Put the event in hand back, with a note, until a time or a named event, or else the next idle moment."""
        self.run_state.ending = Suspension(note, _wake(wake_at, wake_on))
        return SUSPENDED

    async def complete_event(
        self,
        summary: Annotated[str, Field(description="One sentence for the archive.")] = "",
        importance: Annotated[
            float | None, Field(ge=0, le=1, description="How much it matters later: above 0.6 is kept for long.")
        ] = None,
        reason: Annotated[str, Field(description="Why it matters that much.")] = "",
    ) -> Json:
        """Finish the event in hand."""
        self.run_state.ending = Completion(summary, importance, reason)
        return COMPLETED

    async def compress_context(
        self,
        event: Event,
        summary: Annotated[
            str, Field(min_length=1, description="What of all that came before you want to carry on, in your words.")
        ],
        keep: Annotated[
            list[str], Field(max_length=20, description="Ids of events, or texts, that stay word for word.")
        ] = [],  # noqa: B006  pydantic copies it
    ) -> Json:
        """Start your context anew with your own summary; the event in hand stays whole, the journal keeps the rest.

        Summary and texts stay word for word until you call this again.
        """
        wanted = Compression(summary, tuple(keep))
        weighed = self.contexts.weigh(event, wanted)
        if weighed.summary > weighed.longest_summary:
            raise ToolFailed(
                f"nothing was changed: your summary has {weighed.summary} tokens, and {weighed.longest_summary} are "
                "carried on; shorten it"
            )
        self.run_state.compression = wanted
        told = "your context begins anew with this summary after this round"
        if weighed.kept.too_long:
            names = ", ".join(weighed.kept.too_long)
            told += f"; too long to keep, {weighed.most_kept} tokens in all have room: {names}"
        return told


class Change(Struct, frozen=True):
    """What is to become of an event that waits: cancelled, or moved."""

    event_id: str
    cancel: bool = False
    priority: int | None = None
    not_before: datetime | None = None


async def change_waiting(mailbox: Mailbox, owner_key: str, change: Change, reason: str = BY_AGENT) -> str:
    """Cancel or move an event of an owner that waits, and return what was done; nobody else's is there for them.

    Raises `ToolFailed` for one that does not wait, and for another time of a timer.
    """
    filed = await mailbox.find(change.event_id)
    if filed is None or filed.event.owner_key != owner_key or filed.state not in {"pending", "suspended"}:
        raise ToolFailed(f"no event {change.event_id!r} is waiting")
    if filed.event.type == TIMER and change.not_before is not None:
        raise ToolFailed("a timer rings at its own time: cancel it, and set another")
    if filed.event.type == ANNOUNCEMENT and change.not_before is not None:
        raise ToolFailed("what waits to be said is said in the next gap: cancel it, or let it wait")
    if change.cancel:
        done = await mailbox.withdraw(change.event_id, reason)
    else:
        done = await mailbox.move(change.event_id, owner_key, priority=change.priority, not_before=change.not_before)
    if not done:  # it was taken in hand meanwhile
        raise ToolFailed(f"no event {change.event_id!r} is waiting")
    return f"{'cancelled' if change.cancel else 'moved'}: {first_words(filed.event.content)}"


def _wake(at: str, on: str) -> Wake:
    moment = _moment(at) if at else None
    if on:
        return Wake("event", at=moment, name=on)
    return Wake("time", at=moment) if moment else Wake("idle")


def _moment(text: str) -> datetime:
    moment = parse_time(text)
    if moment is None:
        raise ToolFailed(f"{text!r} is no time; write it as {format_time(datetime.now(UTC))}")
    return moment
