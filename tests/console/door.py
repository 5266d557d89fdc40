"""A scripted appliance for the page: an HTTP server that says what a test tells it to, and keeps what the page says."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from queue import Queue
from socket import AF_INET, SO_REUSEPORT, SOCK_STREAM, SOL_SOCKET, socket
from typing import Final

import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse

from appliance.http import page
from memory.json_value import Json

SECONDS: Final = 60.0
"""The longest a test waits for the page; a busy machine is slow."""

PAGE: Final = page.router(page.FOLDER)
"""For all doors: each file is read and compressed once."""

Answer = Mapping[str, Json] | Callable[[dict[str, Json]], Mapping[str, Json]]

IDLE: Final[Mapping[str, Json]] = {
    "version": "0.1.0",
    "state": "listening",
    "tool": None,
    "muted": False,
    "run": None,
    "mailbox": {},
    "timers": [],
}


class ScriptedDoor:
    """What the page is connected to. All methods are for the test's thread."""

    def __init__(self) -> None:
        self.received: Queue[dict[str, Json]] = Queue()
        """Messages of the page on the WebSocket, in order."""
        self.asked: Queue[tuple[str, dict[str, Json]]] = Queue()
        """Requests, each with its payload."""
        self.sound = bytearray()
        """Binary frames of the page."""
        self.snapshot: dict[str, Json] = dict(IDLE)
        self.past: list[dict[str, Json]] = []
        """Messages that are told to who comes, before the snapshot: those after the place that is asked for."""
        self.answers: dict[str, Answer] = {
            "timers": {"timers": []},
            "events": {"events": []},
            "mailbox": {"events": []},
            "command": {"done": "/forget [N | N min] — Erase the last turns.\n/ping — Whether it is there."},
        }
        self.is_away = False
        """Whether every connection and question is refused."""
        self.is_deaf = False
        """Whether what the page asks on the WebSocket is never answered, as where a connection died unnoticed."""
        self.connections = 0
        """How often a page has connected."""
        self.token: str | None = None
        """With one, whoever has not logged in is refused."""
        self.app = FastAPI()
        self._sockets: set[WebSocket] = set()
        self._joined = asyncio.Event()
        """Whether anybody is connected and has its snapshot."""
        self._heard = threading.Condition()
        self._numbers = count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._add_routes()

    def remember(self, event: str, payload: Mapping[str, Json], run_id: str | None = None) -> None:
        """Let something have happened that no page has heard of yet."""
        self.past.append(self._message(event, payload, run_id))

    def say(self, event: str, payload: Mapping[str, Json], run_id: str | None = None) -> dict[str, Json]:
        """Send a message to every page that is connected; return it."""
        message = self._message(event, payload, run_id)
        self._run(self._send_all(message))
        return message

    def answer(self, name: str, payload: Mapping[str, Json]) -> None:
        """Answer the message of the page that has this id."""
        told: dict[str, Json] = {"event": "answer", "run_id": None, "seq": None, "at": _now(), "id": name}
        self._run(self._send_all(told | {"is_last": True, "payload": {**payload}}))

    def _message(self, event: str, payload: Mapping[str, Json], run_id: str | None) -> dict[str, Json]:
        seq = next(self._numbers)
        return {"event": event, "run_id": run_id, "seq": seq, "at": _now(), "payload": {**payload}}

    def say_sound(self, pcm: bytes) -> None:
        """Send a binary frame to every page."""
        self._run(self._send_all(pcm))

    def drop(self) -> None:
        """Close every connection, as a restart does."""
        self._run(self._close_all())

    def next_message(self) -> dict[str, Json]:
        """Return what the page said next on the WebSocket."""
        return self.received.get(timeout=SECONDS)

    def wait_for_sound(self, count: int) -> None:
        """Wait until so many bytes of the page's microphone have come."""
        with self._heard:
            assert self._heard.wait_for(lambda: len(self.sound) >= count, SECONDS), f"only {len(self.sound)} bytes"

    def next_request(self, do: str) -> dict[str, Json]:
        """Return the payload of the next request of this name; others before it are passed over."""
        while True:
            name, payload = self.asked.get(timeout=SECONDS)
            if name == do:
                return payload

    def run(self, server: uvicorn.Server, listening: socket) -> None:
        """Serve until the server is told to exit; for a thread of its own."""
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(server.serve(sockets=[listening]))
        self._loop.close()

    def _run(self, coroutine: Coroutine[None, None, None]) -> None:
        assert self._loop is not None, "it is not served yet"
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SECONDS)

    async def _send_all(self, message: dict[str, Json] | bytes) -> None:
        await self._joined.wait()
        for each in [*self._sockets]:
            await (each.send_bytes(message) if isinstance(message, bytes) else each.send_json(message))

    async def _close_all(self) -> None:
        await self._joined.wait()
        self._joined.clear()
        for each in [*self._sockets]:
            await each.close(1012)

    def _may(self, cookies: Mapping[str, str]) -> bool:
        return self.token is None or cookies.get("nakari") == self.token

    def _add_routes(self) -> None:
        app = self.app
        app.include_router(PAGE)
        app.add_api_route("/status", self._status, methods=["GET"])
        app.add_api_route("/login", self._login, methods=["POST"])
        app.add_api_route("/attachments", self._attach, methods=["POST"])
        app.add_api_route("/requests/{do:path}", self._request, methods=["POST"])
        app.add_api_websocket_route("/ws", self._connected)

    async def _status(self, request: Request) -> Response:
        return JSONResponse({}, 503 if self.is_away else 200 if self._may(request.cookies) else 401)

    async def _login(self, request: Request) -> Response:
        given = await request.json()
        if given.get("token") != self.token:
            return JSONResponse({"error": "this token is not known here", "code": 77}, 401)
        answer = JSONResponse({"done": "signed in"})
        answer.set_cookie("nakari", str(self.token), httponly=True, samesite="strict")
        return answer

    async def _attach(self, request: Request, name: str) -> Response:
        self.asked.put(("attachments", {"name": name, "bytes": len(await request.body())}))
        return JSONResponse({"id": "file-1"})

    async def _request(self, request: Request, do: str) -> Response:
        payload = await request.json()
        self.asked.put((do, payload))
        if (answer := self.answers.get(do)) is None:
            return JSONResponse({"error": f"there is no request {do}", "code": 64}, 404)
        return JSONResponse(answer(payload) if callable(answer) else answer)

    async def _connected(self, client: WebSocket) -> None:
        if self.is_away or not self._may(client.cookies):
            await client.close()
            return
        await client.accept()
        self.connections += 1
        after = int(client.query_params["after"])
        for told in self.past:
            if int(str(told["seq"])) > after:
                await client.send_json(told)
        await client.send_json(
            {"event": "snapshot", "run_id": None, "seq": None, "at": _now(), "payload": self.snapshot}
        )
        self._sockets.add(client)
        self._joined.set()
        try:
            await self._listen(client)
        except WebSocketDisconnect:
            pass
        finally:
            self._sockets.discard(client)
            if not self._sockets:
                self._joined.clear()

    async def _take(self, client: WebSocket, message: dict[str, Json]) -> None:
        if message["type"] != "request":
            self.received.put(message)
        elif not self.is_deaf:
            told = {"event": "answer", "run_id": None, "seq": None, "at": _now(), "id": message["id"], "is_last": True}
            await client.send_json(told | {"payload": {"pong": True}})

    async def _listen(self, client: WebSocket) -> None:
        while True:
            message = await client.receive()
            if message["type"] == "websocket.disconnect":
                return
            if (data := message.get("bytes")) is not None:
                with self._heard:
                    self.sound += data
                    self._heard.notify_all()
            else:
                await self._take(client, json.loads(message["text"]))


def _now() -> str:
    return datetime.now(UTC).isoformat()


@contextmanager
def bound(port: int = 0) -> Iterator[socket]:
    """Give a socket at this port of 127.0.0.1, 0 for a free one; others of this process may be at the same."""
    with socket(AF_INET, SOCK_STREAM) as made:
        made.setsockopt(SOL_SOCKET, SO_REUSEPORT, 1)
        made.bind(("127.0.0.1", port))
        yield made


@contextmanager
def serving(door: ScriptedDoor, port: int = 0) -> Iterator[str]:
    """Serve it in a thread at this port of 127.0.0.1, 0 for a free one, and yield the page's address."""
    with bound(port) as listening:
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(door.app, log_config=None, ws="websockets-sansio", lifespan="off"))
        thread = threading.Thread(target=door.run, args=(server, listening))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            server.force_exit = True
            thread.join()
