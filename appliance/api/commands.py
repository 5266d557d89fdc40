"""Commands at a door as envelopes: one as it comes, one when it has ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog
from msgspec.structs import replace

from agent.bus import Bus
from agent.event import HOUSEHOLD, Event, new_id, utc_now
from agent.record import COMMAND, COMMAND_RESULT
from appliance.api.caller import Caller
from appliance.api.register import Asked, name_of
from memory.errors import MemoryFailure
from memory.json_value import Json

log = structlog.get_logger()

PATIENCE: Final = 1.5
"""Seconds that a command waits for the journal: one that closes the ears must not wait for a disk that hangs."""

_TOLD: Final = ("what", "use", "name", "id")
"""Fields of a request that its envelope repeats: no words, and no value of a setting."""


@asynccontextmanager
async def published(bus: Bus, request: Asked, caller: Caller) -> AsyncIterator[None]:
    """Publish a command before the block and its result after it: completed, failed or cancelled.

    Both have the same `run_id`; that of a command at a door is its own. A disk that refuses them, or
    does not answer, stops no command.
    """
    command = envelope_of(request, name_of(type(request)), caller)
    await _publish(bus, command)
    status = "failed"
    try:
        yield
        status = "completed"
    except asyncio.CancelledError:
        status = "cancelled"
        raise
    finally:
        metadata = {**command.metadata, "status": status}
        await _publish(
            bus,
            replace(
                command,
                type=COMMAND_RESULT,
                id=new_id(),
                parent_id=command.id,
                status=status,
                metadata=metadata,
                created_at=utc_now(),
            ),
        )


def envelope_of(request: Asked, name: str, caller: Caller) -> Event:
    """Return the envelope of a command; of an owner's erasure it is the household's, for theirs is erased."""
    command_id, is_erasure = new_id(), name == "forget.owner"
    told = {field: value for field in _TOLD if isinstance(value := getattr(request, field, None), str)}
    metadata: dict[str, Json] = {"command": name, **told, "run_id": command_id}
    owner = HOUSEHOLD if is_erasure else caller.owner_key
    session = Caller().home if is_erasure else caller.home
    return Event(COMMAND, id=command_id, owner_key=owner, session_id=session, source="door", metadata=metadata)


async def _publish(bus: Bus, envelope: Event) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            await bus.publish(envelope, durable=False)
    except (MemoryFailure, TimeoutError) as error:
        log.warning("command_not_journaled", reason=str(error) or "the disk does not answer")
