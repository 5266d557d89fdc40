"""An answer on its way to a program of another protocol: its pieces as they come, and a sign of life between them."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, TypeAlias

import structlog
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from appliance.api.outcome import Outcome, in_words
from appliance.api.program_questions import Figures, Item
from appliance.api.register import WENT_WRONG
from appliance.errors import Exit, Problem, problem_of
from appliance.http.answering import HEADERS_WITHIN, PATIENCE, disconnected
from audio.loops import running

BEAT_SECONDS: Final = 10.0
"""Between two signs of life: proxies give up after 60 s, and a client that left is noticed by one."""

PATIENCE_SECONDS: Final = 540.0
"""After which a program is told that the answer comes later: OpenAI's SDK waits 600 s."""

CAPACITY: Final = 64
"""Pieces that wait for a slow reader; more wait where they come from."""

STATUSES: Final = {Exit.NOT_ALLOWED: 403, Exit.UNAVAILABLE: 429, Exit.CANNOT_CREATE: 503, Exit.INTERNAL: 500}
"""HTTP status of what is refused, by its exit code; 400 for all others. 429 is said to a visitor who asks too much."""

log = structlog.get_logger(__name__)


class Ending(Struct, frozen=True):
    """How an answer ended."""

    is_whole: bool
    """Whether the question was answered; else it goes on later, or never."""
    figures: Figures


class Writing(ABC):
    """One answer in the form of a protocol, streamed or whole."""

    media_type: ClassVar[str]

    def begin(self) -> bytes:
        """Return what stands before the first piece."""
        return b""

    @abstractmethod
    def piece(self, text: str) -> bytes:
        """Return some words of the answer."""

    @abstractmethod
    def beat(self) -> bytes:
        """Return what says that the answer is coming."""

    @abstractmethod
    def end(self, ending: Ending) -> bytes:
        """Return the end, after the last piece."""

    @abstractmethod
    def broken(self, sentence: str) -> bytes:
        """Return the end of what went wrong after the beginning."""


@dataclass
class WholeWriting(Writing):
    """One JSON object; the spaces before it are signs of life, which JSON allows."""

    pieces: list[str] = field(default_factory=list, init=False)
    media_type = "application/json"

    def piece(self, text: str) -> bytes:
        """Keep some words."""
        self.pieces.append(text)
        return b""

    def beat(self) -> bytes:
        """Return a space."""
        return b" "

    def broken(self, sentence: str) -> bytes:
        """Return what came, and what went wrong: the status was told already."""
        self.pieces.append(f"\n{sentence}" if self.pieces else sentence)
        return self.end(Ending(is_whole=False, figures=Figures()))


Refusal: TypeAlias = Callable[[Problem, int], Response]
"""Returns the answer to what is refused, with its HTTP status, in the shape of a protocol."""


class _Gone(Exception):
    """Whoever asked left, or stopped reading."""


class Answer(Response):
    """Reads an answer and writes it as it comes.

    It begins with the first piece, or after `HEADERS_WITHIN` seconds without one: what is refused until then gets its
    status. A program that leaves ends the reading, and not the event.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[Item, None],
        writing: Writing,
        refusal: Refusal,
        words: str,
        beat_seconds: float = BEAT_SECONDS,
    ) -> None:
        """`words` are the question's, for the language of what is said where nothing is answered."""
        super().__init__()
        self._pieces = pieces
        self._writing = writing
        self._refusal = refusal
        self._words = words
        self._beat_seconds = beat_seconds
        self._read: asyncio.Queue[str | Ending | Problem] = asyncio.Queue(CAPACITY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer until the end, or until nobody listens."""

        async def watch() -> None:
            await disconnected(receive)
            raise _Gone

        try:
            beside = {
                "door: an answer in another's protocol": self._reading,
                "door: whether its program is there": watch,
            }
            async with running(beside):
                await self._send(scope, receive, send)
        except* _Gone:
            log.info("door_client_gone")

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await self._next(min(HEADERS_WITHIN, self._beat_seconds))
        if isinstance(first, Problem):
            await self._refusal(first, status_of(first))(scope, receive, send)
            return
        headers = [(b"content-type", self._writing.media_type.encode()), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            async with aclosing(self._written(first)) as written:
                async for body in written:
                    async with asyncio.timeout(PATIENCE):
                        await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError as error:  # TimeoutError is one
            raise _Gone from error

    async def _next(self, seconds: float) -> str | Ending | Problem | None:
        """Return what comes next, None where nothing did for so long."""
        try:
            async with asyncio.timeout(seconds):
                return await self._read.get()
        except TimeoutError:
            return None

    async def _written(self, first: str | Ending | None) -> AsyncGenerator[bytes, None]:
        writing, space = self._writing, ""
        item: str | Ending | Problem | None = first
        yield writing.begin()
        while True:
            match item:
                case None:
                    yield writing.beat()
                case str():
                    words = (space + item).rstrip()  # what is white at the end of an answer is not part of it
                    space = (space + item)[len(words) :]
                    if words:
                        yield writing.piece(words)
                case Ending():
                    yield writing.end(item)
                    return
                case Problem():
                    yield writing.broken(item.sentence)
                    return
            item = await self._next(self._beat_seconds)

    async def _reading(self) -> None:
        outcome: Outcome | Literal["late"] | None = None
        figures, has_words = Figures(), False
        try:
            async with asyncio.timeout(PATIENCE_SECONDS), aclosing(self._pieces) as pieces:
                async for item in pieces:
                    if isinstance(item, str):
                        has_words |= bool(item.strip())
                        await self._read.put(item)
                    elif isinstance(item, Outcome):
                        outcome = item
                    else:
                        figures = item
        except TimeoutError:
            outcome = "late"
        except Exception as error:  # noqa: BLE001  told to the program in its protocol; the door stays open
            await self._read.put(told(error))
            return
        if not has_words:
            await self._read.put(in_words(outcome or "nothing", self._words))
        await self._read.put(Ending(not outcome, figures))


async def or_refused(answer: Awaitable[Response], refusal: Refusal) -> Response:
    """Return the answer, a failure in the shape of its protocol."""
    try:
        return await answer
    except Exception as error:  # noqa: BLE001  told to the program in its protocol; the door stays open
        problem = told(error)
        return refusal(problem, status_of(problem))


def status_of(problem: Problem) -> int:
    """Return the HTTP status of a refusal."""
    return STATUSES.get(problem.code, 400)


def told(error: Exception) -> Problem:
    """Return what a program is told of a failure; one of ours is in the log."""
    if (problem := problem_of(error)) is not None:
        return problem
    log.error("request_failed", exc_info=error)
    return Problem(WENT_WRONG, Exit.INTERNAL)
