"""A house with MCP servers: real programs on stdio and on loopback, and the registry that their tools join."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.event import HOUSEHOLD, USER_TEXT, Event
from agent.run.run_state import RunState
from agent.tools.mcp.owner import Pace
from agent.tools.mcp.server import Server
from agent.tools.mcp.servers import McpServers, Showing
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Call, Tool, run_tool, tool
from memory.state import images
from memory.state.database import Database
from tests.processes import ROOT

MARKED = r'(?:error: )?<From_Outside source="[a-z]+" note="[^"]+">\n(.*)\n</From_Outside>'

QUICK = Pace(first=0.02, longest=0.3, look=30.0, rest=0.0)
"""Seconds; a look comes only where there is a reason for it."""


class JoinedRegistry(ToolRegistry):
    """A registry that tells when tools have joined."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._news = asyncio.Event()
        super().__init__(tools)

    def join(self, source: str, tools: Iterable[Tool]) -> None:
        super().join(source, tools)
        self._news.set()

    async def until(self, name: str) -> None:
        """Wait until a tool of this name has joined."""
        while self.find(name) is None:
            self._news.clear()
            await self._news.wait()


async def memory_query(cypher: str) -> str:
    """A tool of ours."""
    return cypher


@dataclass
class House:
    registry: ToolRegistry
    servers: McpServers
    showing: Showing

    async def connected(self, *names: str) -> None:
        for name in names:
            await self.servers.owners[name].until("connected")

    async def lost(self, name: str) -> str:
        """Wait until it is lost, and return why."""
        owner = self.servers.owners[name]
        await owner.until("lost")
        return owner.reason

    async def joined(self, name: str) -> None:
        """Wait until a tool has joined."""
        assert isinstance(self.registry, JoinedRegistry)
        await self.registry.until(name)

    async def call(self, name: str, arguments: str = "{}", owner: str = HOUSEHOLD) -> str:
        found = self.registry.find(name)
        assert found is not None, self.registry.names
        event = Event(type=USER_TEXT, content="", source="cli", session_id="s", owner_key=owner)
        return await run_tool(found, arguments, Call("call_1", event))

    async def said(self, name: str, arguments: str = "{}") -> str:
        """Return what a server said, out of its mark."""
        return re.fullmatch(MARKED, await self.call(name, arguments), re.DOTALL)[1]  # type: ignore[index]  # or it fails


def shares(owner: str) -> bool:
    return owner == HOUSEHOLD


@asynccontextmanager
async def a_house(
    *servers: Server,
    registry: ToolRegistry | None = None,
    pace: Pace = QUICK,
    run_state: RunState | None = None,
) -> AsyncIterator[House]:
    """Run the owner tasks of these servers in the test's own group; `run_state` is the mind's, where there is one."""
    own = JoinedRegistry([tool(memory_query)]) if registry is None else registry
    with TemporaryDirectory() as folder:
        database = Database(Path(folder) / "nakari.db")
        await database.open(images.SCHEMA)
        showing = Showing(images.Images(Path(folder) / images.FOLDER, database), run_state or RunState())
        try:
            async with _running(House(own, McpServers(servers, own, shares, showing, pace), showing)) as house:
                yield house
        finally:
            await database.close()


@asynccontextmanager
async def _running(house: House) -> AsyncIterator[House]:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(house.servers.run())
        try:
            yield house
        finally:
            running.cancel()


def of_program(folder: Path, name: str = "here", timeout: float = 20.0) -> Server:
    """A server on stdio: the test's own program."""
    return of_command(sys.executable, "-m", "tests.agent.mcp_program", "stdio", str(folder), name=name, timeout=timeout)


def of_command(*command: str, name: str = "here", timeout: float = 20.0) -> Server:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return Server(name, command=command, environment=environment, timeout=timeout)


def bare(folder: Path, *tools: object, kind: str = "lawful", name: str = "bare", timeout: float = 20.0) -> Server:
    """A server of a few lines that offers these tools, as JSON, and behaves in a way of its own (`mcp_bare`)."""
    folder.mkdir(exist_ok=True)
    (folder / "tools.json").write_text(json.dumps(tools))
    program = ROOT / "tests" / "agent" / "mcp_bare.py"
    command = (sys.executable, "-I", "-S", str(program), kind, str(folder))
    return of_command(*command, name=name, timeout=timeout)


def a_tool(name: str, **fields: object) -> dict[str, object]:
    """A tool as a server tells of it."""
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **fields}


async def gone(process: int) -> None:
    """Wait until a process is no more."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def process_of(folder: Path) -> int:
    """The process id of the program that keeps its notes in this folder."""
    return int((folder / "pid").read_text())


class HttpProgram:
    """The same program over streamable HTTP, started, killed and stopped by a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: asyncio.subprocess.Process | None = None

    @property
    def server(self) -> Server:
        return Server("there", url=f"http://127.0.0.1:{self.port}/mcp", timeout=20.0)

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.agent.mcp_program", str(self.port), str(self.folder)),
            cwd=ROOT,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def kill(self) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


@asynccontextmanager
async def over_http(folder: Path) -> AsyncIterator[HttpProgram]:
    """A program that is not started yet, and killed at the end."""
    program = HttpProgram(folder)
    try:
        yield program
    finally:
        await program.kill()
