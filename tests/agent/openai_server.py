"""A real local HTTP server that speaks OpenAI's chat completions, and Ollama's, by a script; it keeps its requests."""

import asyncio
import json
import re
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from tests.agent import ollama_wire
from tests.agent.openai_rules import complaint
from tests.agent.openai_script import (
    DONE,
    Gate,
    Reset,
    Scripted,
    ScriptedCall,
    Stall,
    call,
    calls,
    chunk,
    error,
    reply,
    stream,
    text,
    usage,
)

__all__ = [
    "Gate",
    "OpenAiServer",
    "Recorded",
    "Scripted",
    "ScriptedCall",
    "call",
    "calls",
    "chunk",
    "error",
    "reply",
    "stream",
    "text",
]

BYTES_PER_TOKEN = 4
"""What the server counts as a token, for its usage figures."""


class Recorded(Struct, frozen=True):
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    """The body, byte for byte."""
    connection: int
    """Which connection it came on, counted from 1."""

    @property
    def json(self) -> dict[str, Any]:
        """The body."""
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a chat request."""
        listed: list[dict[str, Any]] = self.json["messages"]
        return listed

    @property
    def raw_messages(self) -> bytes:
        """The bytes of the messages' array without its closing bracket: what a longer list must start with."""
        body = self.raw.decode()
        found = re.search(r'"messages":\s*', body)
        assert found is not None, "a chat request has messages"
        _, end = json.JSONDecoder().raw_decode(body, found.end())
        return body[found.end() : end - 1].encode()


Page = Callable[[Recorded], Mapping[str, Any] | Scripted] | Mapping[str, Any] | Scripted


