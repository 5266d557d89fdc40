"""A mailbox whose disk refuses until it is told otherwise; what it took is on record."""

from agent.event import Event
from agent.mailbox import Mailbox
from memory.errors import DiskFull, StateUnusable


class FullDisk(Mailbox):
    """Takes events only after so many refusals."""

    def __init__(self, refusals: int = 0, failure: type[StateUnusable] = DiskFull) -> None:
        self.refusals = refusals
        self.failure = failure
        self.filed: list[Event] = []

    async def enqueue(self, event: Event) -> bool:
        """File an event, or raise what such a disk raises."""
        if self.refusals > 0:
            self.refusals -= 1
            raise self.failure("the state database cannot be used")
        self.filed.append(event)
        return True
