"""Connections to the store through the official driver, which is imported for the first one; bare transactions."""

import asyncio
import sys
from calendar import monthrange
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from socket import socket
from struct import Struct
from traceback import walk_tb
from typing import TYPE_CHECKING, Final, Generic, Self, TypeVar

from memory.errors import GraphUnavailable
from memory.graph import refusals
from memory.graph.store import Endpoint, Login

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncResult, AsyncSession, AsyncTransaction, Record, ResultSummary

_UINT_16: Final = Struct(">H")

Key = TypeVar("Key")


class Computed(dict[Key, object], Generic[Key]):
    """A table whose entries are computed when they are looked up, and not kept."""

    def __init__(self, compute: Callable[[Key], object]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> object:
        return self._compute(key)


_NUMBERS: Final[Mapping[str, object]] = {
    "PACKED_UINT_16": Computed[int](_UINT_16.pack),
    "UNPACKED_UINT_16": Computed[bytes](lambda packed: _UINT_16.unpack(packed)[0]),
}

TABLES: Final[Mapping[str, Mapping[str, object]]] = {
    "neo4j.time": {"_DAYS_IN_MONTH": Computed[tuple[int, int]](lambda month: monthrange(*month)[1])},
    "neo4j._codec.packstream.v1": _NUMBERS,
    "neo4j._codec.packstream.v2": _NUMBERS,
}
"""By the driver's module (6.4): tables of 120,000 months and 131,072 numbers, 23 MB, which it makes when imported."""


def load_driver() -> None:
    """Import it, and free those tables. Blocking (0.2 s of processor time). A driver that has none stays as it is."""
    import_module("neo4j")
    for name, tables in TABLES.items():
        module = sys.modules.get(name)
        for table in tables.keys() & vars(module).keys() if module else ():
            setattr(module, table, tables[table])


CONNECT_SECONDS: Final = 2.0
"""For reaching a store that does not answer; a refused connection is known at once."""

BEAT_SECONDS: Final = 0.1
STOOD_STILL: Final = CONNECT_SECONDS / 2
"""Seconds between two beats of the event loop, and from where on it ran too seldom for anybody to be in time."""

IDLE_SECONDS: Final = 1.0
"""A connection that rested longer is tried before it is used: its store may have been restarted."""

FETCH: Final = 64
"""Records asked of the store in one go."""

FEW: Final = 4
"""Records unpacked before others have the event loop: one that holds a vector takes a millisecond."""

QUIET_SECONDS: Final = 60.0
"""Without a word from the store: the first page of a graph of a million nodes takes a tenth of it."""


class Connections:
    """One driver for each login at the present endpoint; those of an earlier endpoint are closed."""

    def __init__(self) -> None:
        self._at: Endpoint | None = None
        self._drivers: dict[Login, AsyncDriver] = {}
        self._is_loaded = False
        self._open = 0
        self._unused = asyncio.Event()
        self._unused.set()

    async def until_unused(self) -> None:
        """Return when no transaction is open."""
        while self._open:  # another one may have begun before this goes on
            await self._unused.wait()

    async def load(self) -> None:
        """Import the driver before it is needed, beside the event loop."""
        if not self._is_loaded:
            await asyncio.to_thread(load_driver)
            self._is_loaded = True

    @asynccontextmanager
    async def transaction(
        self, endpoint: Endpoint, *, writes: bool, seconds: float
    ) -> AsyncIterator["AsyncTransaction"]:
        """Open a transaction as the writer or the reader, which the server ends after so many seconds.

        Leaving the block commits it (the driver's way) unless it was rolled back or an error comes through. Raises
        `DriverError` when nobody answers, `GraphUnavailable` for an endpoint that is no address or does not let us in.
        """
        from neo4j import READ_ACCESS, WRITE_ACCESS

        access = WRITE_ACCESS if writes else READ_ACCESS
        self._open += 1
        self._unused.clear()
        try:
            driver = await self._driver(endpoint, endpoint.writer if writes else endpoint.reader)
            async with (
                driver.session(database=endpoint.database, default_access_mode=access, fetch_size=FETCH) as session,
                await _opened(session, endpoint.uri, seconds) as transaction,
            ):
                yield transaction
        finally:
            self._open -= 1
            if not self._open:
                self._unused.set()

    async def close(self) -> None:
        """Close them all; a later transaction opens new ones."""
        drivers, self._drivers, self._at = self._drivers, {}, None
        for driver in drivers.values():
            await driver.close()

    async def _driver(self, endpoint: Endpoint, login: Login) -> "AsyncDriver":
        if endpoint != self._at:
            await self.close()
            self._at = endpoint
        if login not in self._drivers:
            self._drivers[login] = _driver(endpoint, login)
        return self._drivers[login]


class _Beats:
    """How long the event loop stood still within a block, by a timer of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.began = self._last = self._loop.time()
        self.longest = 0.0
        """Seconds."""

    def __enter__(self) -> Self:
        self._timer = self._loop.call_later(BEAT_SECONDS, self._beat)
        return self

    def __exit__(self, *raised: object) -> None:
        self._timer.cancel()

    def _beat(self) -> None:
        now = self._loop.time()
        self.longest, self._last = max(self.longest, now - self._last), now
        self._timer = self._loop.call_later(BEAT_SECONDS, self._beat)


async def _opened(session: "AsyncSession", uri: str, seconds: float) -> "AsyncTransaction":
    """Begin a transaction; once more where the time to connect was over and it was not the store that took it.

    Then it was this process that stood still (no processor, a slow disk): the driver had waited for nobody, or found
    its time over in the moment in which the answer was there as well (from Python 3.12 on).
    """
    from neo4j.exceptions import DriverError

    with _Beats() as beats:
        try:
            return await _begun(session, uri, seconds)
        except DriverError as error:
            is_late = asyncio.get_running_loop().time() - beats.began >= CONNECT_SECONDS
            if not is_late or (refusals.is_silence(error) and beats.longest < STOOD_STILL):
                raise
    return await _begun(session, uri, seconds)


async def _begun(session: "AsyncSession", uri: str, seconds: float) -> "AsyncTransaction":
    from neo4j.exceptions import Neo4jError

    try:
        return await session.begin_transaction(timeout=seconds)
    except Neo4jError as error:
        raise refusals.shut_out(error) from error
    except ValueError as error:  # the driver's own, for bytes that are no message
        raise refusals.no_graph_server(uri, error) from error
    except asyncio.CancelledError as error:
        _tidy_up_after(error)
        raise


def _tidy_up_after(cancelled: asyncio.CancelledError) -> None:
    """Close and take what the driver (6.4) drops when it is cancelled while it connects.

    Its half-open socket; and, from its own `wait_for` (Python < 3.12), the refusal that came in the same moment, which
    the event loop would report as an exception that nobody retrieved.
    """
    for frame, _ in walk_tb(cancelled.__traceback__):
        if frame.f_code.co_name == "_connect_secure" and isinstance(dropped := frame.f_locals.get("s"), socket):
            dropped.close()
        connecting = frame.f_locals.get("fut")
        if isinstance(connecting, asyncio.Future) and connecting.done() and not connecting.cancelled():
            connecting.exception()


def _driver(endpoint: Endpoint, login: Login) -> "AsyncDriver":
    from neo4j import AsyncGraphDatabase, NotificationMinimumSeverity

    try:
        return AsyncGraphDatabase.driver(
            endpoint.uri,
            auth=login,
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=2 * CONNECT_SECONDS,
            liveness_check_timeout=IDLE_SECONDS,
            telemetry_disabled=True,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
        )
    except (ValueError, TypeError) as error:
        raise GraphUnavailable(
            f"{endpoint.uri!r} is not the address of a graph server: set [memory] uri to one like bolt://127.0.0.1:7687"
        ) from error


class Bulk:
    """A bare transaction. What is waited for is waited for under a deadline; what its user does between is not."""

    def __init__(self, transaction: "AsyncTransaction", deadline: asyncio.Timeout, quiet_seconds: float) -> None:
        """`deadline` is of the block the transaction is open in, and ends it."""
        self._transaction = transaction
        self._deadline = deadline
        self._quiet_seconds = quiet_seconds
        deadline.reschedule(None)

    async def run(self, cypher: str, params: Mapping[str, object] | None = None) -> "Rows":
        """Run a statement. Raises what the driver raises."""
        with self.waiting():
            return Rows(await self._transaction.run(cypher, dict(params or {})), self)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the deadline run while the block waits for the store."""
        self._deadline.reschedule(asyncio.get_running_loop().time() + self._quiet_seconds)
        yield
        self._deadline.reschedule(None)


class Rows:
    """What a statement returns, piece by piece."""

    def __init__(self, answer: "AsyncResult", bulk: Bulk) -> None:
        self._answer = answer
        self._bulk = bulk

    async def fetch(self, most: int) -> "list[Record]":
        """Return the next records; none at the end. Others have the event loop between a few of them."""
        records: list[Record] = []
        with self._bulk.waiting():
            while len(records) < most and (few := await self._answer.fetch(min(FEW, most - len(records)))):
                records += few
                await asyncio.sleep(0)
        return records

    async def consume(self) -> "ResultSummary":
        """Leave the rest, and return what the statement did."""
        with self._bulk.waiting():
            return await self._answer.consume()

    async def __aiter__(self) -> "AsyncIterator[Record]":
        while records := await self.fetch(FETCH):
            for record in records:
                yield record
