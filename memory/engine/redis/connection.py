"""Connections to Redis: one for each command under way, thrown away when it breaks."""

import asyncio
import socket
from contextlib import suppress
from typing import Any, Final

from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    NoPermissionError,
    OutOfMemoryError,
    RedisError,
    ResponseError,
)

from memory.backoff import Backoff
from memory.engine.access import Address, Login
from memory.engine.interface import DEADLINE
from memory.errors import EngineFailure, EngineFull, EngineRefused, EngineUnreachable, OutcomeUnknown

_ALIVE: Final = {socket.TCP_KEEPIDLE: 5, socket.TCP_KEEPINTVL: 2, socket.TCP_KEEPCNT: 3}
"""Seconds, seconds and count: who waits on a machine that is gone learns of it."""

_IDLE: Final = 4
"""Connections that are kept while nothing is under way on them."""


class RedisLink:
    """The way to one server. Safe for many callers on one event loop."""

    def __init__(self, server: Address, login: Login) -> None:
        self.server = server
        self._arguments: dict[str, Any] = {
            "host": server.host,
            "port": server.port,
            "username": login.user or server.user or None,
            "password": login.password or login.token or server.password or None,
            "socket_connect_timeout": 2.0,
            "socket_timeout": None,  # `do` has its own; redis' way to one loses a cancellation on Python 3.11
            "socket_keepalive": True,
            "socket_keepalive_options": _ALIVE,
            "retry": Retry(NoBackoff(), 0),
            "protocol": 2,
        }
        self._kind: type[Connection] = Connection
        if server.is_secure:
            server.trust(login.authority)  # says clearly what is wrong with the file
            self._kind = SSLConnection
            self._arguments |= {"ssl_ca_certs": login.authority and str(login.authority), "ssl_check_hostname": True}
        self._idle: list[Connection] = []
        self._used: set[Connection] = set()
        self._rest = Backoff(first=0.1, longest=5.0, jitter=0.2)
        self._failure: EngineFailure = self._unreachable("it does not answer")
        """Why the last try to connect failed."""
        self.is_up = False
        """Whether the last that was tried came through."""

    async def do(self, *command: object, changes: bool = True, seconds: float = DEADLINE) -> Any:
        """Do one command and return Redis' answer, texts as bytes.

        Raises `EngineUnreachable` when nothing was sent, or nothing changes by it; else `OutcomeUnknown`; `EngineFull`,
        `EngineRefused`.
        """
        connection: Connection | None = None
        try:
            async with asyncio.timeout(seconds):
                connection = await self.connection()
                await connection.send_command(*command)
                answer = await connection.read_response()
        except ResponseError as error:
            await self._back(connection)
            raise self._explained(error) from None
        except (RedisError, OSError, TimeoutError) as error:
            await self.drop(connection)
            self.is_up = False
            if connection is not None and changes and not isinstance(error, BusyLoadingError):
                what = f"Redis at {self.server.at} gave no answer within {seconds:g} s, or the connection broke"
                raise OutcomeUnknown(f"{what}; nobody knows yet whether it was kept") from None
            self._failure = self._unreachable(str(error).strip(".") or "it does not answer")
            raise self._failure from None
        except BaseException:
            await self.drop(connection)
            raise
        await self._back(connection)
        self.is_up = True
        return answer

    async def script(self, text: str, keys: list[str], *arguments: object, changes: bool = True) -> Any:
        """Run a Lua script, which is done whole before anything else is; raises as `do`."""
        return await self.do("EVAL", text, len(keys), *keys, *arguments, changes=changes)

    async def connection(self) -> Connection:
        """Return a connection that stands, for `drop` later; raises `EngineFailure`, RedisError, OSError."""
        while self._idle:
            connection = self._idle.pop()
            self._used.add(connection)
            if not await connection.can_read():  # else it was closed while nobody looked
                return connection
            await self.drop(connection)
        if self._rest.rest:
            raise type(self._failure)(str(self._failure))
        connection = self._kind(**self._arguments)
        self._used.add(connection)
        try:
            await connection.connect()  # type: ignore[no-untyped-call]
        except BaseException as error:
            await self.drop(connection)
            if isinstance(error, AuthenticationError | NoPermissionError):
                self._rest.failed()
                what = f"Redis at {self.server.at} does not let nakari in"
                self._failure = EngineRefused(f"{what}; set its login anew")
                raise self._failure from None
            if isinstance(error, RedisError | OSError) and not isinstance(error, BusyLoadingError):
                self._rest.failed()
            if "certificate" in str(error).lower():
                what = f"the certificate of Redis at {self.server.at} is not trusted"
                fix = "name the authority's file, or the host as the certificate has it"
                self._failure = EngineRefused(f"{what}; {fix}")
                raise self._failure from None
            raise
        self._rest.worked()
        return connection

    async def patiently(self) -> None:
        """Wait until the server answers, however long that takes. Raises `EngineRefused`."""
        while True:
            with suppress(EngineUnreachable):
                await self.do("PING", changes=False)
                return
            await asyncio.sleep(max(0.05, self._rest.rest))

    async def close(self) -> None:
        """Let go of all connections, those under way too."""
        self._idle.clear()
        for connection in list(self._used):
            await self.drop(connection)
        self.is_up = False

    async def _back(self, connection: Connection | None) -> None:
        if connection is not None and connection in self._used and len(self._idle) < _IDLE:
            self._idle.append(connection)
        else:
            await self.drop(connection)

    async def drop(self, connection: Connection | None) -> None:
        """End a connection that `connection` returned; None is none."""
        if connection is not None:
            self._used.discard(connection)
            with suppress(RedisError, OSError, TimeoutError):
                await connection.disconnect(nowait=True)

    def _unreachable(self, why: str) -> EngineUnreachable:
        return EngineUnreachable(f"Redis at {self.server.at} cannot be reached ({why}); start it, or mend the network")

    def _explained(self, error: ResponseError) -> EngineFailure:
        words = str(error)
        if isinstance(error, OutOfMemoryError) or words.startswith(("OOM", "MISCONF")):
            fix = "raise its maxmemory, or free disk space there"
            return EngineFull(f"Redis at {self.server.at} has no room ({words}); {fix}")
        if isinstance(error, NoPermissionError) or words.startswith(("NOAUTH", "WRONGPASS", "NOPERM")):
            return EngineRefused(f"Redis at {self.server.at} does not permit this ({words}); set its login or ACL anew")
        return EngineRefused(f"Redis at {self.server.at} refused ({words}); its log says more")
