"""A few routes behind the real middleware and the real server, on loopback, and somebody who asks as they like."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import StreamingResponse
from starlette.websockets import WebSocket

from appliance.config.network.http import HttpSettings
from appliance.http.access.login import is_for_everybody, router
from appliance.http.access.middleware import Access
from appliance.http.access.who import Who
from appliance.http.caller import Asks
from appliance.http.listening.connections import Patience
from appliance.http.server import HttpServer
from appliance.owners.owners import Tokens


class Clock:
    """Stands still until it is moved; seconds."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Served:
    """The address of what is served, and all that decides who is let in."""

    settings: HttpSettings
    tokens: Tokens
    clock: Clock = field(default_factory=Clock)
    user: int | None = 0
    """Who the kernel says is at the other end."""
    members: set[int] = field(default_factory=lambda: {0})
    port: int = 0
    tls: ssl.SSLContext | None = None
    patience: Patience = field(default_factory=lambda: Patience(token=0.05))
    pieces: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """What `GET /stream` and `/ws` pass on."""
    orders: list[str] = field(default_factory=list)
    """What came by `/orders`, and was taken."""

    @property
    def url(self) -> str:
        """Where it is, for a program of this machine."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, **headers: str) -> httpx.AsyncClient:
        """Return somebody who asks with these headers, _ for -."""
        return httpx.AsyncClient(
            base_url=self.url, headers={name.replace("_", "-"): value for name, value in headers.items()}, timeout=30
        )


def _routes(served: Served) -> APIRouter:
    routes = APIRouter()

    @routes.get("/")
    async def page() -> str:
        return "the page"

    @routes.get("/whoami")
    async def whoami(caller: Asks) -> dict[str, str]:
        return {"owner": caller.owner_key}

    @routes.post("/words")
    @routes.post("/echo")
    async def echo(request: Request, caller: Asks) -> int:
        return len(await request.body())

    @routes.get("/stream")
    async def stream(caller: Asks) -> StreamingResponse:
        async def all_of_them() -> AsyncIterator[str]:
            while piece := await served.pieces.get():
                yield piece

        return StreamingResponse(all_of_them(), media_type="text/event-stream")

    return routes


def _sockets(served: Served) -> APIRouter:
    routes = APIRouter()

    @routes.websocket("/ws")
    async def talk(websocket: WebSocket, caller: Asks) -> None:
        await websocket.accept()
        await websocket.send_text(caller.owner_key)
        while piece := await served.pieces.get():
            await websocket.send_text(piece)

    @routes.websocket("/orders")
    async def take_orders(websocket: WebSocket, caller: Asks) -> None:
        await websocket.accept()
        async for order in websocket.iter_text():
            served.orders.append(order)
            await websocket.send_text(f"taken: {order}")

    return routes


@asynccontextmanager
async def serving(folder: Path, settings: HttpSettings | None = None, **facts: object) -> AsyncIterator[Served]:
    """Serve on a free port of loopback; `facts` are fields of `Served`."""
    served = replace(Served(settings or HttpSettings(), Tokens(folder / "tokens")), **facts)  # type: ignore[arg-type]
    who = Who(
        served.settings, served.tokens, served.clock, lambda peer, here: served.user, lambda uid: uid in served.members
    )
    app = FastAPI()
    app.include_router(_routes(served))
    app.include_router(_sockets(served))
    app.include_router(router(who))
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        listener.setblocking(False)
        served.port = listener.getsockname()[1]
        access = Access(app, who, is_for_everybody, {"/echo": 100_000}, served.patience)
        server = HttpServer(access, served.settings.connections, served.patience)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(server.serve(listener, served.tls))
            yield served
            running.cancel()
        await server.close()