class OpenAiServer:
    """`async with OpenAiServer() as server: server.enqueue(reply("Hello there.")); … server.requests`.

    Each chat request takes the next answer from the queue; with none left `default` is asked, and without one the
    request fails. A request that breaks OpenAI's rules is answered with 400, and leaving the block then raises
    AssertionError (unless the test cleared `complaints`). A client that hangs up ends the answer.
    """

    def __init__(self, *, api_key: str = "", pages: Mapping[str, Page] | None = None) -> None:
        self.requests: list[Recorded] = []
        """Chat requests in the order they came."""
        self.others: list[Recorded] = []
        """All other requests."""
        self.complaints: list[str] = []
        self.default: Callable[[Recorded], Scripted] | None = None
        self.hung_up = asyncio.Event()
        """Set when a client closed the connection during an answer."""
        self.connections = 0
        self._key = api_key
        self.pages: dict[str, Page] = {"/v1/models": {"object": "list", "data": [{"id": "m", "object": "model"}]}}
        self.pages.update(pages or {})
        self._answers: deque[Scripted] = deque()
        self._handlers: set[asyncio.Task[None]] = set()
        self._is_timed_out = False
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The base URL, as `OpenAiCompatibleModel` takes it."""
        return f"http://127.0.0.1:{self.port}/v1"

    def close_at_next_request(self) -> None:
        """Close the connection on which the next request comes: an idle one that timed out at that moment."""
        self._is_timed_out = True

    def enqueue(self, *answers: Scripted) -> None:
        """Append answers, one for each coming chat request."""
        self._answers.extend(answers)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if kind is None and self.complaints:
            raise AssertionError(f"the server was sent illegal requests: {self.complaints}")

    async def stop(self) -> None:
        """Close the port and every connection, as a killed server does."""
        if self._server is not None:
            self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.current_task()
        assert handler is not None
        self._handlers.add(handler)
        self.connections += 1
        number = self.connections
        ahead = b""
        try:
            while (request := await _read_request(reader, ahead, number)) is not None:
                if self._is_timed_out:
                    self._is_timed_out = False
                    break
                is_whole, ahead = await self._answer(request, reader, writer)
                if not is_whole:
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass  # the end of a connection, however it comes
        finally:
            self._handlers.discard(handler)
            writer.transport.abort()

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[bool, bytes]:
        """Send the answer; return whether the connection can carry another, and what was already read of the next."""
        if request.path.endswith("/chat/completions") and request.path not in self.pages:
            self.requests.append(request)
            scripted = self._next_answer(request)
        elif request.path == "/api/chat":
            self.requests.append(request)
            scripted = self._native_answer(request)
        else:
            self.others.append(request)
            scripted = self._page(request)
        async with asyncio.TaskGroup() as both:
            sending = both.create_task(_send(scripted, writer))
            watching = both.create_task(self._watch(reader, sending))
            sending.add_done_callback(lambda _: watching.cancel())
        ahead = b"" if watching.cancelled() else watching.result()
        return not sending.cancelled() and sending.result(), ahead

    async def _watch(self, reader: asyncio.StreamReader, sending: asyncio.Task[bool]) -> bytes:
        """Stop sending when the client hangs up; return the first byte of its next request if that comes early."""
        first = await reader.read(1)
        if not first:
            sending.cancel()
            self.hung_up.set()
        return first

    def _native_answer(self, request: Recorded) -> Scripted:
        """Answer in Ollama's own protocol, from the same script."""
        if wrong := ollama_wire.complaint(request.json):
            self.complaints.append(wrong)
            return ollama_wire.native_error(400, wrong)
        body = json.dumps(ollama_wire.in_openai_words(request.json)).encode()
        return ollama_wire.as_native(self._next_answer(replace(request, raw=body)))

    def _next_answer(self, request: Recorded) -> Scripted:
        if self._key and request.headers.get("authorization") != f"Bearer {self._key}":
            return error(401, "Incorrect API key provided.")
        if wrong := complaint(request.json):
            self.complaints.append(wrong)
            return error(400, wrong)
        if self._answers:
            scripted = self._answers.popleft()
        elif self.default is not None:
            scripted = self.default(request)
        else:
            return error(500, "the test enqueued no answer for this request")
        return self._counted(scripted, request)

    def _counted(self, scripted: Scripted, request: Recorded) -> Scripted:
        """Add the usage chunk if it was asked for, with what a cache of exact prefixes would have spared."""
        options = request.json.get("stream_options") or {}
        if not options.get("include_usage") or DONE not in scripted.steps:
            return scripted
        spared = max((_common(request.raw_messages, old.raw_messages) for old in self.requests[:-1]), default=0)
        length = len(request.raw_messages)
        counted = usage(length // BYTES_PER_TOKEN, spared // BYTES_PER_TOKEN, len(scripted.steps))
        return Scripted([*scripted.steps[:-1], counted, DONE], scripted.status, scripted.headers)

    def _page(self, request: Recorded) -> Scripted:
        page = self.pages.get(request.path)
        if page is None:
            return error(404, f"no page {request.path}")
        body = page(request) if callable(page) else page
        if isinstance(body, Scripted):
            return body
        return Scripted((json.dumps(body).encode(),), headers={"Content-Type": "application/json"})


async def _read_request(reader: asyncio.StreamReader, ahead: bytes, number: int) -> Recorded | None:
    try:
        head = (ahead + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method, path, headers, raw, number)


async def _send(scripted: Scripted, writer: asyncio.StreamWriter) -> bool:
    """Send the answer in HTTP chunks; return False where the script breaks the connection."""
    lines = [f"HTTP/1.1 {scripted.status} {'OK' if scripted.status == 200 else 'Error'}"]
    lines += [f"{name}: {value}" for name, value in scripted.headers.items()]
    writer.write("\r\n".join([*lines, "Transfer-Encoding: chunked", "\r\n"]).encode())
    try:
        for step in scripted.steps:
            if isinstance(step, bytes):
                writer.write(b"%x\r\n%b\r\n" % (len(step), step))
                await writer.drain()
            elif isinstance(step, Gate):
                await step.passed()
            elif isinstance(step, Stall):
                await asyncio.Event().wait()
            else:
                _close(writer, step)
                return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    except ConnectionError:
        return False
    return True


def _close(writer: asyncio.StreamWriter, how: Reset) -> None:
    if how.is_hard:
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _common(one: bytes, other: bytes) -> int:
    """Length of the common prefix."""
    limit = min(len(one), len(other))
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
