"""The one adapter to the official MCP client: a connection to a server, its tools and its calls."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Final, cast

import anyio
import httpx2
from mcp.client import Client, IncomingMessage, Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
    ToolListChangedNotification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agent.errors import KeyRefused, ServerLost, ToolFailed
from agent.tools.mcp.answer import listing_of, said_in, said_of_resources
from agent.tools.mcp.schema import plain
from agent.tools.mcp.server import READ_RESOURCE, Offered, Said, Server
from agent.tools.mcp.stdio import running
from agent.tools.tool import from_outside
from memory.json_value import Json
from memory.trust import tls_fault, trust_for

MOST_PAGES: Final = 20
"""Of a list of tools; a list may go on for ever."""

MOST_OFFERED: Final = 1_000
"""Tools of a list that are looked at."""

AGAIN_SECONDS: Final = 60.0
"""Until changes are subscribed to again, where the subscription ended."""

US: Final = Implementation(name="nakari", version="1")

_CLOSED: Final = "Connection closed"
"""What the library says then; the code alone is any error of a server's in JSON-RPC 2.0."""

_REASON: Final = 300
"""Characters of what a server says about an error."""

MOST_BYTES: Final = 4_000_000
"""Of an answer in JSON; events of a stream have a bound in the library (1 MB)."""

CONNECT_SECONDS: Final = 10.0
"""To connect, and to send; an answer may take as long as its call may."""

GOODBYE_SECONDS: Final = 1.0
"""For an answer to our goodbye: a frozen server gives none, and nothing else ends the wait for it."""

_JSON: Final = "application/json"


class Connection:
    """An open connection; to be used while `connected` has not ended. Calls may come from any task."""

    def __init__(self, server: Server, client: Client, news: asyncio.Event) -> None:
        self._server = server
        self._client = client
        self._news = news
        self._has_resources = False

    def look(self) -> None:
        """Ask for a look at the server: it may be gone, or have other tools."""
        self._news.set()

    async def news(self, seconds: float) -> None:
        """Wait until there is a reason to look at the server, so many seconds at most."""
        with anyio.move_on_after(seconds):
            await self._news.wait()
        self._news.clear()

    async def tools(self, seconds: float) -> list[Offered]:
        """Return the tools it has now, in its order; raises `ServerLost` when a page of them takes longer."""
        found: list[Offered] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            with anyio.move_on_after(seconds) as waited:
                page = await self._client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            if waited.cancelled_caught:
                raise ServerLost(f"it did not tell its tools within {seconds:g} s")
            found += [
                Offered(
                    tool.name,
                    tool.description or "",
                    tool.input_schema,
                    bool(tool.annotations and tool.annotations.read_only_hint),
                )
                for tool in page.tools[: MOST_OFFERED - len(found)]
            ]
            cursor = page.next_cursor
            if cursor is None:
                break
        is_taken = any(tool.name == READ_RESOURCE.name for tool in found)
        self._has_resources = not is_taken and await self._lists_resources(seconds)
        return [*found, READ_RESOURCE] if self._has_resources else found

    async def _lists_resources(self, seconds: float) -> bool:
        """Whether it has anything to be read; one that does not say so in time, or breaks the protocol, has nothing."""
        if self._client.server_capabilities.resources is None:
            return False
        with suppress(MCPError, ValidationError), anyio.move_on_after(seconds):
            return bool((await self._client.session.list_resources()).resources)
        return False

    async def call(self, tool: str, arguments: dict[str, Json]) -> Said:
        """Call a tool, by the server's name of it, and return what it said, marked as a stranger's words.

        Its result is not held against the schema that the server gives of it: words for a model need none, and a
        hostile one could hold us up. Being cancelled tells the server. Raises `ToolFailed`.
        """
        try:
            said, is_error = await self._asked(tool, arguments)
        except MCPError as error:
            self.look()
            raise ToolFailed(self._why(tool, error)) from error
        except ValidationError as error:
            raise ToolFailed(f"{self._server.name} gave an answer that breaks its protocol") from error
        told = from_outside(said.words, self._server.name)
        if is_error:
            raise ToolFailed(told)
        return Said(told, said.images)

    async def _asked(self, tool: str, arguments: dict[str, Json]) -> tuple[Said, bool]:
        """Return what a call gave, and whether that is an error. Raises `MCPError`, `ValidationError`."""
        session, seconds = self._client.session, self._server.timeout
        if not (self._has_resources and tool == READ_RESOURCE.name):
            call = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
            result = await session.send_request(call, CallToolResult, request_read_timeout_seconds=seconds)
            return said_in(result), result.is_error
        if address := str(arguments.get("uri") or ""):
            read = ReadResourceRequest(params=ReadResourceRequestParams(uri=address))
            found = await session.send_request(read, ReadResourceResult, request_read_timeout_seconds=seconds)
            return said_of_resources(found), False
        return Said(listing_of((await session.list_resources()).resources)), False

    async def follow(self) -> None:
        """Hear of changes as long as it tells them, on connections that have to subscribe to them."""
        while self._client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            try:
                async with self._client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self.look()
            except (MCPError, SubscriptionLost, TimeoutError):
                pass  # a look tells whether the server is gone, or only does not do this
            self.look()
            await anyio.sleep(AGAIN_SECONDS)

    def _why(self, tool: str, error: MCPError) -> str:
        name = self._server.name
        if error.code == CONNECTION_CLOSED and error.message == _CLOSED:
            return f"{name} went away before it answered; look whether {tool} took effect before you repeat it"
        if error.code == REQUEST_TIMEOUT:
            return f"{name} did not answer within {self._server.timeout:g} s, and was told to stop"
        return f"{name} refused: {plain(error.message, _REASON)}"


