"""Client of a Wyoming server, for speech to text and text to speech: connections, events and their bounds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from audio.errors import ServerFailed, ServerUnreachable

if TYPE_CHECKING:
    from wyoming.event import Event, Eventable
    from wyoming.info import Info

MOST_HEADER_BYTES = 1_000_000
"""Of an event's first line, which older servers put all of the data into."""

MOST_BYTES = 16_000_000
"""Of an event's data, or its payload: minutes of sound, for servers that send a sentence whole."""

Parsed = TypeVar("Parsed", bound="Eventable")


def load() -> None:
    """Import the library now instead of with the first use: 0.1 s. Blocking."""
    import wyoming.audio
    import wyoming.error
    import wyoming.info  # noqa: F401


class WyomingServer(Struct, frozen=True):
    """A server by its address. The protocol knows no password and no encryption."""

    host: str
    port: int
    connect_timeout: float = 1.5
    """Seconds that a connection may take."""
    timeout: float = 5.0
    """Seconds that an event may take to come or to go, where nothing else is said."""

    @property
    def address(self) -> str:
        """Host and port, for people and for `SendsTo`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @asynccontextmanager
    async def connect(self) -> "AsyncIterator[WyomingConnection]":
        """Open a connection for the block. Raises `ServerUnreachable`."""
        try:
            async with asyncio.timeout(self.connect_timeout):
                reader, writer = await asyncio.open_connection(self.host, self.port, limit=MOST_HEADER_BYTES)
        except TimeoutError as error:
            late = f"{self.address} took no connection within {self.connect_timeout:.1f} s"
            raise ServerUnreachable(late) from error
        except OSError as error:
            raise ServerUnreachable(f"{self.address} cannot be reached: {error.strerror or error}") from error
        try:
            yield WyomingConnection(self, reader, writer)
        finally:
            writer.transport.abort()  # which waits for no peer; all that was asked for is here
            with suppress(OSError):
                await writer.wait_closed()

    async def info(self) -> "Info":
        """Return what the server can do, by a connection of its own. Raises `ServerFailed`."""
        async with self.connect() as connection:
            return await connection.info()


def server_at(url: str, default_port: int) -> WyomingServer:
    """Return the server at a `tcp://host:port`. Raises ValueError where that is no address."""
    parts = urlsplit(url)
    if parts.scheme != "tcp" or not parts.hostname:
        raise ValueError(f"{url} is no address of a Wyoming server, such as tcp://speech.home:{default_port}")
    return WyomingServer(parts.hostname, parts.port or default_port)


class WyomingConnection:
    """One connection: events in order, both ways. Made by `WyomingServer.connect`; for one task."""

    def __init__(self, server: WyomingServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = _BoundedReader(reader)
        self._writer = writer

    async def write(self, *events: "Eventable") -> None:
        """Send events; waits while the server takes none. Raises `ServerFailed`."""
        from wyoming.event import async_write_event

        try:
            async with asyncio.timeout(self._server.timeout):
                for event in events:
                    await async_write_event(event.event(), self._writer)
        except TimeoutError as error:
            raise self._failed(f"read nothing within {self._server.timeout:.1f} s") from error
        except OSError as error:
            raise self._failed("closed the connection") from error

    async def read(self, within: float | None = None) -> "Event":
        """Return the next event, which may take `within` seconds, else the server's `timeout`.

        Raises `ServerFailed` at the end of the connection, on what is no event or is too large, and with the server's
        own words on an `error` event.
        """
        from wyoming.error import Error
        from wyoming.event import async_read_event

        seconds = self._server.timeout if within is None else within
        try:
            async with asyncio.timeout(seconds):
                event = await async_read_event(self._reader)  # type: ignore[arg-type]  # asks for these two methods
        except TimeoutError as error:
            raise self._failed(f"sent nothing within {seconds:.1f} s") from error
        except (OSError, asyncio.IncompleteReadError) as error:
            raise self._failed("closed the connection in the middle") from error
        except (AttributeError, KeyError, TypeError, RecursionError) as error:  # JSON, but no event
            raise self._failed("sent something that is no event of Wyoming") from error
        if event is None:
            what = "sent something that is no event of Wyoming" if self._reader.has_read else "closed the connection"
            raise self._failed(what)
        if Error.is_type(event.type):
            raise self._failed(f"answered: {self.parsed(Error, event).text}")
        return event

    def parsed(self, kind: type[Parsed], event: "Event") -> Parsed:
        """Return an event as what it says it is. Raises `ServerFailed` when its data is not that."""
        try:
            return kind.from_event(event)  # type: ignore[return-value]  # the library says Eventable for all of them
        except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._failed(f"sent a {event.type!r} event that lacks what belongs to it") from error

    async def info(self) -> "Info":
        """Ask what the server can do. Raises `ServerFailed`."""
        from wyoming.info import Describe, Info

        await self.write(Describe())
        by = asyncio.get_running_loop().time() + self._server.timeout
        while not Info.is_type((event := await self.read(by - asyncio.get_running_loop().time())).type):
            pass
        return self.parsed(Info, event)

    def _failed(self, what: str) -> ServerFailed:
        return ServerFailed(f"{self._server.address} {what}")


class _BoundedReader:
    """What the library reads an event by, which takes any length that the other end names."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.has_read = False
        """Whether anything came of the event that was asked for last."""

    async def readline(self) -> bytes:
        try:
            line = await self._reader.readline()
        except ValueError as error:  # which the library takes for bad JSON, as it does the end
            raise TypeError("a line that no event has") from error
        self.has_read = bool(line)
        return line

    async def readexactly(self, count: object) -> bytes:
        if not isinstance(count, int) or count > MOST_BYTES:
            raise TypeError("a length that no event has")
        return await self._reader.readexactly(count)
