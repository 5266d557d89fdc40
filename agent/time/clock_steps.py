"""A clock on the wall that is set: what that means for timers, and the sleep towards a moment by it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from time import CLOCK_BOOTTIME, clock_gettime
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent.event import Event
from agent.time.series import is_recurring, recounted

COUNTS: Final = "counts"
"""Key of a timer's metadata: it counts seconds, where an alarm waits for a time of the clock."""

LEAST_STEP: Final = timedelta(seconds=2)
"""What is less is the clock being slewed, and two readings that are not at the same moment."""

DAY: Final = timedelta(days=1)
"""By so much an alarm is passed over by a step, not due: it rings late where it is less."""

WEEK: Final = timedelta(days=7)
"""A clock that was so far ahead was on no day that anybody meant."""

Wait: TypeAlias = Callable[[asyncio.Event, datetime | None], Awaitable[None]]
"""Waits until the event is set or the moment (aware; None: never) has come; it may also return sooner."""

RECHECK_SECONDS: Final = 1.0
"""The longest sleep towards a moment: a clock that was set, or a machine that was asleep, is noticed by then."""


def since_boot() -> float:
    """Return the seconds since the machine was booted, asleep or awake; nobody sets them."""
    return clock_gettime(CLOCK_BOOTTIME)


class ClockStep(Struct, frozen=True):
    """The clock was set."""

    since: datetime
    """What it would have shown at the boot had it run as before the step."""
    until: datetime
    """What it would show now if it had not been; both aware UTC."""
    zone: tzinfo = UTC
    """By whose days and hours alarms were set."""


class ClockSteps:
    """Notices that the clock was set, by one that nobody sets."""

    def __init__(
        self, now: Callable[[], datetime], elapsed: Callable[[], float] = since_boot, zone: tzinfo = UTC
    ) -> None:
        """`elapsed` are the seconds of the other one since the machine was booted; `zone` is the household's."""
        self._now = now
        self._zone = zone
        self._elapsed = elapsed
        self._booted = now() - timedelta(seconds=elapsed())
        """By the clock as it was set last: what is moved after a step stays younger than this, for the next one."""

    def noticed(self) -> ClockStep | None:
        """Return the step since the start, or since the last that was followed; None where there was none."""
        expected = self._booted + timedelta(seconds=self._elapsed())
        return None if abs(self._now() - expected) < LEAST_STEP else ClockStep(self._booted, expected, self._zone)

    def followed(self, step: ClockStep, now: datetime) -> None:
        """Take for the right time the one that timers were moved to after a step."""
        self._booted = step.since + (now - step.until)


def after_step(timer: Event, step: ClockStep, now: datetime) -> Event:
    """Return what a timer that waits becomes: one that counts keeps its rest, a series comes when it is next due.

    Of the others only what was set by the clock as it was is moved: one of before the boot was set by one that was
    right. What waits for one moment of the clock waits for that, unless a step by days left it behind, or years ahead:
    then it waits for its hour.
    """
    if timer.not_before is None:
        return timer
    if is_recurring(timer) and timer.metadata.get(COUNTS) is not True:
        return recounted(timer, now)
    if not step.since <= timer.created_at <= step.until:
        return timer
    moved = now - step.until
    if timer.metadata.get(COUNTS) is not True:
        is_passed_over = step.until < timer.not_before <= now - DAY
        return _at_its_hour(timer, step, now) if is_passed_over or moved < -WEEK else timer
    return replace(timer, not_before=timer.not_before + moved, created_at=timer.created_at + moved)


def _at_its_hour(alarm: Event, step: ClockStep, now: datetime) -> Event:
    """Return an alarm as it was meant where the day was wrong: as many days from now on, at the same hour."""
    assert alarm.not_before is not None
    due, today = alarm.not_before.astimezone(step.zone), now.astimezone(step.zone)
    day = today.date() + (due.date() - alarm.created_at.astimezone(step.zone).date())
    if datetime.combine(day, due.time(), step.zone) <= now:
        day += DAY
    moment = datetime.combine(day, due.time(), step.zone).astimezone(UTC)
    return replace(alarm, not_before=moment, created_at=alarm.created_at + (now - step.until))


def waiting_by(now: Callable[[], datetime], recheck: float = RECHECK_SECONDS) -> Wait:
    """Return the ordinary wait: it looks at this clock each second, without waking who waits.

    `recheck` is another longest sleep, seconds, for what need not be on the second. A clock that is set ends the wait,
    by that of the event loop, which nobody sets: set back, it would come to the moment late.
    """

    async def wait(changed: asyncio.Event, until: datetime | None) -> None:
        if until is None:
            await changed.wait()
            return
        loop = asyncio.get_running_loop()
        steps = ClockSteps(now, loop.time)
        looking: asyncio.Handle

        def look() -> None:
            nonlocal looking
            left = seconds_to_sleep(now(), until, recheck) or 0.0
            if steps.noticed() is not None:
                ending.reschedule(loop.time())
            elif left < recheck:
                ending.reschedule(loop.time() + left)
            else:
                looking = loop.call_later(recheck, look)

        looking = loop.call_soon(look)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as ending:
                    await changed.wait()
        finally:
            looking.cancel()

    return wait


def seconds_to_sleep(now: datetime, until: datetime | None, most: float = RECHECK_SECONDS) -> float | None:
    """Return how long to sleep towards a moment before looking at the clock again; None is for ever."""
    if until is None:
        return None
    return min(most, max(0.0, (until - now).total_seconds()))