@asynccontextmanager
async def connected(server: Server, say: Callable[[str], None], seconds: float) -> AsyncGenerator[Connection]:
    """Connect to a server, with so many seconds for its answers; `say` is given what its program says to people.

    To be entered and left in one task, which is cancelled inside when the connection breaks. Raises `ServerLost` with
    the reason, for a person, when it cannot be reached, breaks the protocol or goes away; nothing else that a server
    can bring about.
    """
    news = asyncio.Event()

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            news.set()

    try:
        async with AsyncExitStack() as parts:
            transport: Transport
            if server.command:
                transport = running(server, say)
            else:
                http = await asyncio.to_thread(client_for, server)  # which reads certificates
                await parts.enter_async_context(http)
                transport = streamable_http_client(server.url, http_client=http)
            client = Client(transport, read_timeout_seconds=seconds, message_handler=heard, client_info=US, cache=None)
            connection = Connection(server, await parts.enter_async_context(client), news)
            async with anyio.create_task_group() as group:
                group.start_soon(connection.follow)
                yield connection
                group.cancel_scope.cancel()
    except Exception as error:  # whatever a stranger brought about in four libraries: it costs this connection only
        lost = KeyRefused if any(isinstance(leaf, KeyRefused) for leaf in _leaves(error)) else ServerLost
        raise lost(reason_of(server, error)) from error


def reason_of(server: Server, error: BaseException) -> str:
    """Return why a connection ended, as the rest of a sentence that begins with the server's name."""
    leaves = list(_leaves(error))
    cause = next((leaf for leaf in leaves if isinstance(leaf, ServerLost)), leaves[0])
    match cause:
        case ServerLost():
            return str(cause)
        case MCPError():
            is_late = cause.code == REQUEST_TIMEOUT
            return "it did not answer in time" if is_late else f"it answered: {plain(cause.message, _REASON)}"
        case httpx2.TransportError():
            fault = tls_fault(cause)
            return (
                f"it {fault[0]}: {fault[1]}" if fault else f"nothing answers at {server.url} ({type(cause).__name__})"
            )
        case ValidationError():
            first = cause.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            return plain(f"it breaks the protocol ({first['msg']}: {place})", _REASON)
        case OSError():
            return f"it cannot be started: {cause.strerror or cause}"
        case _:
            return plain(f"{type(cause).__name__}: {cause}", _REASON)


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for member in group.exceptions for leaf in _leaves(member)]
    return [error]


class TooLong(httpx2.StreamError):
    """An answer went on past `MOST_BYTES`."""

    def __init__(self) -> None:
        super().__init__(f"its answer has more than {MOST_BYTES // 1_000_000} MB")


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._stream:
            length += len(part)
            if length > MOST_BYTES:
                raise TooLong
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def client_for(server: Server) -> httpx2.AsyncClient:
    """Return a client for one server; closing it is its owner's business."""
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {server.key}"} if server.key else {})
    return httpx2.AsyncClient(
        headers=headers,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        trust_env=False,
        verify=trust_for(server.url),
        event_hooks={"request": [_hurry], "response": [partial(_refused, server), _bound]},
    )


async def _hurry(request: httpx2.Request) -> None:
    """Wait for no answer to a goodbye as long as for one to a call."""
    if request.method == "DELETE":
        timeout = httpx2.Timeout(GOODBYE_SECONDS)
        request.extensions = {**request.extensions, "timeout": timeout.as_dict()}


async def _refused(server: Server, response: httpx2.Response) -> None:
    """End the connection where the server does not let us in; the library would tell an error like any other."""
    if response.status_code in (401, 403):
        raise KeyRefused(f"it does not let us in: {server.key_fix}")
    if response.status_code == 404 and server.absent:
        raise ServerLost(server.absent)


async def _bound(response: httpx2.Response) -> None:
    """Bound what is read of an answer; a packed one could unpack to anything."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise ServerLost("it packs its answers, which nobody asked for")
    if response.headers.get("Content-Type", "").startswith(_JSON) and isinstance(
        response.stream, httpx2.AsyncByteStream
    ):
        response.stream = _Bounded(response.stream)
