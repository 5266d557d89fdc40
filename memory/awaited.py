"""What is in one state at a time, and says why."""

import asyncio
from collections import defaultdict
from typing import Generic, TypeVar

from memory.clock import within

S = TypeVar("S")


class Awaited(Generic[S]):
    """Enters states, each of which can be waited for."""

    def __init__(self, state: S, reason: str) -> None:
        self.state = state
        self.reason = reason
        """Why it is in it, for a person; to follow on its name."""
        self._entered: defaultdict[S, asyncio.Event] = defaultdict(asyncio.Event)

    async def until(self, state: S, seconds: float | None = None) -> bool:
        """Wait until it is in this state, so long at most, None for ever; say whether it came to that."""
        return await within(seconds, self._entered[state])

    def _enter(self, state: S, reason: str) -> None:
        self._entered[self.state].clear()
        self.state, self.reason = state, reason
        self._entered[state].set()
