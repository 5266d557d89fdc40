"""A server of one ICS file on loopback, with the faults that real ones have."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

PART = b"x" * 65_536


@dataclass
class IcsServer:
    """What it answers with; each may be set anew."""

    url: str = ""
    body: bytes = b""
    status: str = "200 OK"
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = ""
    """Answered with 304 to who shows it."""
    pages: Mapping[str, tuple[str, Mapping[str, str], str]] = field(default_factory=dict)
    """Status, headers and body by path; of every other path what stands above."""
    fault: str = ""
    """`hang`, `close`, `drip`, `endless`, `garbage`."""
    asked: list[str] = field(default_factory=list)
    """The first line of each request."""
    shown: list[str] = field(default_factory=list)
    """How each of them said who asks."""
    connections: "list[asyncio.Transport]" = field(default_factory=list)

    def answer(self, request: str) -> bytes:
        """Return the whole answer to the head of a request."""
        self.asked.append(request.partition("\r\n")[0])
        self.shown += [line.partition(": ")[2] for line in request.split("\r\n") if line.startswith("Authorization: ")]
        if page := self.pages.get(request.split(" ")[1]):
            status, headers, body = page
            return _told(status, headers, body.encode())
        if self.etag and f"If-None-Match: {self.etag}".lower() in request.lower():
            return b"HTTP/1.1 304 Not Modified\r\n\r\n"
        return _told(self.status, {**self.headers, **({"ETag": self.etag} if self.etag else {})}, self.body)


def _told(status: str, headers: Mapping[str, str], body: bytes) -> bytes:
    told = {**headers, "Content-Length": str(len(body))}
    head = "\r\n".join((f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in told.items())))
    return f"{head}\r\n\r\n".encode() + body


FAULTS = {
    "hang": b"",
    "garbage": b"\x00\xff not HTTP\r\n\r\n",
    "close": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf",
    "drip": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf",
    "endless": b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n",
}


class _Connection(asyncio.Protocol):
    def __init__(self, server: IcsServer) -> None:
        self._server = server
        self._heard = b""
        self._is_full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections.append(transport)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, end, body = self._heard.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        if not end or len(body) < length:
            return
        self._heard = b""
        answer = self._server.answer(head.decode())
        self._transport.write(FAULTS.get(self._server.fault, answer))
        if self._server.fault in {"close", "garbage"}:
            self._transport.close()
        if self._server.fault == "endless":
            self.resume_writing()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        while not self._is_full and not self._transport.is_closing():
            self._transport.write(PART)


@asynccontextmanager
async def ics_server(text: str = "") -> AsyncIterator[IcsServer]:
    """Serve a file; whoever hangs there is let go at the end."""
    found = IcsServer(body=text.encode())
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(found), "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/calendar.ics"
    try:
        yield found
    finally:
        server.close()
        for connection in found.connections:
            connection.abort()
        await server.wait_closed()
