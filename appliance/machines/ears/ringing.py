"""The timers of the ears' room: those of the mind ring here without it, those set here become known to it."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.event import HOUSEHOLD, TIMER, Event, to_json
from agent.mailbox import Mailbox
from appliance.machines.ears.courier import TURN, Courier
from appliance.machines.ears.outbox import Outbox
from appliance.machines.wire import Ring
from appliance.timers.due import ENDED, RANG, STOPPED
from audio.loops import until_set
from memory.errors import MemoryFailure

log = structlog.get_logger()

RING: Final = "ring"
"""Kind of what is owed that tells of a timer: its body is `id state words`."""

NOT_SET: Final = "the mind has it no more"
"""Why a timer is withdrawn that was cancelled elsewhere."""

RETRY_SECONDS: Final = 5.0

SKEW: Final = timedelta(seconds=10)
"""How near its moment a timer rings though the mind has it no more: by the mind's clock it may be due already."""

_STATES: Final = {RANG: "rang", STOPPED: "stopped", ENDED: "ended"}


class RoomTimers(Struct):
    """Keeps the mailbox of the ears and the mind in agreement about the timers of this room.

    The ringer rings for what is in that mailbox, whoever set it, once each over all starts.
    """

    mailbox: Mailbox
    outbox: Outbox
    courier: Courier
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.mailbox.observe_changes(self._changed.set, of=TIMER)

    async def mirror(self, events: tuple[Event, ...]) -> None:
        """Take all timers that the mind has for this room. Raises `StateUnusable`."""
        async with self._one:
            wanted = {event.id for event in events}
            for event in events:
                await self.mailbox.enqueue(replace(event, owner_key=HOUSEHOLD, parent_id=""))
            await self.outbox.confirm_timers(wanted)
            confirmed = await self.outbox.known_timers(confirmed=True)
            soon = self.mailbox.now() + SKEW
            for timer in await self.mailbox.waiting(TIMER, HOUSEHOLD):
                is_gone = timer.id in confirmed and timer.id not in wanted
                if is_gone and (timer.not_before or soon) > soon:
                    await self.mailbox.withdraw(timer.id, NOT_SET)

    async def run(self) -> None:
        """Let the mind know of what is set and cancelled here, until cancelled."""
        while True:
            self._changed.clear()
            again: float | None = None
            try:
                async with self._one:
                    await self._reconcile()
            except MemoryFailure as error:
                log.warning("timers_not_told", reason=str(error))
                again = RETRY_SECONDS
            await until_set(self._changed, again)

    async def follow(self, envelope: Event) -> None:
        """Take an envelope of the bus: those of `timer.*` tell what rings."""
        if envelope.type in _STATES:
            await self._owe(envelope.parent_id, _STATES[envelope.type], envelope.content)

    async def _reconcile(self) -> None:
        waiting = await self.mailbox.waiting(TIMER, HOUSEHOLD)
        known = await self.outbox.known_timers()
        for timer in waiting:
            if timer.id not in known:
                await self.outbox.add_timer(timer.id, TURN, to_json(timer))
                self.courier.wake()
        for id_ in known - {timer.id for timer in waiting}:
            filed = await self.mailbox.find(id_)
            if filed is not None and filed.state == "completed":
                await self._owe(id_, "rang")
            elif filed is not None and filed.state == "withdrawn" and filed.reason != NOT_SET:
                await self._owe(id_, "cancelled")
            elif filed is not None and filed.state not in {"dead", "withdrawn"}:
                continue  # the agent here has it in hand
            await self.outbox.forget_timer(id_)

    async def _owe(self, id_: str, state: str, words: str = "") -> None:
        await self.courier.owe(f"{state}-{id_}"[:128], RING, f"{id_}\n{state}\n{words}")


def ring_of(body: str, machine: str) -> Ring:
    """Return the message of what is owed of a timer."""
    id_, state, words = body.split("\n", 2)
    return Ring(machine, id_, state, words)
