"""A server of pages on loopback, with every way in which a stranger's can answer badly."""

import asyncio
import json
import ssl
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct, field

from agent.web.guard import Guard

Ending = Literal["whole", "hangs", "breaks off"]


class Asked(Struct, frozen=True):
    """A request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Answer(Struct, frozen=True):
    """An answer; `pieces` may be without end."""

    pieces: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html"})
    ending: Ending = "whole"
    gate: asyncio.Event | None = None
    """What has to be set before it comes."""
    length: int | None = None
    """What it claims to have; None is as much as there is, or in chunks where there are pieces."""


def page(words: str, **more: Any) -> Answer:
    """Return an article with these words."""
    told = f"<html><head><title>A page</title></head><body><article><p>{words}</p></article></body></html>"
    return Answer(told.encode(), **more)


def json_answer(told: object, status: int = 200, **headers: str) -> Answer:
    """Return a service's answer."""
    return Answer(json.dumps(told).encode(), status, {"Content-Type": "application/json", **headers})


def towards(url: str, status: int = 302) -> Answer:
    """Return a redirect."""
    return Answer(b"moved", status, {"Location": url})


Pages = dict[str, Answer | Callable[[Asked], Answer]]


class WebServer:
    """`async with WebServer({"/": page("hello")}) as server: … server.asked`; a page that is not there is a 404."""

    def __init__(self, pages: Pages | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.pages: Pages = pages or {}
        self.host, self.port = host, port
        self.asked: list[Asked] = []
        self.connections = 0
        self.sent = 0
        """Bytes of bodies, which the other side may not have taken."""
        self.tls: ssl.SSLContext | None = None
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def guard(self, **names: str) -> Guard:
        """Return a guard that lets this server pass, and knows these names of addresses, and no others."""
        return Guard(Names(names), lambda _: "", allowed=[(self.host, self.port)])

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        for _ in range(20):  # the loop closes the generators of an answer that was not read to its end
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.current_task()
        assert handler is not None
        self._handlers.add(handler)
        self.connections += 1
        try:
            asked = await _asked(reader)
            self.asked.append(asked)
            found = self.pages.get(asked.path, Answer(b"not here", 404))
            await self._send(found(asked) if callable(found) else found, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the end of a connection, however it comes
        finally:
            self._handlers.discard(handler)
            writer.transport.abort() if self.tls is None else writer.close()

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        if answer.gate is not None:
            await answer.gate.wait()
        whole = isinstance(answer.pieces, bytes)
        length = len(answer.pieces) if isinstance(answer.pieces, bytes) else None
        lines = [f"HTTP/1.1 {answer.status} Told", *(f"{name}: {value}" for name, value in answer.headers.items())]
        is_chunked = not whole and answer.length is None
        lines += ["Transfer-Encoding: chunked"] if is_chunked else [f"Content-Length: {answer.length or length}"]
        writer.write("\r\n".join([*lines, "Connection: close", "\r\n"]).encode())
        for piece in [answer.pieces] if isinstance(answer.pieces, bytes) else answer.pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            await writer.drain()
            self.sent += len(piece)
        if answer.ending == "hangs":
            await asyncio.Event().wait()
        if is_chunked and answer.ending == "whole":
            writer.write(b"0\r\n\r\n")
        await writer.drain()


class Names:
    """A name server: gives a name's addresses, the next ones each time it is asked; the last ones stay."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Addresses are separated by spaces, and answers by "then"."""
        self._answers = {name.replace("_", "."): told.split(" then ") for name, told in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host not in self._answers:
            return [host.strip("[]")]  # an address is its own
        told = self._answers[host]
        return (told.pop(0) if len(told) > 1 else told[0]).split()


async def _asked(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Asked(method, parts.path, dict(parse_qsl(parts.query)), headers, body)
