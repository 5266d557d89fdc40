"""Where a request comes from, by what stands at its head: what no browser and no proxy may bring in is refused.

A page of somebody else's can have a browser in the house send what it likes to a loopback address. It cannot choose
what the browser writes at the head of it: the name it was called by (Host, by which a rebound DNS name betrays itself),
the page it comes from (Origin, Sec-Fetch-Site), and a body's type, which a form cannot make JSON (Fetch standard).
"""

import re
from collections.abc import Callable, Collection, Iterator
from ipaddress import ip_address
from typing import Final, NoReturn
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Scope

from appliance.http.access.peer import plain

FORWARDED: Final = (
    *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"),
    *("x-forwarded-server", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"),
)
"""What a proxy adds: who comes through one is not who is at the other end of the connection."""

SINGLE: Final = ("host", "origin", "authorization", "content-length", "content-type", "transfer-encoding")
"""What means nothing sure where it comes twice."""

SECRETS: Final = frozenset({"token", "access_token", "auth_token", "api_key", "apikey", "authorization", "password"})
_TOKEN: Final = re.compile(r"nakari_[\w-]{20}")
"""What has no place in an address: a browser's history, a proxy's log and a Referer keep those."""

FORMS: Final = ("", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""Types of a body that a page may send anywhere without asking first."""

USUAL_PORTS: Final = {"http": 80, "https": 443}

SAFE: Final = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing (RFC 9110, 9.2.1)."""


class Refused(HTTPException):
    """A request that is not looked at any further; told with a sentence, as every failure is."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        """`headers` are further ones of the answer, with _ for -."""
        super().__init__(status, sentence, {name.replace("_", "-"): value for name, value in headers.items()})


class Seen(Struct, frozen=True):
    """A request as the one sees it who sent it: before the proxy, where one is believed."""

    peer: str
    """The other end's IP address."""
    scheme: str
    """`http` or `https`; a WebSocket's is that of its handshake."""
    host: str
    """Name or address by which this machine was called, in small letters, without a port."""
    port: int
    is_proxied: bool
    """Whether it says that somebody passed it on."""

    @property
    def is_local(self) -> bool:
        """Whether a program of this machine asks, by a name of loopback."""
        return not self.is_proxied and _is_loopback(self.peer) and _is_here(self.host)


def seen(scope: Scope, headers: Headers, is_proxy: Callable[[str], bool]) -> Seen:
    """Return a request as its sender sees it; what comes from an address that `is_proxy` is believed.

    Raises `Refused`.
    """
    for name in SINGLE:
        if len(headers.getlist(name)) > 1:
            raise Refused(400, f"{name} comes more than once")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise Refused(400, "content-length and transfer-encoding come together", connection="close")
    if not scope.get("client"):
        raise Refused(400, "whoever asks is gone")
    peer, scheme, host = scope["client"][0], scope["scheme"].replace("ws", "http"), headers.get("host", "")
    is_trusted = is_proxy(peer)
    is_forwarded = any(name in headers for name in FORWARDED)
    is_proxied = is_trusted or is_forwarded
    # A browser on this machine beside the proxy: it needs a token too, but its page is the one that it asks for.
    is_direct = not is_forwarded and _is_loopback(peer) and _is_here(_name_and_port(host, scheme)[0])
    if is_trusted and not is_direct:
        peer = next((each for each in _backwards(headers, "x-forwarded-for") if not is_proxy(_ip(each))), peer)
        scheme = next(_backwards(headers, "x-forwarded-proto"), "") or "https"
        host = next(_backwards(headers, "x-forwarded-host"), "") or host
    name, port = _name_and_port(host, scheme)
    return Seen(_ip(peer), scheme, name, port, is_proxied)


def check(scope: Scope, headers: Headers, request: Seen, names: Collection[str]) -> None:
    """Refuse what a page of somebody else's sent, and what holds a secret in its address. Raises `Refused`.

    `names` are those by which this machine is called, besides its addresses and localhost.
    """
    _check_name(request.host, names)
    _check_address(scope)
    _check_page(scope, headers, request)
    _check_body(scope, headers)


def _check_name(host: str, names: Collection[str]) -> None:
    try:
        ip_address(host)  # no DNS says where it leads: it cannot be rebound
    except ValueError:
        if host != "localhost" and host not in names:
            raise Refused(421, f"this machine is not called {host[:100]!r}; [http] names lists how it is") from None


def _check_address(scope: Scope) -> None:
    query = scope["query_string"].decode("latin-1")
    asked = {name.lower() for name, _ in parse_qsl(query, keep_blank_values=True)}
    if asked & SECRETS or _TOKEN.search(query) or _TOKEN.search(scope["path"]):
        raise Refused(
            400, "a token has no place in an address, which logs keep: revoke it, and send one as Authorization: Bearer"
        )


def _check_page(scope: Scope, headers: Headers, request: Seen) -> None:
    """Refuse what a page of another origin sent (Fetch standard, Origin and Fetch Metadata)."""
    origin = headers.get("origin")
    if origin is not None:
        scheme, _, host = origin.partition("://")
        if not host or (scheme, *_name_and_port(host, scheme)) != (request.scheme, request.host, request.port):
            _refuse_page()
        return
    if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site"):
        is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if scope["type"] == "websocket" or not is_link or scope["method"] not in SAFE:
            _refuse_page()


def _refuse_page() -> NoReturn:
    raise Refused(403, "pages of other origins may ask nothing here")


def _check_body(scope: Scope, headers: Headers) -> None:
    """Refuse a body that a form may have made, unless a token came beside it, which no form sends, or its own page."""
    if scope["type"] == "websocket" or scope["method"] in SAFE or "authorization" in headers or "origin" in headers:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = headers.get("content-length", "0").strip("0 ") or "transfer-encoding" in headers
    if kind in FORMS and (kind or has_body):
        raise Refused(415, "say what the body is: Content-Type: application/json")


def _backwards(headers: Headers, name: str) -> Iterator[str]:
    """Yield what each proxy wrote, the last one first: what came before it to a proxy may be anybody's."""
    return filter(None, (each.strip() for each in reversed(",".join(headers.getlist(name)).split(","))))


def _name_and_port(host: str, scheme: str) -> tuple[str, int]:
    """Return name and port of a Host header or of an origin. Raises `Refused` for what is neither."""
    try:
        parts = urlsplit(f"//{host}")
        if parts.netloc == host and "@" not in host and parts.hostname:
            return parts.hostname, parts.port or USUAL_PORTS.get(scheme, 0)
    except ValueError:
        pass
    raise Refused(400, "Host or Origin is no name")


def _ip(peer: str) -> str:
    try:
        return str(plain(peer))
    except ValueError:
        raise Refused(400, "X-Forwarded-For is no address") from None


def _is_here(host: str) -> bool:
    return host == "localhost" or _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return plain(host).is_loopback
    except ValueError:
        return False
