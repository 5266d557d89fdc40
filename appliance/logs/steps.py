"""The steps of a conversation as lines of the log, once the journal has them: what was said, what tools were called."""

from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from agent.bus import Bus
from agent.event import Event
from agent.replies import SOURCES
from agent.turns.stages import TURN_ENDED
from appliance.output.text import WRITTEN
from memory.state.database import Change

log = structlog.get_logger()

Recording = Callable[..., Awaitable[None]]
"""A `Recorder`, or what stands in its place."""

LINES: Final = {
    "runs.new": ("run_started", ("source",)),
    "tools.requests": ("tool_called", ("tool_name", "call_id", "args")),
    "tools.results": ("tool_answered", ("tool_name", "call_id")),
    WRITTEN: ("reply_written", ("call_id",)),
    SOURCES: ("sources_named", ("call_id",)),
    TURN_ENDED: ("turn_ended", ("kind", "status", "began", "stages", "models", "tools")),
}
"""By the topic of a step its line's name, and what the line has of the step's body; what was said is under `words`.

Spoken sentences are not among them: the mouth logs those itself, also while the disk takes none.
"""

_NAMES: Final = {"tool_name": "tool", "args": "arguments"}
"""Keys of a line that are not those of the body."""


def logged(record: Recording) -> Recording:
    """Return what records envelopes, and then logs those of `LINES` in their order; what the journal refuses is not."""

    async def write(events: tuple[Event, ...], *, in_transaction: Change | None = None, durable: bool = True) -> None:
        await record(events, in_transaction=in_transaction, durable=durable)
        for event in events:
            if event.type in LINES:
                _log(event)

    return write


async def log_others(bus: Bus) -> None:
    """Log what other machines publish of `LINES`, each with the machine's name, until cancelled."""
    observer = bus.observe("*", everywhere=True)
    try:
        async for machine, event in observer.by_machine():
            if machine and event.type in LINES:
                _log(event, machine=machine)
    finally:
        bus.forget(observer)


def _log(event: Event, **beside: str) -> None:
    name, keys = LINES[event.type]
    values = {_NAMES.get(key, key): event.metadata.get(key) for key in keys}
    if words := event.content or event.metadata.get("content"):
        values["words"] = words
    run_id, event_id = event.metadata.get("run_id", ""), event.parent_id
    values |= beside
    log.info(name, **values, session=event.session_id, owner=event.owner_key, event_id=event_id, run_id=run_id)
