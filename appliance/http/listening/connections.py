"""One connection of the server: closed when its request does not come in time, or its answer is not taken."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import h11
import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState


class Patience(Struct, frozen=True):
    """How long a program may take; uvicorn itself waits for ever for a request that has begun."""

    head: float = 10.0
    """Seconds for the line of a request and its headers."""
    whole: float = 120.0
    """Seconds for its body; an utterance that is sent while it is spoken takes as long as it."""
    body: float = 30.0
    """Seconds for the body of a request that says something in JSON: who writes slowly holds a connection as long."""
    idle: int = 5
    """Seconds that a connection is kept when nothing is asked (uvicorn's default)."""
    token: float = 2.0
    """Seconds between two looks whether the token of a WebSocket is good still, on which nothing is said."""


USUAL: Final = Patience()

_COMING: Final = (h11.IDLE, h11.SEND_BODY)


class Connection(H11Protocol):
    """uvicorn's protocol with an end to each wait for a program."""

    def __init__(self, patience: Patience, config: uvicorn.Config, state: ServerState) -> None:
        super().__init__(config, state, {})
        self._patience = patience
        self._waits_for: type[h11.IDLE] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_left = False
        """Whether it is a WebSocket's now, which has an end to each wait of its own."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take some bytes of a request."""
        super().data_received(data)
        self._wait()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to the WebSocket."""
        self._is_left = True
        self._wait_no_more()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that is not used; with an answer that was not taken, at once."""
        if self.transport.get_write_buffer_size():
            cut(self.transport)
        super().timeout_keep_alive_handler()

    def _wait(self) -> None:
        """Count the time from when the present part of a request began, not from its last byte."""
        state: Any = self.conn.their_state
        if state is self._waits_for or self._is_left or self.transport.is_closing():
            return
        self._wait_no_more()
        if state in _COMING:
            self._waits_for = state
            seconds = self._patience.head if state is h11.IDLE else self._patience.whole
            self._timer = self.loop.call_later(seconds, cut, self.transport)

    def _wait_no_more(self) -> None:
        self._waits_for = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def cut(transport: asyncio.Transport) -> None:
    """Close a connection at once, whatever waits to be sent."""
    with suppress(AttributeError):  # a TLS connection that is closing already, before Python 3.11.4
        transport.abort()
