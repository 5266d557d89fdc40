"""What was said at ears elsewhere, on its way into the mailbox: each once, and one event where two rooms heard it."""

import json
from collections import deque
from datetime import datetime, timedelta
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.event import ASR_TRANSCRIPT, TIMER, Event, new_id
from agent.mailbox import Mailbox
from agent.model.messages import Message, ToolCall
from agent.run.run import Run
from appliance.machines.wire import ANSWERED, Turn
from appliance.rooms.arbitration import SAME_TIME, SAME_WORDS, SKEW, likeness
from appliance.rooms.rooms import origin_of

log = structlog.get_logger()

CLOCKS: Final = timedelta(seconds=2 * SKEW)
"""By which the clocks of two machines that are set by the network may differ, with the time that sound travels."""

KEPT: Final = 16
"""Newest turns that a later one may be the echo of."""


class Arriving(Struct):
    """Files turns of ears elsewhere.

    Where two pair of ears hear the same, the words that came first are the event, whichever were heard better: nobody
    waits for the others. Sound does not travel, so that only the words and the times are compared.
    """

    mailbox: Mailbox
    _newest: deque[tuple[str, Event]] = field(default_factory=lambda: deque(maxlen=KEPT))
    """Each with the machine that heard it."""

    async def file(self, turn: Turn) -> None:
        """File the event of a turn as one of its room. Idempotent by its id. Raises `StateUnusable`."""
        event = in_its_room(turn)
        if (first := self._echo_of(turn.machine, event)) is not None:
            log.info("echo_of_another_room", event_id=first.id, machine=turn.machine)
            return
        if await self.mailbox.enqueue(event):
            log.info("event_accepted", event_id=event.id, machine=turn.machine)
        self._newest.append((turn.machine, event))

    def _echo_of(self, machine: str, event: Event) -> Event | None:
        if event.type != ASR_TRANSCRIPT or ANSWERED in event.metadata:
            return None
        others = [other for where, other in self._newest if where != machine and other.type == ASR_TRANSCRIPT]
        return next((other for other in reversed(others) if other.id != event.id and is_same(other, event)), None)


def in_its_room(turn: Turn) -> Event:
    """Return the event of a turn as the mind has it: from a device in a room, in that room's session."""
    origin = origin_of(turn.room or turn.machine, turn.machine)
    event = turn.event
    if event.type == TIMER:
        return replace(event, metadata={**event.metadata, **origin.marks})
    return replace(
        event, source=origin.source, session_id=origin.session_id, metadata={**event.metadata, **origin.marks}
    )


def is_same(one: Event, other: Event) -> bool:
    """Whether two events are the same speech, by when they were said and by their words (`rooms.arbitration`)."""
    (began, ended), (since, until) = _span(one), _span(other)
    common = min(ended, until) - max(began, since) + CLOCKS
    shorter = min(ended - began, until - since)
    return common > timedelta() and common >= SAME_TIME * shorter and likeness(one.content, other.content) >= SAME_WORDS


def _span(event: Event) -> tuple[datetime, datetime]:
    evidence = event.metadata.get("evidence")
    seconds = evidence.get("seconds") if isinstance(evidence, dict) else None
    length = float(seconds) if isinstance(seconds, int | float) else 0.0
    return event.created_at, event.created_at + timedelta(seconds=length)


class PutsAway(Struct, frozen=True):
    """Ends events without a model, by the call that the agent would make."""

    bus: Bus
    contexts: Contexts

    async def put_away(self, run: Run, summary: str) -> Message:
        """Return that call, journaled and in the event's context."""
        call = ToolCall(f"call_{new_id()[:24]}", "complete_event", json.dumps({"summary": summary}, ensure_ascii=False))
        message = Message("assistant", tool_calls=(call,))
        run.cycle = new_id()
        await self.bus.publish(self.contexts.envelope(run.epoch, run.event, run.id, message, run.cycle))
        self.contexts.append(run.epoch, message)
        return message


class AnsweredThere(PutsAway, frozen=True):
    """A `Settler` of what was answered at the ears: the agent has heard it and what was said, and says nothing."""

    async def settle(self, run: Run) -> Message | None:
        """Return the call that ends such an event; None for any other."""
        said = run.event.metadata.get(ANSWERED)
        return None if said is None else await self.put_away(run, f"answered there while this was away: {said}")
