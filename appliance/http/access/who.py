"""Who asks: the household on this machine, or the owner of a token, which comes as a header or as the page's cookie."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_network
from math import ceil
from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from appliance.api.caller import Caller
from appliance.config.network.http import HttpSettings
from appliance.http.access.origin import Refused, Seen, check, seen
from appliance.http.access.peer import Address, is_of_household, plain, user_of
from appliance.owners.owners import IssuedToken, KeptToken, Tokens, is_token

COOKIE: Final = "nakari"
"""The page's cookie, which holds a token."""

COOKIE_SECONDS: Final = 34_560_000
"""As long as a browser keeps any (400 days, RFC 6265bis); what ends it is that its token is revoked."""

MADE: Final = "`nakari token create NAME` on the box makes one"
HOW: Final = f"show a token: Authorization: Bearer …; {MADE}"
UNKNOWN: Final = "this token is not known here: it was revoked, or is too old"


class Shown(Struct, frozen=True):
    """Who asks, and what they showed for it."""

    caller: Caller | None
    """None for nobody: only what is open to everybody is for them."""
    account: str
    """Whose rate each request counts against."""
    token: str = ""


class Who:
    """Finds out who asks, by the door they came through."""

    def __init__(
        self,
        settings: HttpSettings,
        tokens: Tokens,
        clock: Callable[[], float],
        user: Callable[[Address, Address], int | None] = user_of,
        is_member: Callable[[int], bool] = is_of_household,
    ) -> None:
        """`clock` is in seconds; `user` and `is_member` tell who is at the other end of a loopback connection."""
        self._tokens = tokens
        self._names = frozenset(settings.names)
        self._proxies = [ip_network(each) for each in settings.behind_proxy]
        self._rate = Rate(settings.requests_per_minute, clock)
        self._failures = Rate(settings.failures_per_minute, clock)
        self._user = user
        self._is_member = is_member

    async def __call__(self, scope: Scope, headers: Headers, *, is_open: bool) -> Shown:
        """Return who asks; over TCP that counts against their rate. Raises `Refused`.

        `is_open` where it is for everybody: a token that is good no longer is none there, and no failure.
        """
        if is_at_socket(scope):
            return self._at_socket(headers)
        request = self._seen(scope, headers)
        check(scope, headers, request, self._names)
        if request.scheme != "https" and not plain(request.peer).is_loopback:
            raise Refused(403, "come by https: what is sent like this can be read on the way")
        shown = await self._shown(scope, headers, request, is_open=is_open)
        if wait := self._rate.take(shown.account):
            raise too_many(wait)
        return shown

    async def _shown(self, scope: Scope, headers: Headers, request: Seen, *, is_open: bool) -> Shown:
        account, bearer, cookie = _network(request.peer), bearer_of(headers), cookie_of(headers)
        if is_open and (bearer or cookie) and not self.knows(bearer if is_token(bearer) else cookie):
            return Shown(None, account)
        if is_token(bearer):
            return self._owner(bearer, account)
        if cookie:
            try:
                return self._owner(cookie, account)
            except Refused as refused:
                ended = cookie_with("", is_secure=request.scheme == "https")
                raise Refused(refused.status_code, refused.detail, set_cookie=ended) from None
        if local := await self._local(scope, request):
            return local  # what else it shows is no token: there are programs that must show something
        if bearer:
            return self._owner(bearer, account)
        return Shown(None, account)

    def _seen(self, scope: Scope, headers: Headers) -> Seen:
        return seen(scope, headers, lambda peer: any(plain(peer) in network for network in self._proxies))

    def knows(self, token: str) -> bool:
        """Whether a token is somebody's still."""
        return self._tokens.find(token) is not None

    def log_in(self, scope: Scope, headers: Headers, token: str) -> str:
        """Return the cookie for a page at which somebody typed a token. Raises `Refused`, in words for people."""
        request = self._seen(scope, headers)
        if not token:
            raise Refused(401, f"type a token; {MADE}", www_authenticate="Bearer")
        self._owner(token, _network(request.peer), MADE)
        return cookie_with(token, is_secure=request.scheme == "https")

    def log_out(self, scope: Scope, headers: Headers) -> str:
        """Return what takes the cookie away."""
        return cookie_with("", is_secure=self._seen(scope, headers).scheme == "https")

    def _owner(self, token: str, account: str, how: str = HOW) -> Shown:
        """Return whose token this is. Raises `Refused`, as too much where it was nobody's too often.

        A right one is always taken: beside a program whose token was revoked, others of its address must not wait, and
        of 256 random bits nobody guesses one, however fast.
        """
        found = self._tokens.find(token)
        if found is None:
            if wait := self._failures.take(account):
                raise too_many(wait)
            raise Refused(401, f"{UNKNOWN}; {how}", www_authenticate="Bearer")
        return Shown(_caller_with(found), f"token {hash(token)}", token)

    def _at_socket(self, headers: Headers) -> Shown:
        """Whoever may open the Unix socket is the household, unless they show a token."""
        bearer = bearer_of(headers)
        if not bearer:
            return Shown(Caller(), "")
        found = self._tokens.find(bearer)
        if found is None:
            raise Refused(401, UNKNOWN, www_authenticate="Bearer")
        return Shown(_caller_with(found), "", bearer)

    async def _local(self, scope: Scope, request: Seen) -> Shown | None:
        """Return the household, where one of its programs on this machine asks."""
        if not request.is_local:
            return None
        user = await asyncio.to_thread(self._user, scope["client"][:2], scope["server"][:2])
        if user is None or not await asyncio.to_thread(self._is_member, user):
            return None
        return Shown(Caller(), f"user {user}")


