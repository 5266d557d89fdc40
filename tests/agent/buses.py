"""Every way from a bus to those who observe and handle: within one machine, and between two by each engine."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from agent.bus import OBSERVER_CAPACITY, Bus, Observer
from agent.event import Event
from agent.transport import EngineTransport
from memory.engine.access import Login, engine_at
from memory.engine.interface import Topics
from memory.state.database import Change
from tests.engine_fake import FakeEngine, FakeServer
from tests.engine_servers import Server, nats_program, nats_server, redis_program, redis_server

PROBE = "rig.probe"


class Keeper:
    """A journal that keeps what it gets, or refuses."""

    def __init__(self) -> None:
        self.written: list[tuple[Event, ...]] = []
        """Each transaction."""
        self.changes: list[Change | None] = []
        """What went along with each."""
        self.lasted: list[bool] = []
        """Whether each was to last."""
        self.refuses: Exception | None = None

    @property
    def kept(self) -> list[Event]:
        return [event for events in self.written for event in events]

    async def __call__(
        self, events: tuple[Event, ...], *, in_transaction: Change | None = None, durable: bool = True
    ) -> None:
        if self.refuses is not None:
            raise self.refuses
        if any(event.type == PROBE for event in events):
            return
        self.written.append(events)
        self.changes.append(in_transaction)
        self.lasted.append(durable)


@dataclass
class Pair:
    """A bus on which is published and asked, and one whose observers and handlers are meant; they may be the same."""

    here: Bus
    there: Bus
    keeper: Keeper = field(default_factory=Keeper)
    """The journal of `here`."""

    def observe(self, pattern: str, capacity: int = OBSERVER_CAPACITY) -> Observer:
        return self.there.observe(pattern, capacity, everywhere=True)


@asynccontextmanager
async def local() -> AsyncIterator[Pair]:
    """One machine alone."""
    keeper = Keeper()
    bus = Bus(keeper)
    yield Pair(bus, bus, keeper)


@asynccontextmanager
async def joined(here: Topics, there: Topics) -> AsyncIterator[Pair]:
    """Two machines, `here` and `there`, joined once this is entered."""
    keeper = Keeper()
    ways = [EngineTransport(here, "here", receipt_seconds=0.2), EngineTransport(there, "there", receipt_seconds=0.2)]
    buses = [Bus(keeper, ways[0]), Bus(Keeper(), ways[1])]
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(way.run(bus)) for way, bus in zip(ways, buses, strict=True)]
        await _both_hear(*buses)
        yield Pair(buses[0], buses[1], keeper)
        for task in running:
            task.cancel()


async def _both_hear(one: Bus, other: Bus) -> None:
    """Return when each of two buses gets what the other shows and asks."""

    async def agree(event: Event) -> Event:
        return replace(event, status="completed")

    for here, there in ((one, other), (other, one)):
        seen = there.observe(PROBE, everywhere=True)
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            serving = group.create_task(there.serve(PROBE, agree))
            while (await here.request(Event(PROBE), seconds=0.5)).status != "completed" or not [*seen.waiting()]:
                pass  # what is asked is shown as well, but each of the two by a subscription of its own
            serving.cancel()
        there.forget(seen)


@asynccontextmanager
async def over_fake() -> AsyncIterator[Pair]:
    """Two machines, over the engine in memory."""
    server = FakeServer()
    engines = [FakeEngine(server), FakeEngine(server)]
    for engine in engines:
        await engine.open()
    async with joined(engines[0].topics, engines[1].topics) as pair:
        yield pair


@asynccontextmanager
async def over_server(server: Server) -> AsyncIterator[Pair]:
    """Two machines, over a real server, which is killed at the end."""
    engines = [engine_at(server.url, "buses", Login()) for _ in range(2)]
    try:
        server.start()
        for engine in engines:
            await engine.open()
        async with joined(engines[0].topics, engines[1].topics) as pair:
            yield pair
    finally:
        for engine in engines:
            await engine.close()
        server.kill()


@asynccontextmanager
async def over_nats() -> AsyncIterator[Pair]:
    """Two machines, over a real NATS server."""
    if nats_program() is None:
        pytest.skip("no nats-server that is new enough (scripts/nats fetch)")
    with TemporaryDirectory() as folder:
        async with over_server(nats_server(Path(folder))) as pair:
            yield pair


@asynccontextmanager
async def over_redis() -> AsyncIterator[Pair]:
    """Two machines, over a real Redis server."""
    if redis_program() is None:
        pytest.skip("no redis-server here (scripts/setup --test installs one)")
    with TemporaryDirectory() as folder:
        async with over_server(redis_server(Path(folder))) as pair:
            yield pair


KINDS: Mapping[str, Callable[[], AbstractAsyncContextManager[Pair]]] = {
    "local": local,
    "fake": over_fake,
    "nats": over_nats,
    "redis": over_redis,
}
"""Every kind that must keep the same promises."""
