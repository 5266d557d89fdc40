"""One HTTP request after the other to the server of a calendar: bounded in bytes and time, and to nobody else."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from agent.errors import CalendarLost
from memory.trust import tls_fault, trusted

if TYPE_CHECKING:  # it costs a tenth of a second
    import httpx

MOST_BYTES: Final = 8_000_000
"""Of one answer; a calendar of twenty years has less."""

SECONDS: Final = 30.0
"""For the whole of a request, however slowly its answer comes."""

MOST_REDIRECTS: Final = 5

LONGEST_WISH: Final = 3600.0
"""Seconds that a server is left alone at its own wish."""

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PORTS: Final = {"http": 80, "https": 443}

UNCHANGED: Final = 304
NOT_IMPLEMENTED: Final = 501
"""What a server says that knows no such method; it is well."""


class Answer(Struct, frozen=True):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes
    url: str
    """Where it came from in the end."""


class Login(Struct, frozen=True):
    """Who asks; an empty user asks as nobody."""

    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Login({self.user!r})"


NOBODY: Final = Login()


class Fetcher:
    """Asks the server of one address. It follows a redirect, or an address in an answer, only to that very server."""

    def __init__(self, url: str, login: Login = NOBODY, seconds: float = SECONDS, most: int = MOST_BYTES) -> None:
        self.url = url
        self._login = login
        self._seconds = seconds
        self._most = most
        self._is_digest = False
        self._client: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        """Let the connection go."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def send(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, content: bytes = b""
    ) -> Answer:
        """Return the answer after redirects, whose status may tell of a fault of the request.

        Raises `CalendarLost` for a login that is refused, for a server in trouble, and where there is no answer.
        """
        import httpx

        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._followed(method, url, {**(headers or {})}, content)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise CalendarLost(f"it does not answer within {self._seconds:g} s") from error
        except httpx.ConnectError as error:
            fault = tls_fault(error)
            raise CalendarLost(f"it {fault[0]}: {fault[1]}" if fault else "it cannot be reached") from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise CalendarLost(f"it breaks the protocol ({type(error).__name__})") from error
        if answer.status == 401:
            raise CalendarLost("it refuses the user or the password")
        if answer.status == 429 or (answer.status >= 500 and answer.status != NOT_IMPLEMENTED):
            raise CalendarLost(f"it is in trouble (status {answer.status})", _seconds(answer.headers))
        return answer

    def resolved(self, base: str, reference: str) -> str:
        """Return an address that an answer names. Raises `CalendarLost` for one of another server.

        A server behind one that ends its TLS often names itself without it: it is asked with it all the same.
        """
        url = urljoin(base, reference)
        if self.url.startswith("https://") and url.startswith(f"http://{urlsplit(self.url).hostname}/"):
            url = f"https{url.removeprefix('http')}"
        if not is_same_server(self.url, url):
            raise CalendarLost("it sends on to another server, and there nakari does not go")
        return url

    async def _followed(self, method: str, url: str, headers: dict[str, str], content: bytes) -> Answer:
        for _ in range(MOST_REDIRECTS):
            answer = await self._once(method, url, headers, content)
            offered = answer.headers.get("www-authenticate", "").lower()
            if answer.status == 401 and self._login.user and not self._is_digest and "digest" in offered:
                self._is_digest = True
                continue
            if answer.status not in _REDIRECTS:
                return answer
            url = self.resolved(url, answer.headers.get("location", ""))
        raise CalendarLost("it redirects without end")

    async def _once(self, method: str, url: str, headers: dict[str, str], content: bytes) -> Answer:
        import httpx

        if self._client is None:
            trust = await asyncio.to_thread(trusted)  # which reads certificates
            self._client = httpx.AsyncClient(trust_env=False, timeout=self._seconds, verify=trust)
        kind = httpx.DigestAuth if self._is_digest else httpx.BasicAuth
        auth = kind(self._login.user, self._login.password) if self._login.user else None
        told = {"Accept-Encoding": "identity", "User-Agent": "nakari", **headers}
        async with self._client.stream(method, url, headers=told, content=content, auth=auth) as answer:
            is_wanted = answer.status_code < 300
            return Answer(answer.status_code, dict(answer.headers), await self._body(answer) if is_wanted else b"", url)

    async def _body(self, answer: "httpx.Response") -> bytes:
        """Return the body, as long as it is neither too large nor packed, which hides how large it is."""
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            raise CalendarLost("it packs its answer, although it was asked not to")
        body = bytearray()
        async for part in answer.aiter_raw():
            body += part
            if len(body) > self._most:
                raise CalendarLost(f"it is larger than {self._most / 1_000_000:g} MB")
        return bytes(body)


def is_same_server(known: str, url: str) -> bool:
    """Whether an address is of the server that is known: the same host and port, or the same by TLS.

    Over TLS also a neighbour below the same domain, as caldav.icloud.com sends on to p37-caldav.icloud.com: its
    certificate shows that it is one, which no machine in the house has.
    """
    try:
        old, new = urlsplit(known), urlsplit(url)
        ports = [part.port or _PORTS.get(part.scheme, 0) for part in (old, new)]
    except ValueError:
        return False
    if new.scheme not in _PORTS or new.username is not None or not new.hostname:
        return False
    is_host_same = new.hostname == old.hostname
    if new.scheme == "https" and ports[1] == _PORTS["https"]:
        domain = (old.hostname or "").partition(".")[2]
        is_neighbour = "." in domain and not domain.replace(".", "").isdigit() and new.hostname.endswith(f".{domain}")
        return (is_host_same and ports[0] in _PORTS.values()) or (is_neighbour and old.scheme == "https")
    return is_host_same and (old.scheme, ports[0]) == (new.scheme, ports[1])


def _seconds(headers: Mapping[str, str]) -> float:
    told = headers.get("retry-after", "")
    return min(float(told), LONGEST_WISH) if told.isdecimal() and len(told) < 20 else 0.0
