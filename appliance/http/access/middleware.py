"""Who asks over HTTP, decided before any route is found: each request is somebody's, or is refused."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import formatdate
from functools import partial
from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.errors import Exit
from appliance.http.access.origin import SAFE, Refused
from appliance.http.access.who import HOW, UNKNOWN, Shown, Who
from appliance.http.caller import CALLER
from appliance.http.listening.connections import USUAL, Patience
from audio.loops import running

MOST_BYTES: Final = 1_000_000
"""Of a body, where no other limit is given for its path."""

DRAIN_SECONDS: Final = 5.0
"""That are spent on the rest of a body that was refused; as many bytes of it as were allowed."""

HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""Of every answer that does not say otherwise itself."""

_CODES: Final = {401: Exit.NOT_ALLOWED, 403: Exit.NOT_ALLOWED, 429: Exit.UNAVAILABLE}


class Access(Struct, frozen=True):
    """Lets a request in with its caller, or answers it at once: middleware, the first that sees it."""

    app: ASGIApp
    who: Who
    is_open: Callable[[Scope], bool]
    """Says what is for everybody."""
    larger: Mapping[str, int]
    """Bytes that a body may have, by its path."""
    patience: Patience = USUAL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one WebSocket."""
        send = _Answered(receive, send, self._most(scope))
        try:
            shown = await self._let_in(scope)
        except Refused as refused:
            await _answer(refused, scope, receive, send)
            return
        scope.setdefault("state", {})[CALLER] = shown.caller
        if scope["type"] != "websocket":
            seconds = self.patience.whole if scope["path"] in self.larger else self.patience.body
            receive = _Body(receive, self._most(scope), asyncio.get_running_loop().time() + seconds)
        if not shown.token:
            await self.app(scope, receive, send)
            return
        watched = _Watched(self.who, shown.token, scope, receive, send)
        try:
            if scope["type"] != "websocket":
                await self.app(scope, watched.receive, watched.send)
                return
            async with running({"websocket: its token": partial(watched.look, self.patience.token)}):
                await self.app(scope, watched.receive, watched.send)
        except Exception:
            if not watched.is_over:
                raise

    async def _let_in(self, scope: Scope) -> Shown:
        headers = Headers(scope=scope)
        is_open = self.is_open(scope)
        shown = await self.who(scope, headers, is_open=is_open)
        if shown.caller is None and not is_open:
            raise Refused(401, HOW, www_authenticate="Bearer")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most(scope):
            raise _too_large(self._most(scope))
        return shown

    def _most(self, scope: Scope) -> int:
        return self.larger.get(scope["path"], MOST_BYTES)


class _Body(Struct):
    """Counts what comes, for a body that does not say how long it is, and until when."""

    receive: Receive
    most: int
    until: float | None
    """On the loop's clock; None once all has come, behind which there is only the end of the connection."""
    come: int = 0

    async def __call__(self) -> Message:
        try:
            async with asyncio.timeout_at(self.until):
                message = await self.receive()
        except TimeoutError:
            raise Refused(408, "the rest of the body did not come in time; send it again", connection="close") from None
        if not message.get("more_body"):
            self.until = None
        self.come += len(message.get("body", b""))
        if self.come > self.most:
            raise _too_large(self.most)
        return message


class _Answered(Struct):
    """Adds the headers of every answer; one that refuses a large body is read before its connection is closed.

    Who still writes when the other end closes loses the answer (RFC 9112, 9.6).
    """

    receive: Receive
    send: Send
    left: int
    """Bytes of a refused body that are still read, at most."""
    is_refused: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self.is_refused = message["status"] == 413
            headers = MutableHeaders(scope=message)
            for name, value in (*HEADERS.items(), ("date", formatdate(usegmt=True))):
                headers.setdefault(name, value)
        elif self.is_refused and not message.get("more_body"):
            await self.send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._drain()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self.send(message)

    async def _drain(self) -> None:
        while self.left > 0:
            message = await self.receive()
            self.left -= len(message.get("body", b""))
            if not message.get("more_body"):
                return


class Revoked(OSError):
    """The token of a stream is good no longer; for who sends into it, as if its reader had gone."""


class _Watched:
    """Ends what goes on by a token once that is good no longer: nothing more is taken, nothing more is told.

    What was ordered while it was good is answered to its end: who has all of theirs erased is told that it is done.
    The token is looked at for each message, which is one look at a small file (some ten microseconds): after a while
    would be one order too late. On a WebSocket on which nothing is said `look` sees it.
    """

    def __init__(self, who: Who, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._who = who
        self._token = token
        self._is_websocket = scope["type"] == "websocket"
        self._may_be_endless = self._is_websocket or scope["method"] in SAFE
        self._receive = receive
        self._send = send
        self._has_told = False
        self.is_over = False

    async def receive(self) -> Message:
        """Return what comes. Raises `Refused` for more of a body."""
        message = await self._receive()
        if message["type"] not in ("http.request", "websocket.receive") or self._is_good():
            return message
        if self._is_websocket:
            await self._close()
            return {"type": "websocket.disconnect", "code": 1008}
        raise Refused(401, UNKNOWN, www_authenticate="Bearer")

    async def send(self, message: Message) -> None:
        """Pass on what is told; the first of an answer also then, as the request came while the token was good.

        Raises `Revoked`.
        """
        is_first = message["type"] == "http.response.start" or not (self._is_websocket or self._has_told)
        if is_first or not self._may_be_endless or self._is_good():
            self._has_told = message["type"] != "http.response.start"
            await self._send(message)
            return
        if self._is_websocket:
            await self._close()
        else:
            self.is_over = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        raise Revoked

    async def look(self, seconds: float) -> None:
        """Look every so many seconds, and close the WebSocket once its token is good no longer."""
        while True:
            await asyncio.sleep(seconds)
            if not self._is_good():
                await self._close()
                return

    def _is_good(self) -> bool:
        return not self.is_over and self._who.knows(self._token)

    async def _close(self) -> None:
        is_closed, self.is_over = self.is_over, True
        if not is_closed:
            await self._send({"type": "websocket.close", "code": 1008, "reason": "the token is good no longer"})


def _too_large(most: int) -> Refused:
    return Refused(413, f"a body of more than {most / 1e6:g} MB is refused; send less at a time", connection="close")


async def _answer(refused: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    told = {"error": refused.detail, "code": int(_CODES.get(refused.status_code, Exit.USAGE))}
    await JSONResponse(told, refused.status_code, refused.headers)(scope, receive, send)
