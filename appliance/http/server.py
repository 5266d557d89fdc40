"""uvicorn's protocols on connections that are accepted here: it touches neither the process nor its log."""

import asyncio
import errno
import socket
import ssl
from collections import Counter
from functools import partial
from typing import Final, NoReturn

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from appliance.http.listening.addresses import BREATH_SECONDS
from appliance.http.listening.connections import USUAL, Connection, Patience, cut

MOST_FRAME_BYTES: Final = 1_000_000
"""Of a frame of the WebSocket."""

MOST_HEADER_BYTES: Final = 64_000
"""Of a request's line and headers together (uvicorn's own limit)."""

HANDSHAKE_SECONDS: Final = 10.0
"""That a program may take to agree on TLS."""

SHARE: Final = 2
"""One address may have so manyth of all connections, so that one stranger leaves room for others."""

_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class HttpServer:
    """Answers by an ASGI application.

    Nothing runs while nobody asks. One over `most` is closed before a byte of theirs is read; programs that come by a
    Unix socket are counted apart, so that no stranger keeps the household out.
    """

    def __init__(self, app: ASGIApp, most: int, patience: Patience = USUAL) -> None:
        """`most` connections may be open at a time over TCP, and as many at the Unix socket."""
        self._most = most
        self._patience = patience
        self._at_socket, self._over_tcp = ServerState(), ServerState()
        self._coming: Counter[str] = Counter()
        """Connections that are not open yet, by address."""
        self._config = uvicorn.Config(
            app,
            lifespan="off",
            access_log=False,
            log_config=None,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            ws_max_size=MOST_FRAME_BYTES,
            ws_max_queue=8,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            timeout_keep_alive=patience.idle,
        )
        self._config.load()

    async def serve(self, listener: socket.socket, tls: ssl.SSLContext | None = None) -> NoReturn:
        """Answer whoever comes by a listening socket, until cancelled; who is in by then stays.

        One is let in at a time, so that many who come hold up nothing else. `tls` makes it https.
        """
        loop = asyncio.get_running_loop()
        state = self._at_socket if listener.family == socket.AF_UNIX else self._over_tcp
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    connection, address = await loop.sock_accept(listener)
                except OSError as error:
                    if error.errno in _NO_ROOM:
                        await asyncio.sleep(BREATH_SECONDS)
                    continue  # else it left before it was let in (accept(2))
                origin = address[0] if state is self._over_tcp else ""
                if self._is_full(state, origin):
                    connection.close()
                else:
                    self._coming[origin] += 1
                    group.create_task(self._let_in(connection, origin, state, tls), name="http: one comes in")
                await asyncio.sleep(0)  # where many wait, the line above did not

    async def close(self) -> None:
        """End what is under way at once: the box has said its farewell already."""
        states = (self._at_socket, self._over_tcp)
        for connection in [each for state in states for each in state.connections]:
            connection.shutdown()
        if under_way := [task for state in states for task in state.tasks]:
            for task in under_way:
                task.cancel()
            await asyncio.wait(under_way)
        for connection in [each for state in states for each in state.connections]:
            if connection.transport is not None:
                cut(connection.transport)

    def _is_full(self, state: ServerState, origin: str) -> bool:
        if state is self._at_socket:
            return len(state.connections) >= self._most
        if len(state.connections) + self._coming.total() - self._coming[""] >= self._most:
            return True
        of_it = sum((getattr(each, "client", None) or ("",))[0] == origin for each in state.connections)
        return bool(of_it + self._coming[origin] >= max(1, self._most // SHARE))

    async def _let_in(
        self, connection: socket.socket, origin: str, state: ServerState, tls: ssl.SSLContext | None
    ) -> None:
        protocol = partial(Connection, self._patience, self._config, state)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                protocol, connection, ssl=tls, ssl_handshake_timeout=HANDSHAKE_SECONDS if tls else None
            )
        except OSError:  # it left, or agreed on no TLS
            connection.close()
        finally:
            self._coming[origin] -= 1
            self._coming += Counter()  # forgets those of whom none is left
