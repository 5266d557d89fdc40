"""The bus: hands each envelope first to the journal, then to whoever observes; keeps nothing, changes nothing."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable

from agent.event import Event

OBSERVER_CAPACITY = 1024
"""Envelopes an observer may be behind before it loses the oldest."""


class Observer:
    """One subscription. Order: publish order. Loss: the oldest, counted in `lost`, if the reader is too far behind."""

    def __init__(self, pattern: str, capacity: int = OBSERVER_CAPACITY) -> None:
        self.pattern = pattern
        self.lost = 0
        self._waiting: deque[Event] = deque()
        self._capacity = capacity
        self._arrived = asyncio.Event()

    def matches(self, topic: str) -> bool:
        """Whether envelopes of this topic are wanted: `*` is all, `node.*` a prefix, else the exact topic."""
        if self.pattern.endswith("*"):
            return topic.startswith(self.pattern[:-1])
        return topic == self.pattern

    def offer(self, event: Event) -> None:
        """Take an envelope without waiting."""
        if len(self._waiting) == self._capacity:
            self._waiting.popleft()
            self.lost += 1
        self._waiting.append(event)
        self._arrived.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            self._arrived.clear()
            await self._arrived.wait()


class Bus:
    """Carries envelopes from whoever publishes to whoever observes, all on one event loop.

    Guarantees: the journal has an envelope before any observer and before `publish` returns; each observer sees publish
    order. Not guaranteed: that an observer sees everything (it counts what it lost).
    """

    def __init__(self, journal: Callable[[tuple[Event, ...]], Awaitable[None]]) -> None:
        self._journal = journal
        self._observers: list[Observer] = []

    async def publish(self, *events: Event) -> None:
        """Journal the envelopes in one transaction, then show them; if the journal raises, so does this."""
        if events:
            await self._journal(events)
        for event in events:
            self.show(event)

    def show(self, event: Event) -> None:
        """Show an envelope to observers only: a passing piece of what a published one will hold whole (text chunks)."""
        for observer in self._observers:
            if observer.matches(event.type):
                observer.offer(event)

    def observe(self, pattern: str, capacity: int = OBSERVER_CAPACITY) -> Observer:
        """Return a new observer of the topics that match `pattern`; end it with `forget`."""
        observer = Observer(pattern, capacity)
        self._observers.append(observer)
        return observer

    def forget(self, observer: Observer) -> None:
        """End a subscription."""
        self._observers.remove(observer)
