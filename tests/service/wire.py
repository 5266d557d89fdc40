"""The wire to a server, for tests: it can be cut, held silent, slowed, or torn at the very commit."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import Enum, auto

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt's message, as the driver sends it: alone."""


class Tear(Enum):
    """What becomes of the next commit; the connection is torn in either case."""

    BEFORE = auto()
    """It never arrives."""
    AFTER = auto()
    """It arrives, its answer does not."""


class Wire:
    """Passes on what comes to `port` to the server at another port of this machine, for as long as it is whole."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self.port = 0
        self.whole = asyncio.Event()
        """While it is not set whatever is sent stays where it is: nobody answers, and nobody hangs up."""
        self.whole.set()
        self.delay = 0.0
        """Seconds that each piece takes on its way, either way."""
        self.is_cut = False
        """Whether new connections are torn at once."""
        self.tear: Tear | None = None
        self._is_committing = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Tear all connections, and the new ones from now on."""
        self.is_cut = True
        self.reset()

    def fix(self) -> None:
        """Let everything through again."""
        self.is_cut, self.delay = False, 0.0
        self.whole.set()

    def reset(self) -> None:
        """Tear the connections that there are."""
        for writer in self._writers:
            writer.transport.abort()

    async def end(self) -> None:
        """Hang up."""
        self.cut()
        self.whole.set()
        await asyncio.gather(*self._serving)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection to its end."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        self._writers.add(writer)
        try:
            if not self.is_cut:
                with suppress(ConnectionRefusedError):
                    await self._relay(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._writers.add(to_server[1])
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass_on(reader, to_server[1]), name="wire: to the server")
                group.create_task(self._bring_back(to_server[0], writer), name="wire: from the server")
        finally:
            self._writers.discard(to_server[1])
            to_server[1].transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65_536):
                await self._pause()
                if piece == COMMIT and self.tear is Tear.BEFORE:
                    self.tear = None
                    return self.reset()
                self._is_committing = piece == COMMIT
                writer.write(piece)
                await writer.drain()
        return writer.transport.abort()

    async def _bring_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65_536):
                await self._pause()
                if self._is_committing and self.tear is Tear.AFTER:
                    self.tear = None
                    return self.reset()
                writer.write(piece)
                await writer.drain()
        return writer.transport.abort()

    async def _pause(self) -> None:
        if self.delay:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.delay):
                    await asyncio.Event().wait()
        await self.whole.wait()


@asynccontextmanager
async def wire(server_port: int) -> AsyncIterator[Wire]:
    """Lay one; it is taken away at the end of the block."""
    laid = Wire(server_port)
    async with await asyncio.start_server(laid.serve, "127.0.0.1", 0) as listening:
        laid.port = listening.sockets[0].getsockname()[1]
        try:
            yield laid
        finally:
            await laid.end()
