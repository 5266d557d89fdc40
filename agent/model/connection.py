"""The connection to one model server: kept open, read within bounds, its failures in words."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

import httpx

from agent.errors import ModelError
from agent.model.faults import broken, insecure, is_page, moved, page, refused, unreachable
from memory.json_value import Json, parse_json
from memory.trust import trust_for

KEEP_ALIVE = 120.0
"""Seconds an idle connection is kept; longer and a router on the way may have forgotten it."""

LAST_BYTES = 0.2
"""Seconds to wait after an answer for the end of its body; it usually comes in the same packet."""

MAX_ERROR_BODY = 64 * 1024
"""Bytes of an error's body that are read."""

MOST_REDIRECTS = 3
"""Times that a request is sent on within one server."""

MAX_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer, thinking and keep-alives included; the longest that a model gives come to a few MB."""


class Connection:
    """Posts to one server over one kept connection. Opened at the first use; may be closed twice."""

    def __init__(self, name: str, root: str, key: str = "", connect_seconds: float = 3.0) -> None:
        """`name` is the model's, for the sentences; `root` is what every path is below."""
        self.root = root.rstrip("/")
        self._name = name
        self._key = key
        self._connect_seconds = connect_seconds
        self._client: httpx.AsyncClient | None = None

    async def post(self, path: str, body: bytes) -> httpx.Response:
        """Return the answer to a request, its body still to be read and closed. Raises `ModelError`."""
        response = await self._sent_on(f"{self.root}{path}", body)
        if response.is_success:
            return response
        if response.has_redirect_location:
            await response.aclose()
            raise moved(self._name, response.headers["location"].removesuffix(path))
        retry_after = response.headers.get("retry-after", "")
        raise refused(self._name, response.status_code, await _error_body(response), retry_after, self._key)

    async def spend(self, path: str, body: bytes, seconds: float) -> None:
        """Post and throw the answer away. Never raises."""
        with suppress(httpx.HTTPError, httpx.InvalidURL):
            await self._opened().post(f"{self.root}{path}", content=body, timeout=seconds)

    async def look(self, url: str, body: Json = None) -> Json:
        """Return what a page of the server says, asked with a body by POST; None where it says nothing. Never raises.

        `url` is whole, since what a server says of itself may stand beside its API.
        """
        try:
            answer = await self._looked(url, body)
            said: Json = parse_json(answer.content) if answer.status_code == 200 else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):
            return None
        return said

    async def is_reachable(self, url: str) -> bool:
        """Whether a server is there that takes requests, by a page that costs nothing. Never raises."""
        try:
            answer = await self._looked(url)
        except (httpx.HTTPError, httpx.InvalidURL):
            return False
        return answer.status_code not in {401, 403, 429} and answer.status_code < 500

    async def pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes. Raises `ModelUnavailable` when it breaks off or does not end."""
        length, pieces = 0, response.aiter_bytes()
        try:
            async for piece in pieces:
                if (length := length + len(piece)) > MAX_ANSWER:
                    raise broken(self._name, "does not end")
                yield piece
        except httpx.HTTPError as error:
            raise broken(self._name, "broke off") from error
        finally:
            await _end(response, pieces)

    async def aclose(self) -> None:
        """Close it."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx.AsyncClient(
                headers={"Content-Type": "application/json", "Accept": "text/event-stream", **headers},
                timeout=httpx.Timeout(None, connect=self._connect_seconds),
                limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
                verify=trust_for(self.root),
                # What the environment says of proxies must not send the words of a local configuration elsewhere.
                trust_env=False,
            )
        return self._client

    async def _looked(self, url: str, body: Json = None) -> httpx.Response:
        request = self._opened().build_request("GET" if body is None else "POST", url, json=body)
        request.extensions["timeout"] = httpx.Timeout(self._connect_seconds).as_dict()
        return await self._opened().send(request)

    async def _sent_on(self, url: str, body: bytes) -> httpx.Response:
        """Post, and post again where the same server says the place is another; nobody else is sent the key."""
        for _ in range(MOST_REDIRECTS):
            response = await self._send(url, body)
            if not response.has_redirect_location:
                return response
            try:
                there = response.url.join(response.headers["location"])
            except httpx.InvalidURL:
                return response
            if not _is_same_server(response.url, there):
                return response
            await response.aclose()
            url = str(there)
        return await self._send(url, body)

    async def _send(self, url: str, body: bytes) -> httpx.Response:
        client = self._opened()
        try:
            try:
                return await client.send(client.build_request("POST", url, content=body), stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                # A kept connection that the server closed at this moment; a new one shows whether it is more.
                return await client.send(client.build_request("POST", url, content=body), stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if unsafe := insecure(self._name, self.root, error):
                raise unsafe from error
            is_absent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.InvalidURL)
            raise unreachable(self._name, self.root, is_absent=is_absent) from error


def _is_same_server(here: httpx.URL, there: httpx.URL) -> bool:
    """Whether an address is on the same server, or is the same in TLS."""
    if here.host != there.host:
        return False
    is_same = (here.scheme, here.port) == (there.scheme, there.port)
    return is_same or (here.scheme, there.scheme, here.port, there.port) == ("http", "https", None, None)


async def drain(pieces: AsyncIterator[object]) -> None:
    """Read a body to its end, without which the connection could not carry the next call."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(LAST_BYTES):
            async for _ in pieces:
                pass


def parsed(name: str, data: str | bytes) -> dict[str, Json]:
    """Return one object of a stream, bytes that are no UTF-8 as U+FFFD. Raises `ModelUnavailable` for anything else."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    try:
        chunk = parse_json(text)
    except ValueError as error:
        if is_page(text):
            raise page(name, text) from error
        raise broken(name, "is not the stream of a chat") from error
    if not isinstance(chunk, dict):
        raise broken(name, "is not the stream of a chat")
    return chunk


async def _error_body(response: httpx.Response) -> bytes:
    """Return the beginning of an error's body, as much of it as came."""
    body = b""
    pieces = response.aiter_bytes()
    with suppress(httpx.HTTPError):
        async for piece in pieces:
            body += piece
            if len(body) > MAX_ERROR_BODY:
                break
    await _end(response, pieces)
    return body


async def _end(response: httpx.Response, pieces: AsyncIterator[bytes]) -> None:
    """Close the response, then read on until that shows.

    httpx reads through several generators; one that is dropped half way is ended later, by a task nobody waits for.
    """
    await response.aclose()
    with suppress(httpx.HTTPError):
        async for _ in pieces:
            pass
