"""A small HTTP server for the sound of replies: one address of one sound, once, and only to the device it is for."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import h11
import msgspec
import structlog
from msgspec import Struct

from appliance.satellites.talk.body import TYPES, Body

log = structlog.get_logger()

T = TypeVar("T")

HEAD_SECONDS: Final = 5.0
"""That a request may take to arrive."""

STALLED_SECONDS: Final = 15.0
"""Without a byte taken, after which a device counts as gone: its buffer was never so long."""

MOST_CONNECTIONS: Final = 32
"""At a time; one over it is closed."""

MOST_HEAD_BYTES: Final = 8_192


@dataclass(slots=True)
class ReplyServer:
    """Listens where a device was first spoken to, so that without one there is no port. On the event loop.

    What it is asked for is a path that nobody can guess, from the device's own address; it is given once. Everything
    else is 404. A body ends with its connection.
    """

    address: str = ""
    """To listen at; "" is that under which each device reaches this machine."""
    port: int = 0
    """0 is any that is free."""
    _offered: dict[str, tuple[Body, str]] = field(default_factory=dict, init=False)
    """By its path, each with the address of the device that may have it."""
    _servers: dict[str, asyncio.Server] = field(default_factory=dict, init=False)
    _open: set[asyncio.StreamWriter] = field(default_factory=set, init=False)

    async def offer(self, body: Body, here: str, device: str) -> str:
        """Return the url of a body. Raises OSError where nobody can listen.

        `here` is the IP address under which the device reaches this machine, `device` its own; "" lets any have it.
        """
        listens = self.address or here
        if listens not in self._servers:
            self._servers[listens] = await asyncio.start_server(self._serve, listens, self.port)
            log.info("replies_served", address=listens, port=self._port_of(listens))
        self._offered[f"/{body.name}"] = body, device
        host = f"[{here}]" if ":" in here else here
        return f"http://{host}:{self._port_of(listens)}/{body.name}"

    def withdraw(self, body: Body) -> None:
        """Let nobody have it any more who has not come yet."""
        self._offered.pop(f"/{body.name}", None)

    def close(self) -> None:
        """End everything."""
        for server in self._servers.values():
            server.close()
        for writer in [*self._open]:
            writer.transport.abort()
        self._servers.clear()
        self._offered.clear()

    def _port_of(self, listens: str) -> int:
        return int(self._servers[listens].sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if len(self._open) <= MOST_CONNECTIONS:
                await _Answer(reader, writer).answer(self._offered)
        except (OSError, TimeoutError, h11.RemoteProtocolError) as error:
            log.info("reply_not_taken", reason=type(error).__name__)
        finally:
            self._open.discard(writer)
            writer.transport.abort()


class _Answer(Struct, frozen=True):
    """What one connection gets: one body, or 404."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    connection: h11.Connection = msgspec.field(
        default_factory=lambda: h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD_BYTES)
    )

    async def answer(self, offered: dict[str, tuple[Body, str]]) -> None:
        """Read the request, and answer it. Raises OSError, TimeoutError and `h11.RemoteProtocolError`."""
        async with asyncio.timeout(HEAD_SECONDS):
            request = await self._request()
        if request is None:
            return
        path = request.target.decode("ascii", "replace")
        body, device = offered.get(path, (None, ""))
        peer = str(self.writer.get_extra_info("peername")[0])
        if body is None or request.method != b"GET" or (device and peer != device):
            await self._send(h11.Response(status_code=404, headers=[("Content-Length", "0"), ("Connection", "close")]))
            await self._send(h11.EndOfMessage())
            return
        del offered[path]
        body.take()
        is_sent = False
        try:
            await self._send_body(body)
            is_sent = True
        finally:
            if not is_sent:
                body.broke_off()

    async def _request(self) -> h11.Request | None:
        while (event := self.connection.next_event()) is h11.NEED_DATA:
            self.connection.receive_data(await self.reader.read(MOST_HEAD_BYTES))
        return event if isinstance(event, h11.Request) else None

    async def _send_body(self, body: Body) -> None:
        headers = [("Content-Type", TYPES[body.kind.format]), ("Connection", "close"), ("Cache-Control", "no-store")]
        if body.is_whole:
            data = body.whole()
            await self._send(h11.Response(status_code=200, headers=[*headers, ("Content-Length", str(len(data)))]))
            await self._send(h11.Data(data=data))
        else:
            await self._send(h11.Response(status_code=200, headers=headers))
            async for piece in body.pieces():
                await self._send(h11.Data(data=piece))
        if not body.is_cut:
            await self._send(h11.EndOfMessage())
            self.writer.close()
            await self._until(self.writer.wait_closed())

    async def _send(self, event: h11.Event) -> None:
        if data := self.connection.send(event):
            self.writer.write(data)
            await self._until(self.writer.drain())

    async def _until(self, waiting: Awaitable[T]) -> T:
        async with asyncio.timeout(STALLED_SECONDS):
            return await waiting
