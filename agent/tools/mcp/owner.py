"""The owner task of one MCP server: connects, keeps its list of tools, and connects again with growing delays."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final, Literal

import structlog
from msgspec import Struct

from agent.errors import KeyRefused, ServerLost, ToolFailed
from agent.tools.mcp.server import LAST_WORDS, Offered, Said, Server
from memory.awaited import Awaited
from memory.backoff import Backoff
from memory.json_value import Json

if TYPE_CHECKING:
    from agent.tools.mcp.client import Connection

State = Literal["connecting", "connected", "lost"]

MOST_LINES: Final = 50
"""Of a program's standard error that go to the log between two looks at it."""

log = structlog.get_logger()


class Pace(Struct, frozen=True):
    """How long an owner waits; seconds."""

    first: float = 1.0
    """Before it connects again."""
    longest: float = 60.0
    """The delay doubles up to it."""
    refused: float = 900.0
    """After a key was refused: each try may be told there as an attack, and ban this machine."""
    steady: float = 60.0
    """After a connection that lived so long the next delay is the first again."""
    look: float = 60.0
    """Between two looks at a server that says nothing: whether it lives, and which tools it has."""
    rest: float = 1.0
    """Between two looks at a server that never stops telling changes."""
    answers: float = 10.0
    """For a page of its tools."""
    begins: float = 60.0
    """For its part of the handshake: a program may have to be fetched first."""


PACE: Final = Pace()


class Owner(Awaited[State]):
    """Keeps one server connected. `run` is its one task: the connection is opened and closed there."""

    def __init__(self, server: Server, offer: Callable[[Sequence[Offered]], None], pace: Pace = PACE) -> None:
        super().__init__("connecting", "it is being connected")
        self.server = server
        self._offer = offer
        """Given its list whenever that is another one than before; what it offered stays while it is away."""
        self._pace = pace
        self._backoff = Backoff(pace.first, pace.longest, steady=pace.steady)
        self.losses = 0
        """How often a connection ended, or could not be made."""
        self._lines = 0
        """What its program has said to people since the last look."""
        self._offered: list[Offered] | None = None
        self._connection: Connection | None = None

    async def run(self) -> None:
        """Connect, and connect again, until cancelled. Raises nothing else."""
        connected = await asyncio.to_thread(_adapter)
        while True:
            try:
                await self._keep_connected(connected)
            except ServerLost as lost:
                _end_if_cancelled()
                rest = self._pace.refused if isinstance(lost, KeyRefused) else 0.0
                self._mark_lost(str(lost), self._backoff.failed(rest))
            await asyncio.sleep(self._backoff.rest)

    async def call(self, tool: str, arguments: dict[str, Json]) -> Said:
        """Call a tool by the server's name of it. Raises `ToolFailed` in a sentence; takes no time while it is away."""
        connection = self._connection
        if connection is None:
            why = self.reason.partition(LAST_WORDS)[0]  # what a program said last is for the log, not for a model
            raise ToolFailed(f"unavailable: {self.server.name}: {why}; do without it, or try again later")
        try:
            return await connection.call(tool, arguments)
        except asyncio.CancelledError:
            connection.look()
            raise

    async def _keep_connected(self, connected: "Callable[..., AbstractAsyncContextManager[Connection]]") -> None:
        try:
            async with connected(self.server, self._say, self._pace.begins) as connection:
                while True:
                    self._take_over(await connection.tools(self._pace.answers), connection)
                    self._lines = 0
                    await asyncio.sleep(self._pace.rest)
                    await connection.news(self._pace.look)
        finally:
            self._connection = None

    def _take_over(self, offered: list[Offered], connection: "Connection") -> None:
        if offered != self._offered:
            self._offered = offered
            self._offer(offered)
        self._connection = connection
        if self.state != "connected":
            self._enter("connected", "")
            log.info("mcp_server_connected", server=self.server.name, tools=len(offered))

    def _mark_lost(self, reason: str, delay: float) -> None:
        tell = log.debug if (self.state, self.reason) == ("lost", reason) else log.warning  # once, not for ever
        tell("mcp_server_lost", server=self.server.name, reason=reason, again_in_seconds=delay)
        self._enter("lost", reason)
        self.losses += 1

    def _say(self, line: str) -> None:
        self._lines += 1
        if self._lines > MOST_LINES:
            return
        log.debug("mcp_server_said", server=self.server.name, words=line)


def _end_if_cancelled() -> None:
    """Raise CancelledError when this task was cancelled: the client's own scopes may have taken that for theirs."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _adapter() -> "Callable[..., AbstractAsyncContextManager[Connection]]":
    """Import the client, which takes a second: in a thread, so that listening does not wait for it."""
    from agent.tools.mcp.client import connected

    return connected
