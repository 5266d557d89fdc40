"""Notices when models are away, and looks whether one is back while something waits for it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from agent.event import MODEL_AVAILABLE
from agent.mailbox import Mailbox
from agent.model.chain import Chain, Reachable
from agent.model.interface import OFFLINE, ChatModel
from agent.run.patience import FIRST_LOOK, JITTER, LONGEST_LOOK
from memory.backoff import Backoff
from memory.errors import MemoryFailure

log = structlog.get_logger()


@dataclass(slots=True)
class Outage:
    """Whether no model answered when one was last asked; also before the first is asked."""

    is_on: bool = True
    was_seen: bool = False
    """Whether it was found out by asking."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def began(self) -> None:
        """Take note that no model answers."""
        self.was_seen = True
        if not self.is_on:
            self.is_on = True
            self._changed.set()

    def ended(self) -> bool:
        """Take note that one answered; False when none was away."""
        was_on, self.is_on, self.was_seen = self.is_on, False, False
        if was_on:
            self._changed.set()
        return was_on

    async def changed(self, within: float | None) -> None:
        """Return when it begins or ends, at the latest after so many seconds (None: never)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._changed.wait()
        self._changed.clear()


@dataclass(slots=True)
class ModelWatch:
    """Wakes what waits for a model as soon as one can be reached, whether or not anybody speaks.

    It only looks whether a server is there, which is not billed, and only while something waits. One event is woken, to
    ask; the others are, once that is answered. Until then the looks become rarer.
    """

    models: Sequence[ChatModel]
    mailbox: Mailbox
    outage: Outage
    _looks: Backoff = field(default_factory=lambda: Backoff(FIRST_LOOK, LONGEST_LOOK, jitter=JITTER))

    async def run(self) -> None:
        """Look again and again while models are away, until cancelled."""
        while True:
            if not self.outage.is_on:
                await self.outage.changed(None)
                self._looks.worked()
            await self.outage.changed(self._looks.failed())
            if self.outage.is_on:
                with suppress(MemoryFailure):  # the loop tells of that; the next look comes
                    await self._look()

    async def _look(self) -> None:
        if not await self.mailbox.waits_for(MODEL_AVAILABLE):
            return
        known = self.models.may_think if isinstance(self.models, Chain) else self.models
        for model in known:
            if model.name != OFFLINE and (not isinstance(model, Reachable) or await model.is_reachable()):
                await self.mailbox.wake(MODEL_AVAILABLE, most=1)
                log.info("model_can_be_reached", model=model.name)
                return
