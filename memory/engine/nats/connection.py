"""The connection to NATS: made when somebody needs it, thrown away when it breaks, made anew after a rest."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

from nats.aio.client import Client
from nats.errors import (
    AuthorizationError,
    ConnectionClosedError,
    Error,
    InvalidUserCredentialsError,
    NoRespondersError,
    OutboundBufferLimitError,
)
from nats.js.client import JetStreamContext
from nats.js.errors import (
    APIError,
    KeyWrongLastSequenceError,
    NoStreamResponseError,
    NotFoundError,
    ServiceUnavailableError,
)

from memory.backoff import Backoff
from memory.clock import within
from memory.engine.access import Address, Login
from memory.engine.interface import DEADLINE
from memory.engine.nats.nkeys import KeyedClient, proof_of
from memory.errors import EngineFailure, EngineFull, EngineRefused, EngineUnreachable, OutcomeUnknown

T = TypeVar("T")

_PING: Final = 2
"""Seconds between pings; two without an answer, and the server counts as gone."""

_NO_ROOM: Final = {10023, 10047, 10077}
"""Codes of JetStream: insufficient resources, storage exceeded, a store that failed."""

WRONG_SEQUENCE: Final = {10071, 10164}
"""Codes of JetStream: what was expected to be the last is not."""


class Connection:
    """One connection, from its beginning to its end."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.jetstream: JetStreamContext = client.jetstream(timeout=DEADLINE)
        self.refusal = ""
        """What the server last said it does not permit; "" when nothing."""
        self._is_gone = False
        self._scopes: set[asyncio.Timeout] = set()

    @property
    def is_alive(self) -> bool:
        """Whether it stands, as far as is known."""
        return not self._is_gone and self.client.is_connected

    def went(self) -> None:
        """End all that waits on it."""
        self._is_gone = True
        now = asyncio.get_running_loop().time()
        for scope in self._scopes:
            with suppress(RuntimeError):  # one that has just ended
                scope.reschedule(now)

    @contextmanager
    def _watched(self, scope: asyncio.Timeout) -> Iterator[None]:
        self._scopes.add(scope)
        try:
            if not self.is_alive:
                scope.reschedule(0)
            yield
        finally:
            self._scopes.discard(scope)

    async def during(self, what: Awaitable[T], seconds: float | None = None) -> T:
        """Wait for something as long as the connection stands, so long at most; raises TimeoutError."""
        async with asyncio.timeout(seconds) as scope:
            with self._watched(scope):
                return await heeding(what)


