"""Lets programs in by Wyoming, so many at a time, and those only that may come."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Final, NoReturn

import structlog

from appliance.wyoming.connection import Connection, Services
from appliance.wyoming.guests import Guests
from appliance.wyoming.wire import MOST_LINE_BYTES, USUAL, EventStream, Patience
from memory.json_value import Json

BREATH_SECONDS: Final = 1.0
"""Pause when the system has no descriptor left for another connection."""

FULL: Final = "more connections than [wyoming] connections allows"

log = structlog.get_logger()


class WyomingServer:
    """Answers whoever may come. Nothing runs while nobody asks; a connection harms no other one."""

    def __init__(
        self,
        services: Services,
        guests: Guests,
        most: int,
        now: Callable[[], datetime],
        patience: Patience = USUAL,
    ) -> None:
        """`most` connections may be open at a time; `now` is aware."""
        self._services = services
        self._guests = guests
        self._most = most
        self._now = now
        self._patience = patience
        self._open = 0
        self._last: datetime | None = None
        self._told = ("", "")
        """Whom the log told of last, and why: who keeps coming is told once."""

    def describe(self) -> dict[str, Json]:
        """Say for the status how many are connected, and when somebody came last."""
        return {"connections": self._open, "last": self._last.isoformat() if self._last else ""}

    async def serve(self, listener: socket.socket) -> NoReturn:
        """Answer whoever comes by a listening socket, until cancelled, which ends all connections at once."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    connection, peer = await loop.sock_accept(listener)
                except OSError:  # it left before it was let in, or there is no descriptor left
                    await asyncio.sleep(BREATH_SECONDS)
                    continue
                if self._open >= self._most:
                    connection.close()
                    self._tell(peer[0], FULL)
                else:
                    self._open += 1
                    group.create_task(self._let_in(connection, peer[:2]), name="wyoming: a program")
                await asyncio.sleep(0)  # where many wait, the accept did not

    async def _let_in(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        try:
            here = connection.getsockname()[:2]
            if reason := await asyncio.to_thread(self._guests.refusal, peer, here):
                self._tell(peer[0], reason)
                return
            self._last = self._now()
            reader, writer = await asyncio.open_connection(sock=connection, limit=MOST_LINE_BYTES)
            stream = EventStream(reader, writer, self._patience)
            try:
                problem = await Connection(self._services, stream).run()
                await stream.close()
            finally:
                stream.cut()
            self._tell(peer[0], f"it sent {problem}" if problem else "")
        except OSError:  # it left
            pass
        except Exception:
            log.exception("wyoming_connection_failed", address=peer[0])
        finally:
            with suppress(OSError):
                connection.close()
            self._open -= 1

    def _tell(self, host: str, reason: str) -> None:
        if reason and (host, reason) != self._told:
            self._told = (host, reason)
            log.warning("wyoming_connection_refused", address=host, reason=reason)
