"""Lets programs in by Wyoming, so many at a time, and those only that may come."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final, NoReturn

import structlog

from appliance.wyoming.connection import Connection, Services
from appliance.wyoming.guests import Guests
from appliance.wyoming.wire import MOST_LINE_BYTES, USUAL, EventStream, Patience
from memory.json_value import Json

BREATH_SECONDS: Final = 1.0
"""Pause when the system has no descriptor left for another connection."""

FULL: Final = "more connections than [wyoming] connections allows"
CROWDED: Final = "more connections from there than half of what [wyoming] connections allows"

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class _Seat:
    """One of the connections that may be open at a time."""

    host: str
    connection: Connection | None = None
    """None while it is found out whether it may come in."""


class WyomingServer:
    """Answers whoever may come. Nothing runs while nobody asks; a connection harms no other one.

    One address has half of the connections at most. Where there is no room, the one that has been idle for longest
    gives way to who comes.
    """

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
        self._seats: list[_Seat] = []
        self._last: datetime | None = None
        self._told = ("", "")
        """Whom the log told of last, and why: who keeps coming is told once."""

    def describe(self) -> dict[str, Json]:
        """Say for the status how many are connected, and when somebody came last."""
        return {"connections": len(self._seats), "last": self._last.isoformat() if self._last else ""}

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
                if lacking := self._lacking(peer[0]):
                    connection.close()
                    self._tell(peer[0], lacking)
                else:
                    self._seats.append(seat := _Seat(peer[0]))
                    group.create_task(self._let_in(connection, peer[:2], seat), name="wyoming: a program")
                await asyncio.sleep(0)  # where many wait, the accept did not

    def _lacking(self, host: str) -> str:
        """Make room for one from an address; return why there is none, "" where there is."""
        own = [seat for seat in self._seats if seat.host == host]
        is_crowded = len(own) >= max(1, self._most // 2)
        if not is_crowded and len(self._seats) < self._most:
            return ""
        among = own if is_crowded else self._seats
        idle = [(one.used_at, seat, one) for seat in among if (one := seat.connection) and one.is_idle]
        if not idle:
            return CROWDED if is_crowded else FULL
        _, seat, connection = min(idle, key=itemgetter(0))
        self._leave(seat)
        connection.cut()
        return ""

    def _leave(self, seat: _Seat) -> None:
        if seat in self._seats:
            self._seats.remove(seat)

    async def _let_in(self, connection: socket.socket, peer: tuple[str, int], seat: _Seat) -> None:
        try:
            here = connection.getsockname()[:2]
            if reason := await asyncio.to_thread(self._guests.refusal, peer, here):
                self._tell(peer[0], reason)
                return
            self._last = self._now()
            reader, writer = await asyncio.open_connection(sock=connection, limit=MOST_LINE_BYTES)
            stream = EventStream(reader, writer, self._patience)
            try:
                seat.connection = Connection(self._services, stream)
                problem = await seat.connection.run()
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
            self._leave(seat)

    def _tell(self, host: str, reason: str) -> None:
        if reason and (host, reason) != self._told:
            self._told = (host, reason)
            log.warning("wyoming_connection_refused", address=host, reason=reason)
