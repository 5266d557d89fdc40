"""Stops a run from outside: its waits end at once, what has to be whole is finished."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Literal

from agent.errors import Stopped
from agent.event import utc_now

Why = Literal["interrupted", "superseded", "preempted", "timed_out"]


class Stop:
    """Ends the waits of one run: what stands inside `waits` is cancelled, everything else runs to its end.

    So a journal write and what follows from it are never torn apart, and take milliseconds. Used on one event loop;
    several tasks of the run may wait at a time. The first reason stays.
    """

    def __init__(self, deadline: float | None = None) -> None:
        """`deadline` is on the event loop's clock, in seconds: past it the reason is `timed_out`. None is never."""
        self.reason: Why | None = None
        self.given_at: datetime | None = None
        """When the reason was given; aware UTC."""
        self._deadline = deadline
        self._scopes: list[asyncio.Timeout] = []

    def give(self, reason: Why) -> bool:
        """End all waits now, and all that would begin; False when they have been ended before."""
        if self.reason is not None:
            return False
        self.reason, self.given_at = reason, utc_now()
        for scope in self._scopes:
            if not scope.expired():
                scope.reschedule(asyncio.get_running_loop().time())
        return True

    def allow(self, seconds: float) -> None:
        """Put the deadline off by the time that was spent waiting for the mouth: a long story is no hanging run."""
        if self._deadline is None or self.reason is not None:
            return
        self._deadline += seconds
        for scope in self._scopes:
            if not scope.expired():
                scope.reschedule(self._deadline)

    def check(self) -> None:
        """Raise `Stopped` when a reason was given, or the deadline has passed."""
        if self.reason is None and self._deadline is not None:
            self._expire(is_over=asyncio.get_running_loop().time() >= self._deadline)
        if self.reason is not None:
            raise Stopped(self.reason)

    def _expire(self, *, is_over: bool) -> None:
        """Take note that the time is over, where it is and nothing else ended the waits before."""
        if is_over and self.reason is None:
            self.reason, self.given_at = "timed_out", utc_now()

    @asynccontextmanager
    async def waits(self) -> AsyncIterator[None]:
        """Cancel what is awaited in here when the run is stopped. Raises `Stopped` then, also on entering."""
        self.check()
        # Cancelling a part of a task from outside needs a scope; a deadline that `give` sets to now is one.
        scope = asyncio.timeout_at(self._deadline)
        try:
            async with scope:
                self._scopes.append(scope)
                try:
                    yield
                finally:
                    self._scopes.remove(scope)
        except Exception:
            self._expire(is_over=scope.expired())
            self.check()
            raise
