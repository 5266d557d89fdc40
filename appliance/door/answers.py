"""What is answered at the door, request by request, and by whom."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol, cast

import structlog

from agent.model.messages import Json
from appliance.door.asked import Asked
from appliance.door.mailbox_requests import ListMailbox, MailboxRequest, Retry, Withdraw
from appliance.door.memory_requests import MemoryRequest, Tools, UseTool
from appliance.door.model_requests import ModelHandler, UseModel
from appliance.door.requests import (
    Acting,
    AnyRequest,
    Ask,
    BadRequest,
    Calibrate,
    Enqueue,
    Forget,
    Hush,
    Ping,
    Status,
    parse,
)
from appliance.door.visitor import Gone, Visitor
from appliance.errors import Problem, problem_of
from appliance.exits import Exit
from appliance.keeping.progress import Progress, in_hundredths

_log = structlog.get_logger(__name__)


class DoorHandler(Protocol):
    """Who answers behind the door; called on the event loop, by many programs at a time."""

    def ask(self, text: str, session: str) -> AsyncGenerator[str, None]:
        """Yield the answer to a person's text as it is written; closing it says that nobody listens any more."""

    async def enqueue(self, request: Enqueue) -> str:
        """Put an event into the mailbox and return its id once it is durable."""

    async def status(self) -> Mapping[str, Json]:
        """Return how she is."""

    async def hush(self, request: Hush) -> str:
        """Act as on a reflex word; return the sentence that says what was done."""

    async def forget(self, request: Forget) -> str:
        """Erase what was heard; return the sentence that says how that went."""

    async def calibrate(self) -> str:
        """Measure her echo; return the sentence that says what was found."""

    async def mail(self, request: MailboxRequest) -> Mapping[str, Json]:
        """Tell what is in the mailbox, or try or drop one of its events."""


class MemoryHandler(Protocol):
    """Who answers what is asked of her memory."""

    def described(self) -> list[Json]:
        """Return the tools: name, description and schema each."""

    async def use(self, request: UseTool) -> Json:
        """Run one of the tools and return what it gives."""

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Do what is asked and return what came of it; what `told` raises ends the work."""


class Answers:
    """Finds out who answers a line; every failure is a sentence."""

    def __init__(self, handler: DoorHandler, memory: MemoryHandler | None, models: ModelHandler | None = None) -> None:
        self._handler = handler
        self._models = models
        self._memory = memory

    async def answer(self, line: bytes, visitor: Visitor) -> None:
        """Answer one line. Raises `Gone`."""
        try:
            request = parse(line)
        except BadRequest as error:
            visitor.send({"error": str(error)})
            return
        try:
            if isinstance(request, Ask):
                await self._ask(request, visitor)
            else:
                told = in_hundredths(lambda done, of: visitor.send({"progress": [done, of]}))
                visitor.send(await self._answered(request, told))
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001  told to the one who asked; the door stays open for the others
            failed: dict[str, Json] = {"event": "run_finished", "status": "failed"} if isinstance(request, Ask) else {}
            visitor.send(failed | _told(error))

    async def _answered(self, request: AnyRequest, told: Progress) -> Mapping[str, Json]:
        match request:
            case Ping():
                return {"pong": True}
            case Status():
                return await self._handler.status()
            case Enqueue():
                return {"id": await self._handler.enqueue(request)}
            case ListMailbox() | Retry() | Withdraw():
                return await self._handler.mail(request)
            case Hush() | Forget() | Calibrate() | UseModel():
                return {"done": await self._done(request)}
        return await self._remembered(request, told)

    async def _done(self, request: Acting) -> str:
        match request:
            case Hush():
                return await self._handler.hush(request)
            case Forget():
                return await self._handler.forget(request)
            case Calibrate():
                return await self._handler.calibrate()
        if self._models is None:
            raise Problem("there is no mind here to choose a model for", Exit.UNAVAILABLE)
        return await self._models.use(request.use)

    async def _remembered(self, request: Asked, told: Progress) -> Mapping[str, Json]:
        memory = self._memory
        if memory is None:
            raise Problem("she has no graph here; set [memory] enabled = true", Exit.UNAVAILABLE)
        match request:
            case Tools():
                return {"tools": memory.described()}
            case UseTool():
                return {"result": await memory.use(request)}
        return {"result": await memory.act(cast("MemoryRequest", request), told)}

    async def _ask(self, request: Ask, visitor: Visitor) -> None:
        pieces = []
        async with aclosing(self._handler.ask(request.text, request.session)) as answer:
            async for piece in answer:
                if request.stream:
                    visitor.send({"event": "text_chunk", "chunk": piece})
                else:
                    pieces.append(piece)
        whole: dict[str, Json] = {} if request.stream else {"text": "".join(pieces)}
        visitor.send({"event": "run_finished", "status": "completed"} | whole)


def _told(error: Exception) -> dict[str, Json]:
    problem = problem_of(error)
    if problem is None:
        _log.error("door_request_failed", exc_info=error)
        return {"error": "something went wrong inside; the log says what"}
    return {"error": problem.sentence, "code": int(problem.code)}
