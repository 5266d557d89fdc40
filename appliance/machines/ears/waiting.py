"""Words that a mind elsewhere has, and has not answered: a sign that it goes on, or a word that the mind is away."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

from msgspec import Struct, field

from agent.event import Event
from agent.run.system_replies import SystemReplies
from appliance.machines.ears.presence import MindPresence
from audio.loops import until_set
from memory.errors import MemoryFailure

LONGEST: Final = 120.0
"""Seconds after which nobody waits for an answer any more: its event may have ended without one."""

MOST: Final = 32
"""Words that are followed at a time; of more the oldest gets no sign."""


class _Open(Struct):
    event: Event
    at: float
    is_signed: bool = False


class Waiting(Struct):
    """Follows what was handed over, until its first words come back."""

    replies: SystemReplies
    mind: MindPresence
    is_sounding: Callable[[], bool]
    """Whether something is said just now: that is sign enough."""
    clock: Callable[[], float] = monotonic
    _open: dict[str, _Open] = {}
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.mind.observe(self._changed.set)

    def handed_over(self, event: Event) -> None:
        """Take that the mind has these words, or has them as soon as it is there."""
        while len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        self._open[event.id] = _Open(event, self.clock())
        self._changed.set()

    def answered(self, event_id: str) -> None:
        """Take that an answer begins, or that none is wanted any more."""
        self._open.pop(event_id, None)

    @property
    def open(self) -> tuple[str, ...]:
        """The ids of events that wait for their first words."""
        return tuple(self._open)

    def forget(self) -> None:
        """Keep no words."""
        self._open.clear()

    async def run(self) -> None:
        """Give signs, until cancelled."""
        while True:
            self._changed.clear()
            with suppress(MemoryFailure):
                await self._look()
            await until_set(self._changed, self._next())

    def _next(self) -> float | None:
        """Return the seconds until something is due; None where nothing is."""
        after = self.replies.sign_after
        dues = [each.at + (LONGEST if each.is_signed or not after else after) for each in self._open.values()]
        return max(0.05, min(dues) - self.clock()) if dues else None

    async def _look(self) -> None:
        now, after = self.clock(), self.replies.sign_after
        for each in list(self._open.values()):
            if now - each.at > LONGEST:
                self.answered(each.event.id)
            elif self.mind.is_missed:
                self.answered(each.event.id)
                await self.replies.tell(each.event, "no_model")
            elif after and not each.is_signed and now - each.at >= after and not self.is_sounding():
                each.is_signed = True
                await self.replies.sign(each.event)
