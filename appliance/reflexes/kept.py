"""What reflexes changed and a restart must not undo: a mute, which ends by itself after a while, and how loud it is."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec
import structlog
from msgspec import Meta, Struct
from msgspec.structs import replace

from agent.event import utc_now
from agent.mailbox import Wait, waiting_by
from agent.time.clock_steps import ClockSteps
from audio.capture.mute import Mute
from memory.clock import Moment
from memory.durable import replace_durably
from memory.json_value import read_json

log = structlog.get_logger()

RETRY_SECONDS: Final = 5.0
"""Between tries while the disk refuses."""

PATIENCE: Final = 2.0
"""Seconds that whoever switched waits for a disk that does not answer; the switch itself waits for none."""

Percent: TypeAlias = Annotated[int, Meta(ge=0, le=100)]


class Kept(Struct, frozen=True, forbid_unknown_fields=True):
    """The state of the switches."""

    muted: bool
    muted_until: Moment | None = None
    """When that ends by itself; None for never, or where nobody knows."""
    volume: Percent | None = None
    """None where nobody changed it."""
    volume_configured: Percent = 100
    """The configuration's percent when it was changed: once that says something else, it counts again."""


class KeptSwitches:
    """One small file in the state folder, replaced whole and fsynced; a crash leaves the old one or the new one."""

    def __init__(
        self, file: Path, rest: Callable[[float], Awaitable[None]] = asyncio.sleep, patience: float = PATIENCE
    ) -> None:
        """`rest` waits so many seconds; a disk that is silent for `patience` seconds counts as one that refuses."""
        self._file = file
        self._rest = rest
        self._patience = patience
        self._writing = asyncio.Lock()
        self._begun: asyncio.Future[None] | None = None
        """The last write, which a silent disk may have yet."""
        self._refused = asyncio.Event()
        """Set while the file is not what the switches are."""
        self.now = self._read()

    def volume_for(self, configured: int) -> int:
        """Return the percent to start with."""
        kept = self.now
        return configured if kept.volume is None or kept.volume_configured != configured else kept.volume

    async def keep(self, **changes: bool | int | datetime | None) -> bool:
        """Change what is kept; durable on return. False, said in the log, when the disk refuses: `run` tries again."""
        self.now = replace(self.now, **changes)
        try:
            async with asyncio.timeout(self._patience), self._writing:
                await self._replaced()
                self._refused.clear()
        except OSError as error:  # a TimeoutError is one
            if not self._refused.is_set():
                log.warning("switches_not_kept", reason=str(error) or "the disk does not answer")
            self._refused.set()
            return False
        return True

    async def _replaced(self) -> None:
        """Write, and wait for that; whoever waits no more leaves the write to the disk. Raises OSError."""
        if self._begun is not None:
            await asyncio.wait((self._begun,))  # what it holds is older, and must not come last
        written = msgspec.json.encode(self.now)
        self._begun = asyncio.get_running_loop().run_in_executor(None, replace_durably, self._file, [written])
        await asyncio.wait((self._begun,))
        self._begun.result()

    async def run(self) -> None:
        """Write what the disk refused once it takes it again, until cancelled: a restart must undo no mute."""
        while True:
            await self._refused.wait()
            await self._rest(RETRY_SECONDS)
            if self._refused.is_set() and await self.keep():
                log.info("switches_kept_at_last")

    def _read(self) -> Kept:
        try:
            return read_json(self._file.read_bytes(), Kept)
        except FileNotFoundError:
            return Kept(muted=False)
        except (OSError, ValueError) as error:
            # Nobody knows what was wanted: a microphone that stays off is the error that harms least.
            log.warning("switches_unreadable", reason=str(error), file=str(self._file))
            return Kept(muted=True)


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
