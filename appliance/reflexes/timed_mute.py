"""The mute switch of the box: kept over restarts, and off again by itself after a set time."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from agent.event import utc_now
from agent.mailbox import Wait, waiting_by
from agent.time.clock_steps import ClockSteps
from appliance.reflexes.kept import KeptSwitches
from audio.capture.mute import Mute

log = structlog.get_logger()


class TimedMute(Mute):
    """A `Mute` that ends so many minutes on the wall clock after it began; a restart neither forgets nor prolongs it.

    A mute whose end nobody knows, and one that ends later than one that begins now (a clock that was wrong, or another
    setting), end as one that begins now. Where the clock is set while it lasts, it lasts as long all the same.
    """

    def __init__(
        self,
        kept: KeptSwitches,
        minutes: float,
        now: Callable[[], datetime] = utc_now,
        wait: Wait | None = None,
        steps: ClockSteps | None = None,
    ) -> None:
        """Be as it was kept; `minutes` of 0 for a mute that does not end by itself.

        `steps` notices that the clock was set; None is a clock that nobody sets.
        """
        super().__init__(is_on=kept.now.muted)
        self.minutes = minutes
        self._kept = kept
        self._now = now
        self._wait = wait or waiting_by(now)
        self._steps = steps
        self._changed = asyncio.Event()
        self._until = self._earlier(kept.now.muted_until) if self.is_on else None

    @property
    def until(self) -> datetime | None:
        """When it ends by itself, aware; None while it is off, and where only a person ends it."""
        return self._until if self.is_on else None

    def switch(self, *, is_on: bool) -> None:
        """Switch it; its time begins anew."""
        self.is_on = is_on
        self._until = self._earlier(None) if is_on else None
        self._changed.set()

    async def keep(self) -> None:
        """Make durable how it is."""
        await self._kept.keep(muted=self.is_on, muted_until=self.until)

    async def run(self, is_over: Callable[[], None]) -> None:
        """Call `is_over`, which switches it off, whenever its time is over; until cancelled."""
        if self.is_on and self.until != self._kept.now.muted_until:
            await self.keep()
        while True:
            self._changed.clear()
            await self._follow_clock()
            if self.until is not None and self._now() >= self.until:
                log.info("mute_ended", minutes=self.minutes)
                is_over()
            await self._wait(self._changed, self.until)

    async def _follow_clock(self) -> None:
        """Move the end to where it belongs once the clock was set."""
        if self._steps is None or (step := self._steps.noticed()) is None:
            return
        now = self._now()
        if self._until is not None:
            self._until += now - step.until
            await self.keep()
        self._steps.followed(step, now)

    def _earlier(self, until: datetime | None) -> datetime | None:
        """Return that moment, or the end of a mute that begins now where that is earlier, or nobody knows one."""
        if not self.minutes:
            return None
        latest = self._now() + timedelta(minutes=self.minutes)
        return latest if until is None else min(until, latest)
