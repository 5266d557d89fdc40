"""The HTTP client that reaches an MCP server: its key, no proxy of the environment, and answers of bounded size."""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

from agent.errors import ServerLost
from agent.tools.mcp.server import Server

MOST_BYTES: Final = 4_000_000
"""Of an answer in JSON; events of a stream have a bound in the library (1 MB)."""

CONNECT_SECONDS: Final = 10.0
"""To connect, and to send; an answer may take as long as its call may."""

GOODBYE_SECONDS: Final = 1.0
"""For an answer to our goodbye: a frozen server gives none, and nothing else ends the wait for it."""

_JSON: Final = "application/json"


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
        event_hooks={"request": [_hurry], "response": [_refused, _bound]},
    )


async def _hurry(request: httpx2.Request) -> None:
    """Wait for no answer to a goodbye as long as for one to a call."""
    if request.method == "DELETE":
        timeout = httpx2.Timeout(GOODBYE_SECONDS)
        request.extensions = {**request.extensions, "timeout": timeout.as_dict()}


async def _refused(response: httpx2.Response) -> None:
    """End the connection where the server does not let us in; the library would tell an error like any other."""
    if response.status_code in (401, 403):
        raise ServerLost("it does not let us in: correct the key that `api_key_env` names")


async def _bound(response: httpx2.Response) -> None:
    """Bound what is read of an answer; a packed one could unpack to anything."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise ServerLost("it packs its answers, which nobody asked for")
    if response.headers.get("Content-Type", "").startswith(_JSON) and isinstance(
        response.stream, httpx2.AsyncByteStream
    ):
        response.stream = _Bounded(response.stream)
