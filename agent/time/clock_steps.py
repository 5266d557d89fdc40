"""A clock on the wall that was set, and what that means for timers: minutes are minutes, whatever it shows."""

from collections.abc import Callable
from datetime import datetime, timedelta
from time import CLOCK_BOOTTIME, clock_gettime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.event import Event
from agent.time.series import recounted

COUNTS: Final = "counts"
"""Key of a timer's metadata: it counts seconds, where an alarm waits for a time of the clock."""

LEAST_STEP: Final = timedelta(seconds=2)
"""What is less is the clock being slewed, and two readings that are not at the same moment."""


def since_boot() -> float:
    """Return the seconds since the machine was booted, asleep or awake; nobody sets them."""
    return clock_gettime(CLOCK_BOOTTIME)


class ClockStep(Struct, frozen=True):
    """The clock was set."""

    since: datetime
    """What it would have shown at the boot had it run as before the step."""
    until: datetime
    """What it would show now if it had not been; both aware UTC."""


class ClockSteps:
    """Notices that the clock was set, by one that nobody sets."""

    def __init__(self, now: Callable[[], datetime], elapsed: Callable[[], float] = since_boot) -> None:
        """`elapsed` are the seconds of the other one since the machine was booted."""
        self._now = now
        self._elapsed = elapsed
        self._booted = now() - timedelta(seconds=elapsed())
        """By the clock as it was set last: what is moved after a step stays younger than this, for the next one."""

    def noticed(self) -> ClockStep | None:
        """Return the step since the start, or since the last that was followed; None where there was none."""
        expected = self._booted + timedelta(seconds=self._elapsed())
        return None if abs(self._now() - expected) < LEAST_STEP else ClockStep(self._booted, expected)

    def followed(self, step: ClockStep, now: datetime) -> None:
        """Take for the right time the one that timers were moved to after a step."""
        self._booted = step.since + (now - step.until)


def after_step(timer: Event, step: ClockStep, now: datetime) -> Event:
    """Return what a timer that waits becomes: one that counts keeps its rest, a series comes when it is next due.

    Of those that count only what was set by the clock as it was is moved: one of before the boot was set by one that
    was right. What waits for one moment of the clock waits for that.
    """
    if timer.not_before is None:
        return timer
    if timer.metadata.get(COUNTS) is not True:
        return recounted(timer, now)
    if not step.since <= timer.created_at <= step.until:
        return timer
    moved = now - step.until
    return replace(timer, not_before=timer.not_before + moved, created_at=timer.created_at + moved)
