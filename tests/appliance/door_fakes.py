"""The one behind the door, scripted, and a program that comes to it; both speak for real over a real socket."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from appliance.api.attaching import Attach
from appliance.api.caller import Caller
from appliance.api.mailbox_requests import MailboxRequest
from appliance.api.outcome import Outcome
from appliance.api.owner_requests import OwnerHandler
from appliance.api.request_model import Asked
from appliance.api.requests import Enqueue, Forget, Hush, PreviewForget, Say
from appliance.api.server import Door
from memory.json_value import Json


@dataclass
class ScriptedHandler:
    """A `DoorHandler` that answers from a script and keeps what it was given."""

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
    owners: list[str] = field(default_factory=list)
    """Whose each request was."""
    enqueued: list[Enqueue] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Each hush and forget."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an answer ended or was closed."""

    @asynccontextmanager
    async def command(self, request: Asked, caller: Caller) -> AsyncIterator[None]:
        yield

    async def attach(self, request: Attach, owner_key: str) -> Mapping[str, Json]:
        self.owners.append(owner_key)
        return {"attachment": {"name": request.name}}

    async def ask(
        self, text: str, session: str, owner_key: str, *, speak: bool, attached: Sequence[str] = ()
    ) -> AsyncGenerator[str | Outcome, None]:
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
        return [{"id": "e1", "words": "the dentist is on Friday", "at": "2026-11-22T04:00:00+00:00"}]

    async def forget(self, request: Forget) -> str:
        self._fail()
        self.told.append(f"forget {request.last} {request.minutes} {request.these}".removesuffix(" []"))
        return "Forgotten."

    async def calibrate(self) -> str:
        self._fail()
        self.told.append("calibrate")
        return "Full duplex."

    async def mail(self, request: MailboxRequest, owner_key: str) -> Mapping[str, Json]:
        self._fail()
        self.owners.append(owner_key)
        self.told.append(request.do)
        return {"done": "It is tried again."}

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


@asynccontextmanager
async def serving(
    path: Path, handler: ScriptedHandler, owners: OwnerHandler | None = None, clock: Callable[[], float] = monotonic
) -> AsyncIterator[Door]:
    """Serve at a path for the length of a block."""
    door = Door(path, handler, owners=owners, clock=clock)
    door.open()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(door.run())
        try:
            yield door
        finally:
            running.cancel()
    door.close()  # a task cancelled before its first step closes nothing


@dataclass
class Program:
    """A program that speaks raw bytes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, line: bytes | Mapping[str, Json]) -> None:
        self.writer.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        await self.writer.drain()

    async def hear(self) -> dict[str, Json]:
        line = await self.reader.readline()
        assert line.endswith(b"\n"), "the door hung up"
        heard: dict[str, Json] = json.loads(line)
        return heard

    async def ask(self, line: bytes | Mapping[str, Json]) -> dict[str, Json]:
        await self.send(line)
        return await self.hear()

    async def sent_away(self) -> bool:
        """Whether the door hung up without another word."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionResetError:
            return True


@asynccontextmanager
async def visiting(path: Path) -> AsyncIterator[Program]:
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        yield Program(reader, writer)
    finally:
        writer.transport.abort()
