"""The one behind the door, scripted, and a program that comes to it; both speak for real over a real socket."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TypeAlias

import httpx
from fastapi import APIRouter
from starlette.types import ASGIApp

from appliance.api.caller import Caller
from appliance.api.client import lines_of
from appliance.api.outcome import Outcome
from appliance.api.register import Asked, Register
from appliance.api.requests import box as requests
from appliance.api.requests import mailbox as mailbox_requests
from appliance.api.requests import memory as memory_requests
from appliance.api.requests import owners as owner_requests
from appliance.api.requests.box import Enqueue, Forget, Hush, PreviewForget, Say
from appliance.api.requests.mailbox import LookAt, MailboxRequest
from appliance.api.requests.memory import MemoryHandler, MemoryRequest, UseTool
from appliance.api.requests.owners import OwnerHandler
from appliance.config.network.http import HttpSettings
from appliance.http.access.login import is_for_everybody
from appliance.http.access.middleware import Access
from appliance.http.access.who import Who
from appliance.http.app import app_of
from appliance.http.doors import Doors
from appliance.http.listening.addresses import Addresses
from appliance.http.server import HttpServer
from appliance.owners.owners import Tokens
from memory.json_value import Json
from memory.progress import Progress

Routers: TypeAlias = Callable[[], Sequence[APIRouter]]
"""Returns what does not come of the register."""


@dataclass
class ScriptedHandler:
    """A `DoorHandler`, and the mailbox, memory and models, that answers from a script and keeps what it was given."""

    pieces: list[str] = field(default_factory=lambda: ["It is ", "three."])
    outcome: Outcome | None = None
    """Told after the pieces."""
    error: Exception | None = None
    """Raised after the pieces, or in place of any other answer."""
    endless: bool = False
    """Whether the pieces come again and again."""
    hold: asyncio.Event | None = None
    """Waited for before the last piece."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Text and session."""
    attached: list[list[str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    """Which each question had."""
    stopped: list[str] = field(default_factory=list)
    """Of those whose answers were stopped."""
    owners: list[str] = field(default_factory=list)
    """Whose each request was."""
    enqueued: list[Enqueue] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Each hush and forget."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an answer ended or was closed."""

    async def ping(self) -> Mapping[str, Json]:
        return {"version": "0", "uptime_seconds": 1.0, "waiting": 2}

    async def ask(
        self,
        text: str,
        session: str,
        owner_key: str,
        *,
        marks: Mapping[str, Json],
        attached: Sequence[str] = (),
        event_id: str = "",
    ) -> AsyncGenerator[str | Outcome, None]:
        self.ids.append(event_id)
        self.asked.append((text, session))
        self.attached.append([*attached])
        self.owners.append(owner_key)
        self.begun.set()
        try:
            for piece in self.pieces[:-1]:
                yield piece
            if self.hold is not None:
                await self.hold.wait()
            for piece in self.pieces[-1:]:
                yield piece
            while self.endless:
                for piece in self.pieces:
                    yield piece
                    await asyncio.sleep(0)
            if self.outcome is not None:
                yield self.outcome
            self._fail()
        finally:
            self.closed.set()

    async def stop_answer(self, event_id: str, owner_key: str) -> str:
        self.stopped.append(event_id)
        return "It is stopped."

    async def enqueue(self, request: Enqueue, session: str, owner_key: str) -> str:
        self._fail()
        self.enqueued.append(request)
        self.asked.append((request.type, session))
        self.owners.append(owner_key)
        return f"event-{len(self.enqueued)}"

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        self._fail()
        self.owners.append(owner_key)
        return {"state": "listening", "pending": 2}

    async def say(self, request: Say) -> str:
        self._fail()
        self.told.append(f"say {request.text} {request.id}")
        return "It is said."

    async def hush(self, request: Hush) -> str:
        self._fail()
        self.told.append(request.what)
        return f"Done: {request.what}."

    async def would_forget(self, request: PreviewForget) -> list[Json]:
        if request.about and request.about not in "the dentist is on Friday":
            return []
        return [{"id": "e1", "words": "the dentist is on Friday", "at": "2026-11-22T04:00:00+00:00"}]

    async def forget(self, request: Forget) -> str:
        self._fail()
        self.told.append(f"forget {request.last} {request.minutes} {request.these}".removesuffix(" []"))
        return "Forgotten."

    async def calibrate(self) -> str:
        self._fail()
        self.told.append("calibrate")
        return "Full duplex."

    async def command(self, text: str, caller: Caller, session: str) -> str:
        self._fail()
        self.told.append(text)
        return "Done."

    @asynccontextmanager
    async def published(self, request: Asked, caller: Caller) -> AsyncIterator[None]:
        yield

    async def use(self, request: UseTool | str) -> str:
        self._fail()
        return str(request)

    async def described(self) -> list[Json]:
        return []

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        self._fail()
        told(1, 2)
        return request.do

    async def mail(self, request: MailboxRequest, owner_key: str) -> Mapping[str, Json]:
        self._fail()
        self.owners.append(owner_key)
        self.told.append(request.do)
        if isinstance(request, LookAt):
            return {"id": request.id, "state": "pending"}
        return {"done": "It is tried again."}

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


@asynccontextmanager
async def serving(
    path: Path, handler: ScriptedHandler, owners: OwnerHandler | None = None, routers: Routers = tuple
) -> AsyncIterator[Doors]:
    """Serve at a path for the length of a block."""
    doors = doors_of(path, handler, owners, routers)
    doors.open()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(doors.run())
        try:
            yield doors
        finally:
            running.cancel()
    doors.close()  # a task cancelled before its first step closes nothing


def doors_of(
    path: Path,
    handler: ScriptedHandler,
    owners: OwnerHandler | None = None,
    routers: Routers = tuple,
    memory: MemoryHandler | None = None,
) -> Doors:
    """Return doors that the scripted one stands behind."""
    families = [*requests.entries(handler, handler.use), *mailbox_requests.entries(handler.mail)]
    families += memory_requests.entries(memory or handler)
    families += owner_requests.entries(owners) if owners is not None else []
    register = Register(families, handler.published)
    tokens = owners.owners.tokens if owners is not None else Tokens(path.with_name("tokens"))

    async def load() -> HttpServer:
        return guarded(app_of(register, routers()), tokens)

    return Doors(path, load, Addresses())


def guarded(app: ASGIApp, tokens: Tokens) -> HttpServer:
    """Return a server that lets in whoever the real one lets in."""
    who = Who(HttpSettings(), tokens, monotonic)
    return HttpServer(Access(app, who, is_for_everybody, {}), most=1000)


@dataclass
class Program:
    """A program that sends one request after the other, and hears the answers line by line."""

    client: httpx.AsyncClient
    _answers: AsyncExitStack = field(default_factory=AsyncExitStack)
    _lines: AsyncGenerator[bytes] | None = None

    async def send(self, request: Mapping[str, Json]) -> None:
        """Send a request; what was left of the answers to the one before is dropped."""
        await self._answers.aclose()
        sent = self.client.stream("POST", f"/requests/{request['do']}", json=dict(request))
        response = await self._answers.enter_async_context(sent)
        self._lines = await self._answers.enter_async_context(aclosing(lines_of(response)))

    async def hear(self) -> dict[str, Json]:
        """Return the next answer."""
        assert self._lines is not None
        heard: dict[str, Json] = json.loads(await anext(self._lines))
        return heard

    async def ask(self, request: Mapping[str, Json]) -> dict[str, Json]:
        """Send a request and return the first answer."""
        await self.send(request)
        return await self.hear()

    async def leave(self) -> None:
        """Hang up, whatever is under way."""
        await self._answers.aclose()

    def prove(self, token: str) -> None:
        """Speak for the owner of a token from now on."""
        self.client.headers["Authorization"] = f"Bearer {token}"


@asynccontextmanager
async def visiting(path: Path) -> AsyncIterator[Program]:
    """Give a program that comes by the Unix socket."""
    transport = httpx.AsyncHTTPTransport(uds=str(path), verify=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://nakari", timeout=None) as client:
        program = Program(client)
        try:
            yield program
        finally:
            await program.leave()
            for _ in range(10):  # httpx leaves generators that were not read to their end to the event loop
                await asyncio.sleep(0)
