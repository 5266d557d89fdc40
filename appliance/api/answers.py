"""What is answered at the door, request by request, and by whom."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Protocol, cast

import structlog

from appliance.admin.progress import Progress, in_hundredths
from appliance.api.attaching import Attach
from appliance.api.caller import Caller
from appliance.api.connection import Connection, Gone
from appliance.api.mailbox_requests import (
    ChangeWaiting,
    ListMailbox,
    ListTimers,
    ListWaiting,
    MailboxRequest,
    Retry,
    Withdraw,
)
from appliance.api.memory_requests import MemoryRequest, Tools, UseTool
from appliance.api.model_requests import ModelHandler
from appliance.api.outcome import Outcome
from appliance.api.owner_requests import ForgetOwner, OwnerHandler, OwnerRequest, answer_of, erased_of
from appliance.api.request_model import Asked
from appliance.api.requests import (
    Acting,
    AnyRequest,
    Ask,
    BadRequest,
    Calibrate,
    Enqueue,
    ForEveryOwner,
    Forget,
    Hush,
    Ping,
    PreviewForget,
    Say,
    Status,
    parse,
)
from appliance.errors import Problem, problem_of
from appliance.exits import Exit
from memory.json_value import Json

_log = structlog.get_logger(__name__)


class DoorHandler(Protocol):
    """Who answers behind the door; called on the event loop, by many programs at a time."""

    def command(self, request: Asked, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Return what stands around each request, and publishes those that are commands with their results."""

    async def attach(self, request: Attach, owner_key: str) -> Mapping[str, Json]:
        """Take a file, or a piece of one, that a question will be about; return what it is, or how much came."""

    def ask(
        self, text: str, session: str, owner_key: str, *, speak: bool, attached: Sequence[str] = ()
    ) -> AsyncGenerator[str | Outcome, None]:
        """Yield the answer to a person's text as it is written, and the outcome where it was not completed.

        `attached` are names of files that this owner gave before.

        Closing it says that nobody listens any more.
        """

    async def enqueue(self, request: Enqueue, session: str, owner_key: str) -> str:
        """Put an event into the mailbox and return its id once it is durable."""

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        """Return how it is, as far as this owner may know."""

    async def say(self, request: Say) -> str:
        """Say a text in the room; return the sentence that says how that went."""

    async def hush(self, request: Hush) -> str:
        """Act as on a reflex word; return the sentence that says what was done."""

    async def forget(self, request: Forget) -> str:
        """Erase what was heard; return the sentence that says how that went."""

    async def would_forget(self, request: PreviewForget) -> list[Json]:
        """Return id and words of each thing that would be erased, the oldest first."""

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found."""

    async def mail(self, request: MailboxRequest, owner_key: str) -> Mapping[str, Json]:
        """Tell what of this owner's is in the mailbox, or try or drop one of its events."""