async def heeding(what: Awaitable[T]) -> T:
    """Wait for a call of nats-py, and raise CancelledError also where it kept one for itself.

    Its `wait_for` (before Python 3.12) does when the answer comes in the same moment, its flush always; what loops
    around the call would then go on for ever.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    value = await what
    if task.cancelling() > before:
        raise asyncio.CancelledError
    return value


class Link:
    """The way to one server. Safe for many callers on one event loop."""

    def __init__(self, server: Address, login: Login, prepare: Callable[[Connection], Awaitable[None]]) -> None:
        """`prepare` makes what is missing on the server, once for each connection."""
        self.server = server
        self._login = login
        self._prepare = prepare
        self._now: Connection | None = None
        self._lock = asyncio.Lock()
        self._rest = Backoff(first=0.1, longest=5.0, jitter=0.2)
        self._failure: EngineFailure = self._unreachable("it does not answer")
        """Why the last try to connect failed."""
        self._connected = asyncio.Event()

    @property
    def is_up(self) -> bool:
        """Whether a connection stands."""
        return self._now is not None and self._now.is_alive

    async def connection(self) -> Connection:
        """Return a connection that stands; raises `EngineUnreachable`, at once during a rest, and `EngineRefused`."""
        async with self._lock:
            if self._now is not None and self._now.is_alive:
                return self._now
            if self._rest.rest:
                raise type(self._failure)(str(self._failure))
            try:
                self._now = await self._connect()
            except EngineFailure as failure:
                self._rest.failed()
                self._failure = failure
                raise
            self._rest.worked()
            self._connected.set()
            return self._now

    async def patiently(self) -> Connection:
        """Return a connection, however long that takes. Raises `EngineRefused`."""
        while True:
            with suppress(EngineUnreachable):
                return await self.connection()
            self._connected.clear()
            await within(max(0.05, self._rest.rest), self._connected)

    async def reach(self) -> Connection:
        """Return a connection that stands, within `DEADLINE`. Raises `EngineUnreachable`, `EngineRefused`."""

        async def itself(connection: Connection) -> Connection:
            return connection

        return await self.ask(itself, changes=False)

    async def ask(
        self, what: Callable[[Connection], Awaitable[T]], *, changes: bool = True, seconds: float = DEADLINE
    ) -> T:
        """Do something on a connection, in so many seconds at most, to connect included.

        Raises `EngineUnreachable` when nothing was sent, or nothing changes by it; else `OutcomeUnknown`;
        `EngineRefused`, `EngineFull`; APIError of nats for what the server answered otherwise.
        """
        connection: Connection | None = None
        try:
            async with asyncio.timeout(seconds):
                connection = await self.connection()
                return await connection.during(what(connection))
        except (NoStreamResponseError, NoRespondersError, OutboundBufferLimitError):
            raise EngineUnreachable(f"JetStream at {self.server.at} does not answer; is it starting, or off?") from None
        except APIError as error:
            raise explained(error, self.server) from None
        except (TimeoutError, ConnectionClosedError, OSError):
            if connection is not None and connection.refusal:
                raise EngineRefused(f"{self.server.at} does not permit this ({connection.refusal})") from None
            if connection is not None and changes:
                what_happened = f"{self.server.at} gave no answer within {seconds:g} s, or the connection broke"
                raise OutcomeUnknown(f"{what_happened}; nobody knows yet whether it was kept") from None
            raise self._unreachable("it does not answer") from None

    async def close(self) -> None:
        """Let go of the connection; a server that does not take the last bytes is not waited for."""
        connection, self._now = self._now, None
        if connection is not None:
            connection.went()
            await _closed(connection.client)

    def _unreachable(self, why: str) -> EngineUnreachable:
        return EngineUnreachable(f"NATS at {self.server.at} cannot be reached ({why}); start it, or mend the network")

    async def _connect(self, tries: int = 3) -> Connection:
        """Ask again after a reset, which may overtake the reason for which a server closes at once."""
        client = KeyedClient()
        connection = Connection(client)
        last: list[Exception] = []

        async def failed(error: Exception) -> None:
            last[:] = [error]
            if "permissions violation" in str(error).lower():
                connection.refusal = str(error).removeprefix("nats: ")

        async def gone() -> None:
            connection.went()

        try:
            async with asyncio.timeout(DEADLINE):
                connecting = client.connect(
                    [f"nats://{self.server.at}"],
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=2,
                    ping_interval=_PING,
                    max_outstanding_pings=2,
                    error_cb=failed,
                    closed_cb=gone,
                    disconnected_cb=gone,
                    name="nakari",
                    **proof_of(self._login, self.server),
                )
                await heeding(connecting)
                await heeding(self._prepare(connection))
        except BaseException as error:
            await _closed(client)
            if not isinstance(error, (Error, OSError, TimeoutError, ValueError)):
                raise
            if tries > 1 and any(isinstance(each, ConnectionResetError) for each in (error, *last)):
                return await self._connect(tries - 1)
            raise self._refused(error, last) from None
        return connection

    def _refused(self, error: BaseException, last: list[Exception]) -> EngineFailure:
        cause = last[0] if last and not isinstance(error, (APIError, AuthorizationError)) else error
        words = str(cause).removeprefix("nats: ").strip("'") or type(cause).__name__
        if isinstance(cause, (AuthorizationError, InvalidUserCredentialsError)) or "authorization" in words.lower():
            return EngineRefused(f"NATS at {self.server.at} does not let nakari in; set its login or its key anew")
        if isinstance(cause, OSError) and "certificate" in words.lower():
            what = f"the certificate of NATS at {self.server.at} is not trusted ({words})"
            return EngineRefused(f"{what}; name the authority's file, or the host as the certificate has it")
        if isinstance(error, APIError) and isinstance(failure := explained(error, self.server), EngineFailure):
            return failure
        if isinstance(error, NoStreamResponseError | NoRespondersError):
            words = "JetStream does not answer"
        return self._unreachable(words)


async def _closed(client: Client) -> None:
    with suppress(Error, OSError, TimeoutError, AttributeError):
        async with asyncio.timeout(0.5):
            await client.close()
    if (transport := client._transport) is not None:
        with suppress(Exception):
            transport.close()  # type: ignore[no-untyped-call]


def explained(error: APIError, server: Address) -> Exception:
    """Return what JetStream answered as an `EngineFailure`; as it is where only the caller knows what it means."""
    if isinstance(error, NotFoundError | KeyWrongLastSequenceError) or error.err_code in WRONG_SEQUENCE:
        return error
    words = error.description or ""
    if error.err_code in _NO_ROOM or "no space left" in words or "maximum bytes" in words:
        return EngineFull(f"JetStream at {server.at} has no room ({words}); free disk space there, or raise its limit")
    if error.err_code == 10039 or "not enabled" in words:
        fix = "give the server a jetstream block, and the account jetstream: enabled"
        return EngineRefused(f"JetStream is not enabled at {server.at} for this account; {fix}")
    if isinstance(error, ServiceUnavailableError):
        return EngineUnreachable(f"JetStream at {server.at} is not ready ({words}); try again")
    return EngineRefused(f"JetStream at {server.at} refused ({words}); its log says more")
