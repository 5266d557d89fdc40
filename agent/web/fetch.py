"""Fetches from strangers: bounded in bytes, also unpacked, and in time; redirects are judged as first addresses are."""

import asyncio
import json
import re
import zlib
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from msgspec import Struct

from agent.errors import ToolFailed
from agent.web.guard import Guard
from memory.json_value import Json

if TYPE_CHECKING:
    import httpx

_MEDIA_TYPE: Final = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,80}", re.ASCII)

MOST_REDIRECTS: Final = 5
LONGEST_ADDRESS: Final = 2_048
"""Characters."""

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

PATIENCE: Final = {"connect": 4.0, "read": 8.0, "write": 4.0, "pool": 4.0}
"""Seconds for each step; `seconds` is the limit of the whole."""

HEADERS: Final = {"Accept-Encoding": "gzip, deflate"}
"""What can be unpacked piece by piece within a limit by the standard library."""


class Bounds(Struct, frozen=True):
    """What one answer may take."""

    seconds: float
    """From the first name that is looked up to the last byte, redirects included."""
    most: int
    """Bytes, on the wire and unpacked; the rest is not read."""


PAGE: Final = Bounds(12.0, 2_000_000)
SERVICE: Final = Bounds(8.0, 1_000_000)


class Fetched(Struct, frozen=True):
    """An answer."""

    url: str
    """Where it came from in the end."""
    status: int
    media_type: str
    """In small letters and without parameters; "" where it was not told."""
    charset: str
    """As the server called it, which may be nonsense; "" where it was not told."""
    body: bytes
    is_cut: bool
    """Whether there was more of it."""
    retry_after: str = ""


class Fetcher:
    """Fetches pages and asks services; who it is it says as `agent`, and nothing else of this machine."""

    def __init__(self, agent: str, guard: Guard | None, bounds: Bounds) -> None:
        """Without a guard anything may be connected to that the owner has configured, and no redirect is followed."""
        self._headers = {**HEADERS, "User-Agent": agent}
        self._guard = guard
        self._bounds = bounds
        self._transport: httpx.AsyncBaseTransport | None = None

    async def page(self, address: str) -> Fetched:
        """Return a page, at the end of its redirects. Raises `ToolFailed`."""
        import httpx

        headers = {"Accept": "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.1"}
        try:
            async with asyncio.timeout(self._bounds.seconds):
                for _ in range(MOST_REDIRECTS + 1):
                    url = judged(address)
                    answer, towards = await self._answer(url.host, httpx.Request("GET", url, headers=headers))
                    if not towards:
                        return answer
                    address = _joined(url, towards)
        except TimeoutError as error:
            raise ToolFailed(f"the page did not come whole within {self._bounds.seconds:g} s") from error
        raise ToolFailed(f"the address leads on more than {MOST_REDIRECTS} times; it was given up")

    async def ask(
        self, name: str, url: str, params: Mapping[str, str], headers: Mapping[str, str], body: Json = None
    ) -> Fetched:
        """Return what a service answers to a GET, or to a POST where there is a body. Raises `ToolFailed`."""
        import httpx

        content = b"" if body is None else json.dumps(body).encode()
        told = {"Accept": "application/json", **({"Content-Type": "application/json"} if content else {}), **headers}
        address = f"{url}?{urlencode(params)}" if params else url
        request = httpx.Request("POST" if content else "GET", address, headers=told, content=content)
        try:
            async with asyncio.timeout(self._bounds.seconds):
                return (await self._answer(name, request))[0]
        except TimeoutError as error:
            raise ToolFailed(f"{name} did not answer within {self._bounds.seconds:g} s; try again later") from error

    async def _answer(self, who: str, request: "httpx.Request") -> tuple[Fetched, str]:
        """Return an answer, and where it leads on to; of one that does, the body is not read."""
        import httpx

        request.headers.update(self._headers)
        request.extensions = {"timeout": PATIENCE}
        try:
            response = await (await self._opened()).handle_async_request(request)
            async with aclosing(response):
                towards = response.headers.get("location", "") if response.status_code in REDIRECTS else ""
                body, is_cut = (b"", False) if towards else await _read(response, self._bounds.most)
        except httpx.TimeoutException as error:
            raise ToolFailed(f"{who} did not answer in time") from error
        except (httpx.ConnectError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ToolFailed(f"{who} cannot be reached") from error
        except httpx.TransportError as error:
            raise ToolFailed(f"{who} broke off in the middle of its answer, or does not speak HTTP") from error
        except zlib.error as error:
            raise ToolFailed(f"{who} sent something that cannot be unpacked") from error
        kind, charset = _content_type(response.headers.get("content-type", ""))
        later = response.headers.get("retry-after", "")
        return Fetched(str(request.url), response.status_code, kind, charset, body, is_cut, later[:40]), towards

    async def _opened(self) -> "httpx.AsyncBaseTransport":
        from agent.web.transport import GuardedTransport

        if self._transport is None:  # in a thread: it reads the certificates of all authorities
            self._transport = await asyncio.to_thread(GuardedTransport, self._guard)
        return self._transport


def judged(address: str) -> "httpx.URL":
    """Return a whole address of a page. Raises `ToolFailed` for what is none."""
    import httpx

    address = address.strip()
    try:
        url = httpx.URL(address)
        scheme, is_login, host, port = url.scheme, bool(url.userinfo), url.host, url.port or 0
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise ToolFailed("that is no address of a page") from error
    if scheme not in ("http", "https"):
        raise ToolFailed("refused: only addresses that begin with http:// or https:// are read")
    if is_login:
        raise ToolFailed("refused: an address with a user or a password in it is not opened")
    if not host or port > 65_535 or len(address) > LONGEST_ADDRESS:
        raise ToolFailed("that is no address of a page")
    return url.copy_with(fragment=None)


def _joined(url: "httpx.URL", towards: str) -> str:
    import httpx

    try:
        return str(url.join(towards))
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise ToolFailed("the address leads on to something that is none") from error


async def _read(response: "httpx.Response", most: int) -> tuple[bytes, bool]:
    """Return the body, unpacked, and whether there was more than `most` bytes of it, packed or unpacked."""
    unpack = _Unpacking(response.headers.get("content-encoding", "").strip().lower())
    body, came = bytearray(), 0
    async for piece in response.aiter_raw():
        came += len(piece)
        body += unpack(piece, most - len(body) + 1)
        if max(came, len(body)) > most:
            return bytes(body[:most]), True
    return bytes(body), False


class _Unpacking:
    """Unpacks piece by piece, and never more than it is asked for: a few bytes may hold gigabytes."""

    def __init__(self, encoding: str) -> None:
        """Raise `ToolFailed` for an encoding that was not asked for."""
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ToolFailed("the answer is packed in a way that was not asked for")
        self._is_plain = encoding in ("", "identity")
        self._may_be_raw = encoding == "deflate"  # which some servers send without the head that the name stands for
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def __call__(self, piece: bytes, most: int) -> bytes:
        if self._is_plain:
            return piece[:most]
        try:
            return self._inflate.decompress(piece, most)
        except zlib.error:
            if not self._may_be_raw:
                raise
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inflate.decompress(piece, most)
        finally:
            self._may_be_raw = False


def _content_type(told: str) -> tuple[str, str]:
    """Return the media type and the charset in small letters; each "" where there is none, or no such word."""
    kind, _, parameters = told.lower().partition(";")
    charset = parameters.partition("charset=")[2].partition(";")[0].strip(" \"'")
    return kind.strip() if _MEDIA_TYPE.fullmatch(kind.strip()) else "", charset[:40]