class MemoryHandler(Protocol):
    """Who answers what is asked of the memory."""

    async def described(self) -> list[Json]:
        """Return the tools: name, description and schema each."""

    async def use(self, request: UseTool) -> Json:
        """Run one of the tools and return what it gives."""

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Do what is asked and return what came of it; what `told` raises ends the work."""


class Answers:
    """Finds out who answers a line; every failure is a sentence."""

    def __init__(
        self,
        handler: DoorHandler,
        memory: MemoryHandler | None = None,
        models: ModelHandler | None = None,
        owners: OwnerHandler | None = None,
    ) -> None:
        self._handler = handler
        self._models = models
        self._memory = memory
        self._owners = owners

    async def answer(self, line: bytes, connection: Connection, caller: Caller) -> None:
        """Answer one line of whoever calls. Raises `Gone`."""
        try:
            request = parse(line)
        except BadRequest as error:
            connection.send({"error": str(error), "code": int(Exit.USAGE)})
            return
        try:
            async with self._handler.command(request, caller):
                await self._dispatch(request, connection, caller)
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001  told to the one who asked; the door stays open for the others
            failed: dict[str, Json] = {"event": "run_finished", "status": "failed"} if isinstance(request, Ask) else {}
            connection.send(failed | _told(error))
        finally:
            connection.only_listens = False

    async def _dispatch(self, request: AnyRequest, connection: Connection, caller: Caller) -> None:
        if isinstance(request, Ask):
            connection.only_listens = True
            await self._ask(request, connection, caller)
        elif isinstance(request, ForEveryOwner):
            connection.send(await self._answered(request, caller))
        else:
            told = in_hundredths(lambda done, of: connection.send({"progress": [done, of]}))
            connection.send(await self._long(request, told, caller))

    async def _answered(self, request: ForEveryOwner, caller: Caller) -> Mapping[str, Json]:
        match request:
            case Ping():
                return {"pong": True}
            case Status():
                return await self._handler.status(caller.owner_key)
            case Attach():
                return await self._handler.attach(request, caller.owner_key)
            case Enqueue():
                return {"id": await self._handler.enqueue(request, caller.home, caller.owner_key)}
            case ListMailbox() | ListTimers() | ListWaiting() | ChangeWaiting() | Retry() | Withdraw():
                return await self._handler.mail(request, caller.owner_key)
        return await answer_of(self._known().owners, caller, cast("OwnerRequest", request))

    def _known(self) -> OwnerHandler:
        if self._owners is None:
            raise Problem("nobody has a key or settings here", Exit.UNAVAILABLE)
        return self._owners

    async def _long(self, request: AnyRequest, told: Progress, caller: Caller) -> Mapping[str, Json]:
        if isinstance(request, ForgetOwner):
            return {"result": await erased_of(self._known(), caller, request, told)}
        return await self._of_household(request, told, caller)

    async def _of_household(self, request: AnyRequest, told: Progress, caller: Caller) -> Mapping[str, Json]:
        """Do what acts on the room, on all of the memory, or on the box."""
        if not caller.is_household:
            raise Problem(f"{request.do} is for the household: ask it on the box, without a key", Exit.NOT_ALLOWED)
        if isinstance(request, PreviewForget):
            return {"events": await self._handler.would_forget(request)}
        if isinstance(request, Acting):
            return {"done": await self._done(request)}
        return await self._remembered(request, told)

    async def _done(self, request: Acting) -> str:
        match request:
            case Hush():
                return await self._handler.hush(request)
            case Say():
                return await self._handler.say(request)
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
            raise Problem("there is no graph here; set [memory] enabled = true", Exit.UNAVAILABLE)
        match request:
            case Tools():
                return {"tools": await memory.described()}
            case UseTool():
                return {"result": await memory.use(request)}
        return {"result": await memory.act(cast("MemoryRequest", request), told)}

    async def _ask(self, request: Ask, connection: Connection, caller: Caller) -> None:
        pieces: list[str] = []
        ended: dict[str, Json] = {"event": "run_finished", "status": "completed"}
        session = caller.session(request.session)
        asked = self._handler.ask(
            request.text, session, caller.owner_key, speak=request.speak, attached=request.attachments
        )
        async with aclosing(asked) as answer:
            async for piece in answer:
                if isinstance(piece, Outcome):
                    ended |= {"status": piece.status, "id": piece.event_id, "reason": piece.reason}
                elif request.stream:
                    connection.send({"event": "text_chunk", "chunk": piece})
                else:
                    pieces.append(piece)
        whole: dict[str, Json] = {} if request.stream else {"text": "".join(pieces)}
        connection.send(ended | whole)


def _told(error: Exception) -> dict[str, Json]:
    problem = problem_of(error)
    if problem is None:
        _log.error("door_request_failed", exc_info=error)
        return {"error": "something went wrong inside; the log says what"}
    return {"error": problem.sentence, "code": int(problem.code)}
