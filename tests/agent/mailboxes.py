"""Every kind of mailbox that must keep the same promises, each with a way to let its process die."""

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from agent.event import Event
from agent.mailbox import SCHEMA, Lease, Mailbox
from memory.engine.access import Login, engine_at
from memory.state.database import Database
from memory.state.replicated import ReplicatedDatabase
from tests.agent.clock import Clock
from tests.agent.in_memory_mailbox import InMemoryMailbox
from tests.engine_servers import Server
from tests.engine_session import shared_server


class NothingDue(Exception):
    """`take` would have to wait."""


class Rig(Protocol):
    """A mailbox on a clock of its own."""

    clock: Clock

    @property
    def mailbox(self) -> Mailbox | InMemoryMailbox:
        """The one that lives now."""

    async def restart(self) -> list[Lease]:
        """Let the process die and start again; return what `recover` found."""

    async def take_now(self) -> Lease:
        """Take what is due; raises NothingDue instead of waiting."""


class SqliteRig:
    """The mailbox in a file."""

    def __init__(self, path: Path) -> None:
        self.clock = Clock()
        self._database = Database(path)

    async def start(self) -> None:
        await self._database.open(SCHEMA)
        self.mailbox: Mailbox = Mailbox(self._database, self.clock, self.clock.wait)

    async def stop(self) -> None:
        await self._database.close()

    async def restart(self) -> list[Lease]:
        await self.stop()
        await self.start()
        return await self.mailbox.recover()

    async def take_now(self) -> Lease:
        async def refuse(*_: object) -> None:
            raise NothingDue

        return await Mailbox(self._database, self.clock, refuse).take()


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Rig]:
    rig = SqliteRig(folder / "nakari.db")
    await rig.start()
    yield rig
    await rig.stop()


class EngineRig:
    """The mailbox of a household on an engine; each start of its process is another machine with an empty folder."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.clock = Clock()
        self._folder = folder
        self._url = server.url
        self._household = f"h{uuid.uuid4().hex}"
        self._machines = 0

    async def start(self) -> None:
        self._machines += 1
        self._engine = engine_at(self._url, self._household, Login())
        name = f"machine-{self._machines}"
        path = self._folder / name / "nakari.db"
        self._database = ReplicatedDatabase(path, self._engine, household=self._household, machine=name)
        await self._engine.open()
        await self._database.open(SCHEMA)
        await self._database.lead(self._machines)
        self.mailbox: Mailbox = Mailbox(self._database, self.clock, self.clock.wait)

    async def stop(self) -> None:
        await self._database.close()
        await self._engine.close()

    async def restart(self) -> list[Lease]:
        await self.stop()
        await self.start()
        return await self.mailbox.recover()

    async def take_now(self) -> Lease:
        async def refuse(*_: object) -> None:
            raise NothingDue

        return await Mailbox(self._database, self.clock, refuse).take()


@asynccontextmanager
async def on_engine(scheme: str, folder: Path) -> AsyncIterator[Rig]:
    rig = EngineRig(folder, await shared_server(scheme))
    await rig.start()
    yield rig
    await rig.stop()


class MemoryRig:
    """The mailbox in memory; what it holds outlives its "process", for it keeps the promises of one on a disk."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.mailbox: InMemoryMailbox = InMemoryMailbox(self.clock, self.clock.wait)

    async def restart(self) -> list[Lease]:
        return await self.mailbox.recover()

    async def take_now(self) -> Lease:
        async def refuse(*_: object) -> None:
            raise NothingDue

        return await self.mailbox.waiting_by(refuse).take()


@asynccontextmanager
async def memory(folder: Path) -> AsyncIterator[Rig]:
    yield MemoryRig()


KINDS: dict[str, Callable[[Path], AbstractAsyncContextManager[Rig]]] = {
    "sqlite": sqlite,
    "memory": memory,
    "nats": partial(on_engine, "nats"),
    "redis": partial(on_engine, "redis"),
}
"""Each keeps what the contract tests ask; those on an engine are skipped where there is no such server."""


def work(content: str = "work", **fields: object) -> Event:
    """Return an event of its own."""
    return Event("self_created", content, **fields)  # type: ignore[arg-type]  # any field by name


async def finish(rig: Rig, event_id: str) -> None:
    """Complete the event in hand."""
    assert await rig.mailbox.complete(event_id, "", {})


async def next_due(rig: Rig) -> datetime | None:
    """Return the earliest moment that a waiting event is bound to."""
    waiting = [each for state in ("pending", "suspended") for each in await rig.mailbox.listed(state, 1000)]
    return min((each.due_at for each in waiting if each.due_at), default=None)


async def handled(rig: Rig) -> list[str]:
    """Take and complete all that is due; return the contents in the order of delivery."""
    contents: list[str] = []
    while True:
        try:
            hand = await rig.take_now()
        except NothingDue:
            return contents
        await finish(rig, hand.event.id)
        contents.append(hand.event.content)


async def filed(rig: Rig, *events: Event) -> None:
    """Enqueue events, in their order."""
    for event in events:
        assert await rig.mailbox.enqueue(event)
