"""Who looks on: readers with bounded queues; one that is slow loses messages, and nothing waits for it."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final, NamedTuple

import structlog
from msgspec import Struct, field

from agent.event import HOUSEHOLD
from appliance.errors import Exit, Problem
from memory.json_value import Json

MOST_WAITING: Final = 512
"""Messages that one reader may be behind."""

MOST_CHARACTERS: Final = 256_000
"""The same in characters of JSON; a single longer message waits alone."""

MOST_READERS: Final = 256
MOST_OF_VISITOR: Final = 16
"""Readers at a time, of all owners and of one that is not the household."""

SEND_SECONDS: Final = 30.0
"""For which one packet may wait for its reader; then it is left."""

PACE: Final = 0.001
"""Seconds between two packets to one reader for each reader there is: to all of them together 1000 packets a second at
most, so that many do not take the time of whoever listens. What comes between goes in one packet."""


class Packet(NamedTuple):
    """A message on its way, made once for all who get it."""

    name: str
    seq: int | None
    json: str


log = structlog.get_logger()


class Reader(Struct, eq=False):
    """One who looks on. Order: as told. Loss: all that waits, once it is too much; told by `lost` and a snapshot."""

    owner_key: str
    wants_levels: bool
    anew: Callable[["Reader", int], list[Packet]]
    """Returns what stands for so many messages that were lost: their number, and how it is now."""
    interval: Callable[[], float]
    """Returns the seconds between two packets."""
    clock: Callable[[], float] = monotonic
    lost: int = 0
    """Messages lost since the start."""
    _waiting: deque[Packet] = field(default_factory=deque)
    _characters: int = 0
    _missed: int = 0
    """Messages lost that it was not told of yet; while there are any, all are."""
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _taken_at: float = float("-inf")

    def offer(self, packet: Packet) -> None:
        """Take a message without waiting."""
        self._arrived.set()
        fits = self._characters + len(packet.json) <= MOST_CHARACTERS or not self._waiting
        if self._missed or not fits or len(self._waiting) >= MOST_WAITING:
            self._lose(len(self._waiting) + 1)
        else:
            self._waiting.append(packet)
            self._characters += len(packet.json)

    def forget(self) -> None:
        """Keep nothing of what waits: it counts as lost."""
        if self._waiting:
            self._lose(len(self._waiting))

    def begin(self, before: Callable[[list[Packet]], list[Packet]]) -> None:
        """Put something in the place of what waits so far; a page that reads for the first time is not too slow yet."""
        self._waiting = deque(before(list(self._waiting)))
        self._arrived.set()

    async def take(self, within: float) -> list[Packet]:
        """Return what came since, in order, as soon as there is something; nothing after so many seconds without."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._arrived.wait()
                if (rest := self._taken_at + self.interval() - self.clock()) > 0:
                    await asyncio.sleep(rest)
        if not self._arrived.is_set():
            return []
        self._arrived.clear()
        self._taken_at = self.clock()
        packets = self.anew(self, self._missed) if self._missed else list(self._waiting)
        self._missed = 0
        self._clear()
        return packets

    def _lose(self, count: int) -> None:
        self.lost += count
        self._missed += count
        self._clear()

    def _clear(self) -> None:
        self._waiting.clear()
        self._characters = 0


class Readers(Struct):
    """All who look on."""

    clock: Callable[[], float] = monotonic
    """Seconds."""
    watched: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while there is any."""
    dropped: int = 0
    """Readers that took nothing for too long and were left."""
    _readers: list[Reader] = []
    _lost_before: int = 0
    """By readers that have gone."""

    def check_room(self, owner_key: str) -> None:
        """Raise `Problem` where there is no room for another reader of this owner."""
        own = sum(reader.owner_key == owner_key for reader in self._readers)
        if len(self._readers) >= MOST_READERS or (owner_key != HOUSEHOLD and own >= MOST_OF_VISITOR):
            raise Problem("too many look on already: close another page or program that does", Exit.UNAVAILABLE)

    @contextmanager
    def reading(
        self, owner_key: str, anew: Callable[[Reader, int], list[Packet]], *, wants_levels: bool
    ) -> Iterator[Reader]:
        """Give a new reader, told of all from now on until the end of the block."""
        reader = Reader(owner_key, wants_levels, anew, lambda: PACE * len(self._readers), self.clock)
        self._readers.append(reader)
        self.watched.set()
        try:
            yield reader
        finally:
            self._readers.remove(reader)
            self._lost_before += reader.lost
            if not self._readers:
                self.watched.clear()

    def forget(self) -> None:
        """Keep no words that wait for anybody."""
        for reader in self._readers:
            reader.forget()

    def leave(self, reader: Reader) -> None:
        """Take note that a reader took nothing for too long, and is left."""
        self.dropped += 1
        log.info("reader_left", lost=reader.lost)

    def tell(self, owner_key: str, packet: Packet, *, levels: bool = False) -> None:
        """Offer a message to all readers of an owner; to those who want them, where they are `levels`."""
        for reader in self._readers:
            if reader.owner_key == owner_key and (reader.wants_levels or not levels):
                reader.offer(packet)

    @property
    def owners(self) -> set[str]:
        """Who looks on."""
        return {reader.owner_key for reader in self._readers}

    def describe(self) -> dict[str, Json]:
        """Return how many there are, and what was lost and left since the start, for the status."""
        lost = self._lost_before + sum(reader.lost for reader in self._readers)
        return {"readers": len(self._readers), "lost": lost, "dropped": self.dropped}
