"""What is in one state at a time, and says why."""

import asyncio
from collections import defaultdict
from typing import Generic, TypeVar

S = TypeVar("S")


class Awaited(Generic[S]):
    """Enters states, each of which can be waited for."""

    def __init__(self, state: S, reason: str) -> None:
        self.state = state
        self.reason = reason
        """Why it is in it, for a person; to follow on its name."""
        self._entered: defaultdict[S, asyncio.Event] = defaultdict(asyncio.Event)

    async def until(self, state: S) -> None:
        """Wait until it is in this state."""
        await self._entered[state].wait()

    def _enter(self, state: S, reason: str) -> None:
        self._entered[self.state].clear()
        self.state, self.reason = state, reason
        self._entered[state].set()
