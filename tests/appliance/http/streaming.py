"""A real uvicorn at a Unix socket before a real mind, and clients that read its streams."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from fastapi import APIRouter
from websockets.asyncio.client import ClientConnection, unix_connect

from agent.event import HOUSEHOLD, USER_TEXT, Event
from appliance.api.caller import Caller
from appliance.api.client import lines_of
from appliance.api.register import Register
from appliance.api.requests import box as requests
from appliance.http import streams, websocket
from appliance.http.app import app_of
from appliance.http.doors import Doors
from appliance.http.listening.addresses import Addresses
from appliance.http.server import HttpServer
from appliance.live.audio import OpensSound
from appliance.live.from_client import UserWords
from appliance.live.live import Live
from appliance.owners.owners import Tokens
from memory.json_value import Json
from tests.agent.mind import PATIENCE, TestMind
from tests.appliance.door_fakes import ScriptedHandler, guarded
from tests.appliance.live.looking import Told, valid


@dataclass
class Mailing:
    """The household's end of a WebSocket: what is written goes into the mailbox of a mind."""

    mind: TestMind
    stopped: list[str] = field(default_factory=list)
    """Who wanted silence."""

    async def write(self, words: UserWords, caller: Caller, marks: Mapping[str, Json]) -> Mapping[str, Json]:
        session = caller.session(words.session)
        event = Event(USER_TEXT, words.content, owner_key=caller.owner_key, session_id=session, metadata=marks)
        await self.mind.mailbox.enqueue(event)
        return {"event_id": event.id}

    async def stop(self, caller: Caller) -> None:
        self.stopped.append(caller.owner_key)


@dataclass
class Served:
    """A box that answers."""

    path: Path
    tokens: Tokens
    handler: ScriptedHandler
    mailing: Mailing

    def headers(self, owner_key: str) -> dict[str, str]:
        """Return what says who asks: nothing for the household, which comes by the Unix socket."""
        return {} if owner_key == HOUSEHOLD else {"authorization": f"Bearer {self.tokens.issue(owner_key)}"}

    @asynccontextmanager
    async def talking(self, owner_key: str = HOUSEHOLD, query: str = "?levels=false") -> AsyncIterator["Talk"]:
        """Give a WebSocket, once it was told how it is."""
        async with talking(self.path, self.headers(owner_key), query) as talk:
            yield talk

    @asynccontextmanager
    async def listening(
        self, owner_key: str = HOUSEHOLD, headers: Mapping[str, str] | None = None, query: str = "?levels=false"
    ) -> AsyncIterator["Listen"]:
        """Give a stream of server-sent events."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.path), verify=False)
        sent = {**self.headers(owner_key), **(headers or {})}
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://nakari", timeout=None, headers=sent) as client,
            client.stream("GET", f"/stream{query}") as response,
            aclosing(lines_of(response)) as lines,
        ):
            yield Listen(response, lines)


@asynccontextmanager
async def talking(
    path: Path, headers: Mapping[str, str] | None = None, query: str = "?levels=false"
) -> AsyncIterator["Talk"]:
    """Give a WebSocket to whoever serves at a path."""
    at = f"ws://nakari/ws{query}"
    async with unix_connect(str(path), at, additional_headers=headers or {}, max_size=None) as connection:
        yield Talk(connection)


@asynccontextmanager
async def served(folder: Path, live: Live, mind: TestMind, audio: OpensSound | None = None) -> AsyncIterator[Served]:
    """Serve the streams of a mind for the length of a block."""
    handler, mailing, tokens = ScriptedHandler(), Mailing(mind), Tokens(folder / "tokens")
    register = Register(requests.entries(handler, handler.use), handler.published)

    async def load() -> HttpServer:
        behind = websocket.Behind(live, register, mailing, audio)
        routers: list[APIRouter] = [streams.router(live), websocket.router(behind)]
        return guarded(app_of(register, routers), tokens)

    doors = Doors(folder / "socket", load, Addresses())
    doors.open()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(doors.run())
        try:
            yield Served(folder / "socket", tokens, handler, mailing)
        finally:
            running.cancel()


@dataclass
class Talk:
    """What comes over a WebSocket, each message as the published schema has it."""

    connection: ClientConnection
    told: list[Told] = field(default_factory=list)

    async def send(self, kind: str, **fields: object) -> None:
        await self.connection.send(json.dumps({"type": kind, **fields}))

    async def until(self, name: str, **fields: object) -> list[Told]:
        """Read until a message of this name with these fields, in it or its payload; return all, that one last.

        Sound between them is passed over.
        """
        found: list[Told] = []

        def is_found(message: Told) -> bool:
            payload = message["payload"]
            told = {**(payload if isinstance(payload, dict) else {}), **message}
            return message["event"] == name and all(told.get(key) == value for key, value in fields.items())

        async with asyncio.timeout(PATIENCE):
            while not found or not is_found(found[-1]):
                if isinstance(text := await self.connection.recv(), str):
                    found.append(valid(text))
        return found


class Listen:
    """What comes as server-sent events."""

    def __init__(self, response: httpx.Response, lines: AsyncGenerator[bytes]) -> None:
        self.response = response
        self._lines = lines

    async def next(self) -> tuple[str, Told]:
        """Return the next event's id, "" where it has none, and its message."""
        async with asyncio.timeout(PATIENCE):
            fields: dict[str, str] = {}
            async for told in self._lines:
                line = told.decode()
                name, _, value = line.partition(": ")
                if not line and "data" in fields:
                    break
                fields |= {name: value} if name else {}
        message = valid(fields["data"])
        assert fields["event"] == message["event"]
        assert fields.get("id") == (None if message["seq"] is None else str(message["seq"]))
        return fields.get("id", ""), message

    async def until(self, name: str) -> list[Told]:
        found: list[Told] = []
        while not found or found[-1]["event"] != name:
            found.append((await self.next())[1])
        return found