def _caller_with(found: KeptToken | IssuedToken) -> Caller:
    """Return who shows a token; a kept one is a program's, which has a name."""
    return Caller(found.owner_key, found.name if isinstance(found, KeptToken) else "")


def is_at_socket(scope: Scope) -> bool:
    """Whether a request came by a Unix socket: whose own address has no port."""
    server = scope.get("server")
    return server is not None and server[1] is None


def bearer_of(headers: Headers) -> str:
    """Return the token that a program shows (RFC 6750), "" for none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def cookie_of(headers: Headers) -> str:
    """Return the token that a page shows, "" for none."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def cookie_with(token: str, *, is_secure: bool) -> str:
    """Return the cookie that holds a token, "" to take it away: no script reads it, no other site sends it."""
    seconds = COOKIE_SECONDS if token else 0
    secure = "; Secure" if is_secure else ""
    return f"{COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def _network(peer: str) -> str:
    """Return what one who asks has one of: an IPv4 address, or the network that an IPv6 line is given."""
    address = plain(peer)
    return str(address if address.version == 4 else ip_network(f"{address}/64", strict=False))


MOST: Final = 4096
"""Buckets at a time; one more takes the place of the one that was used longest ago."""


class Rate:
    """So many a minute for each key, all of them at once where nobody has asked for a while. On one event loop."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        """`clock` is in seconds."""
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What is left, and when that was so; who is not in it has a full one."""

    def wait(self, key: str) -> float:
        """Return after how many seconds one may be taken; 0 where it may be now."""
        return max(0.0, 1 - self._left(key)) / self._per_second

    def take(self, key: str) -> float:
        """Take one where there is one, and return 0; else the seconds until there is."""
        if wait := self.wait(key):
            return wait
        self._buckets[key] = (self._left(key) - 1, self._clock())
        self._buckets.move_to_end(key)
        if len(self._buckets) > MOST:
            self._buckets.popitem(last=False)
        return 0.0

    def _left(self, key: str) -> float:
        left, at = self._buckets.get(key, (self._most, 0.0))
        return min(self._most, left + (self._clock() - at) * self._per_second)


def too_many(wait: float) -> Refused:
    """Return the refusal of somebody who has to wait so many seconds."""
    seconds = str(ceil(wait))
    return Refused(429, f"that is too much at once: try again in {seconds} s", retry_after=seconds)
