"""Events of a connection, read within bounds and written to whoever reads them."""

import asyncio
from typing import Final, TypeVar

from msgspec import Struct
from wyoming.event import Event, Eventable, async_write_event

from memory.json_value import Json, parse_json

MOST_LINE_BYTES: Final = 64_000
"""Of an event's first line."""

MOST_DATA_BYTES: Final = 256_000
"""Of the data behind it: the longest text, a hundred times over."""

MOST_PAYLOAD_BYTES: Final = 4_000_000
"""Of one event's sound; most programs send some 2,000 at a time."""

Parsed = TypeVar("Parsed", bound=Eventable)


class Malformed(Exception):
    """What came is no event of Wyoming, or too large; the text says what, for the log."""


class ClientGone(Exception):
    """Nobody is at the other end any more, or nobody who reads."""


class Patience(Struct, frozen=True):
    """How long something may take; seconds."""

    idle: float = 300.0
    """Without another event."""
    head: float = 10.0
    """For the rest of an event's first line."""
    event: float = 30.0
    """For the rest of an event."""
    reading: float = 30.0
    """For making room for what is written."""


USUAL: Final = Patience()


class EventStream(Struct, frozen=True):
    """The events of one connection, in order, both ways; several tasks may write."""

    reader: asyncio.StreamReader
    """Takes no line above `MOST_LINE_BYTES`."""
    writer: asyncio.StreamWriter
    patience: Patience = USUAL

    async def read(self, *, is_amid: bool) -> Event | None:
        """Return the next event; None when the other end has left, be it in the middle of one.

        What `is_amid` something comes as soon as the rest of an event. Raises `Malformed` and, where nothing comes,
        TimeoutError.
        """
        patience = self.patience
        try:
            async with asyncio.timeout(patience.event if is_amid else patience.idle):
                line = await self.reader.readexactly(1)
            async with asyncio.timeout(patience.head):
                line += await self.reader.readuntil(b"\n")
            async with asyncio.timeout(patience.event):
                return await self._rest(_object(line, "a first line"))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise Malformed(f"a line of more than {MOST_LINE_BYTES} bytes") from error

    async def _rest(self, head: dict[str, Json]) -> Event:
        kind, data = head.get("type"), head.get("data") or {}
        if not isinstance(kind, str) or not isinstance(data, dict):
            raise Malformed("JSON that is no event")
        if length := _length(head, "data_length", MOST_DATA_BYTES):
            data |= _object(await self.reader.readexactly(length), "data")
        length = _length(head, "payload_length", MOST_PAYLOAD_BYTES)
        return Event(kind, data, await self.reader.readexactly(length) if length else None)

    async def write(self, *events: Eventable) -> None:
        """Send events. Raises `ClientGone`."""
        try:
            async with asyncio.timeout(self.patience.reading):
                for each in events:
                    await async_write_event(each.event(), self.writer)
        except OSError as error:  # TimeoutError is one
            raise ClientGone from error

    async def close(self) -> None:
        """End the connection: what was written is still sent, to whom reads it in time."""
        self.writer.close()
        try:
            async with asyncio.timeout(self.patience.reading):
                await self.writer.wait_closed()
        except OSError:
            self.writer.transport.abort()

    def cut(self) -> None:
        """End the connection at once."""
        self.writer.transport.abort()


def parsed(kind: type[Parsed], event: Event) -> Parsed:
    """Return an event as what its type says that it is. Raises `Malformed` when its data is not that."""
    try:
        return kind.from_event(event)  # type: ignore[return-value]  # the library says Eventable for all of them
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Malformed(f"a {event.type!r} that lacks what belongs to it") from error


def text_of(value: object, what: str) -> str:
    """Return a text that came in an event, half a character as "?". Raises `Malformed` for anything else."""
    if not isinstance(value, str):
        raise Malformed(f"{what} that is no text")
    return value.encode(errors="replace").decode()


def _object(line: bytes, what: str) -> dict[str, Json]:
    try:
        found = parse_json(line)
    except ValueError as error:
        told = "a request of HTTP" if line.rstrip().endswith((b"HTTP/1.1", b"HTTP/1.0")) else f"{what} that is no JSON"
        raise Malformed(told) from error
    if not isinstance(found, dict):
        raise Malformed("JSON that is no event")
    return found


def _length(head: dict[str, Json], name: str, most: int) -> int:
    length = head.get(name) or 0
    if type(length) is not int or not 0 <= length <= most:
        raise Malformed(f"a {name} that is not 0 to {most}")
    return length
