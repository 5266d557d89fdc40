"""Answers on their way out: one JSON object, or one a line as they come; a reader that stops is let go."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Literal, TypeAlias

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from appliance.api.register import Answer, Gone, Tell
from appliance.errors import Exit

Form: TypeAlias = Literal["object", "lines", "events"]
"""One JSON object; one a line (application/x-ndjson); server-sent events."""

MOST_BACKLOG: Final = 1_000_000
"""Bytes that may wait for a program before its next answer; with more it counts as one that does not read."""

PATIENCE: Final = 30.0
"""Seconds that a program may take to make room for the next piece."""

HEADERS_WITHIN: Final = 2.0
"""Seconds after which an answer in pieces begins, though there is none yet: what fails later is told in its last."""

_TYPES: Final[dict[Form, bytes]] = {
    "object": b"application/json",
    "lines": b"application/x-ndjson",
    "events": b"text/event-stream; charset=utf-8",
}

STATUSES: Final[dict[int, int]] = {
    Exit.FAULT: 409,
    Exit.USAGE: 422,
    Exit.NO_INPUT: 404,
    Exit.UNAVAILABLE: 503,
    Exit.CANNOT_CREATE: 409,
    Exit.ALREADY_RUNNING: 409,
    Exit.NOT_ALLOWED: 403,
    Exit.CONFIG: 409,
    Exit.LATER: 409,
}
"""The status of a failure, by its exit code."""

log = structlog.get_logger()


def status_of(answer: Answer) -> int:
    """Return the status that goes with an answer; 500 for a failure that nobody foresaw."""
    if "error" not in answer or "event" in answer:
        return 200
    code = answer.get("code")
    return STATUSES.get(code, 500) if isinstance(code, int) else 500


class Outbox:
    """Answers that wait for their reader. Order: as told. Loss: none, but more than a megabyte ends it."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue()
        """None is the end."""
        self._bytes = 0
        self.is_closed = False
        """Whether nobody reads any more."""

    def tell(self, answer: Answer) -> None:
        """Take an answer of any length, without waiting. Raises `Gone`."""
        if self._bytes > MOST_BACKLOG and not self.is_closed:
            log.warning("door_client_dropped", reason="it does not read")
            self.close()
        if self.is_closed:
            raise Gone
        self._add(answer)

    def end(self, answer: Answer) -> None:
        """Take the last answer."""
        self._add(answer)
        self._waiting.put_nowait(None)

    def close(self) -> None:
        """Say that nobody reads any more."""
        self.is_closed = True
        self._waiting.put_nowait(None)

    async def next(self) -> bytes | None:
        """Return the next answer once there is one; None behind the last one, and when nobody reads any more."""
        piece = await self._waiting.get()
        if piece is None or self.is_closed:
            return None
        self._bytes -= len(piece)
        return piece

    def _add(self, answer: Answer) -> None:
        text = json.dumps(answer, ensure_ascii=False).encode(errors="replace")
        self._waiting.put_nowait(text)
        self._bytes += len(text)


class Answering(Response):
    """A response that runs a request; what was begun for a program that went away is done, unless it only tells."""

    def __init__(self, run: Callable[[Tell], Awaitable[Answer]], form: Form, *, only_tells: bool) -> None:
        """`run` is given what passes answers on, and returns the last one. It raises `Gone` and nothing else.

        `only_tells` says that nothing is lost by leaving it when nobody reads any more.
        """
        super().__init__()
        self._run = run
        self._form = form
        self._only_tells = only_tells

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run it and send what comes of it."""
        outbox = Outbox()

        async def work() -> None:
            try:
                outbox.end(await self._run(outbox.tell))
            except Gone:
                outbox.close()

        async def watch() -> None:
            await disconnected(receive)
            end()

        def end() -> None:
            outbox.close()
            if self._only_tells:
                working.cancel()

        async with asyncio.TaskGroup() as group:
            working = group.create_task(work(), name="door: a request")
            watching = group.create_task(watch(), name="door: whether its program is there")
            try:
                is_whole = await self._send(outbox, send)
            except (OSError, TimeoutError):  # TimeoutError is an OSError; said for the reader
                is_whole = False
            if not is_whole:
                log.info("door_client_gone")
                end()
            watching.cancel()

    async def _send(self, outbox: Outbox, send: Send) -> bool:
        """Send everything; return whether it was all read."""
        piece: bytes | None = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if self._form == "object" else HEADERS_WITHIN):
                piece = await outbox.next()
        if outbox.is_closed:
            return False
        status = status_of(json.loads(piece)) if piece else 200
        form = "object" if status != 200 else self._form
        headers = [(b"content-type", _TYPES[form]), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while piece is not None:
            if piece:  # else there is none yet
                async with asyncio.timeout(PATIENCE):
                    await send({"type": "http.response.body", "body": _framed(piece, form), "more_body": True})
            piece = await outbox.next()
        if not outbox.is_closed:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return not outbox.is_closed


async def disconnected(receive: Receive) -> None:
    """Return once whoever asked has left; its body has been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _framed(piece: bytes, form: Form) -> bytes:
    return b"data: " + piece + b"\n\n" if form == "events" else piece + b"\n"
