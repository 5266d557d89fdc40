"""A local server that speaks Wyoming, or whatever a script says in its place."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from wyoming.event import Event, Eventable, async_read_event, async_write_event


@dataclass
class Peer:
    """One connection, as the server sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    got: list[Event]
    """What the server was sent, over all connections."""

    async def read(self) -> Event | None:
        """Return the next event, None at the end."""
        event = await async_read_event(self.reader)
        if event is not None:
            self.got.append(event)
        return event

    async def write(self, *events: Eventable) -> None:
        for event in events:
            await async_write_event(event.event(), self.writer)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


Answer: TypeAlias = Callable[[Peer], Awaitable[None]]


@dataclass
class WyomingStandIn:
    """The running server: its address, what it was sent, and how it answers."""

    port: int = 0
    answer: Answer = field(kw_only=True)
    """Has one connection; it is closed when this returns."""
    got: list[Event] = field(default_factory=list)
    connections: int = 0
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    """What a slow answer waits for; set at the end."""

    @property
    def url(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def types(self) -> list[str]:
        """Return the types of all events that it was sent, in order."""
        return [event.type for event in self.got]


@asynccontextmanager
async def wyoming_server(answer: Answer) -> AsyncIterator[WyomingStandIn]:
    """Run a server on a free port of this machine; its connections end with the block."""
    standin = WyomingStandIn(answer=answer)
    open_now: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        standin.connections += 1
        try:
            with suppress(OSError, asyncio.CancelledError):
                await standin.answer(Peer(reader, writer, standin.got))
        finally:
            open_now.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    standin.port = server.sockets[0].getsockname()[1]
    try:
        yield standin
    finally:
        standin.go_on.set()
        server.close()
        left = list(open_now)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
