"""One program at the door: its lines as they come, and its answers, for which nobody behind the door waits."""

import asyncio
import json
import select
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic

import structlog

from appliance.exits import Exit
from memory.json_value import Json

MAX_LINE = 1_000_000
"""Bytes of a request."""
MAX_BACKLOG = 1_000_000
"""Bytes that may wait for a program before its next answer; with more it counts as one that does not read."""
CLOSE_SECONDS = 1.0
"""How long a program may take to read the rest."""

_log = structlog.get_logger(__name__)


class Gone(Exception):
    """The program left, or stopped reading."""


class Connection:
    """The writing end of one program; never waits for it, so that nobody behind the door does."""

    def __init__(self, writer: asyncio.StreamWriter, clock: Callable[[], float] = monotonic) -> None:
        """`clock` is in seconds."""
        self._writer = writer
        self._clock = clock
        self._quiet_since: float | None = None
        self.only_listens = False
        """Whether all that is done for it is to tell it an answer in words: with nobody there, that can be left."""

    @property
    def quiet_seconds(self) -> float:
        """For how long it has been its turn to speak; 0 while it is being answered."""
        return 0.0 if self._quiet_since is None else self._clock() - self._quiet_since

    @property
    def is_forsaken(self) -> bool:
        """Whether it only listens, and has gone; who says no more, as `echo … | socat` does, is there still."""
        if not self.only_listens:
            return False
        if self._writer.transport.is_closing():  # its descriptor may be closed
            return True
        poll = select.poll()
        poll.register(self._writer.get_extra_info("socket").fileno(), 0)
        return any(seen & select.POLLHUP for _, seen in poll.poll(0))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count the time of the block as the program's turn to speak."""
        self._quiet_since = self._clock()
        try:
            yield
        finally:
            self._quiet_since = None

    def send(self, answer: Mapping[str, Json]) -> None:
        """Write a line, of any length. Raises `Gone` when nobody is there to read it, or too much waits already."""
        if self._writer.transport.is_closing():
            raise Gone
        if self._writer.transport.get_write_buffer_size() > MAX_BACKLOG:
            self._writer.transport.abort()
            _log.warning("door_client_dropped", reason="it does not read")
            raise Gone
        self._writer.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")

    async def close(self) -> None:
        """Let the program read the rest, for a moment, and hang up."""
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._writer.wait_closed()
        except OSError:  # TimeoutError is one; the program is gone or does not read
            pass
        finally:
            self._writer.transport.abort()


async def next_line(reader: asyncio.StreamReader, connection: Connection) -> bytes:
    """Return the next line, b"" at the end. A line that is too long is told and ends the visit with `Gone`."""
    try:
        with connection.listening():
            return await reader.readline()
    except ValueError as error:
        refused = f"a line of more than {MAX_LINE} bytes is refused; send less at a time"
        connection.send({"error": refused, "code": int(Exit.USAGE)})
        raise Gone from error
