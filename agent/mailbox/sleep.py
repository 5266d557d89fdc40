"""The sleep towards a moment by the clock on the wall, which somebody may set meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeAlias

from agent.time.clock_steps import ClockSteps
from memory.clock import within

Wait: TypeAlias = Callable[[asyncio.Event, datetime | None], Awaitable[None]]
"""Waits until the event is set or the moment (aware; None: never) has come; it may also return sooner."""

RECHECK_SECONDS: Final = 1.0
"""The longest sleep towards a moment: a clock that was set, or a machine that was asleep, is noticed by then."""


def waiting_by(now: Callable[[], datetime], recheck: float = RECHECK_SECONDS) -> Wait:
    """Return the ordinary wait: asyncio's timer, set anew by this clock each second; nothing is looked up meanwhile.

    `recheck` is another longest sleep, seconds, for what need not be on the second. A clock that is set ends the wait,
    by that of the event loop, which nobody sets: set back, it would come to the moment late.
    """

    async def wait(changed: asyncio.Event, until: datetime | None) -> None:
        left, steps = None, ClockSteps(now, asyncio.get_running_loop().time)
        while not changed.is_set() and (left is None or left >= recheck) and steps.noticed() is None:
            left = seconds_to_sleep(now(), until, recheck)
            await within(left, changed)

    return wait


def seconds_to_sleep(now: datetime, until: datetime | None, most: float = RECHECK_SECONDS) -> float | None:
    """Return how long to sleep towards a moment before looking at the clock again; None is for ever."""
    if until is None:
        return None
    return min(most, max(0.0, (until - now).total_seconds()))
