"""Runs an MCP server that speaks on standard input and output: read in bounded lines, ended with nakari."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, jsonrpc_message_adapter

from agent.errors import ServerLost
from agent.tools.mcp.leash import leashed
from agent.tools.mcp.schema import plain
from agent.tools.mcp.server import LAST_WORDS, Server
from memory.json_value import read_whole

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MOST_BYTES: Final = 4_000_000
"""Of one message; a program that sends a longer one is ended."""

STOP_SECONDS: Final = 0.4
"""For each step: it is to end by itself once its input does, then it is asked to, then it is killed."""

LAST_LINES: Final = 3
"""Of standard error, for the reason of its end."""

_LINE: Final = 300
"""Characters of a line of standard error; the rest of it is dropped."""


class Program:
    """A running program, and what it said last."""

    def __init__(self, server: Server, process: Process, say: Callable[[str], None]) -> None:
        self._server = server
        self._process = process
        self._say = say
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._is_wanted = True
        self._is_read = asyncio.Event()
        self._is_heard = asyncio.Event()
        """Set when nobody takes its messages any more."""

    async def read(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Hand on its messages. Raises `ServerLost` at their end, unless it was stopped."""
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                try:
                    message = _message(line)
                except ValueError:  # many a program greets its user there
                    self._heard(line)
                    continue
                await incoming.send(SessionMessage(message))
        except ValueError:  # asyncio's word for a line beyond its limit
            raise ServerLost(f"it sent a message of more than {MOST_BYTES // 1_000_000} MB") from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        finally:
            self._is_read.set()
        if self._is_wanted:
            raise ServerLost(await self._end())

    async def write(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send it what it is to get; ends when it takes no more, which its own end explains."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            async for sent in outgoing:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._process.stdin.write(text.encode() + b"\n")
                await self._process.stdin.drain()

    async def listen(self) -> None:
        """Hand on what it says to people."""
        assert self._process.stderr is not None
        line = b" "
        while line:
            try:
                line = await self._process.stderr.readline()
            except ValueError:
                line = b"(a line too long to keep)"
            self._heard(line)
        self._is_heard.set()

    async def stop(self) -> None:
        """Let it end by itself, ask it to, kill it with all that it started: four times `STOP_SECONDS` at most."""
        self._is_wanted = False
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with anyio.create_task_group() as group:
            group.start_soon(self._drain)
            for number, patience in ((None, 1), (signal.SIGTERM, 1), (signal.SIGKILL, 2)):
                if number is not None:
                    with suppress(ProcessLookupError):
                        os.killpg(self._process.pid, number)
                with anyio.move_on_after(patience * STOP_SECONDS):
                    await self._process.wait()
                    break
            group.cancel_scope.cancel()

    async def _drain(self) -> None:
        """Read what nobody wants any more: until the pipes are at their end, the process counts as there."""
        assert self._process.stdout is not None
        await self._is_read.wait()
        while await self._process.stdout.read(MOST_BYTES):
            pass

    def _heard(self, line: bytes) -> None:
        if words := plain(line[: 4 * _LINE].decode(errors="replace"), _LINE):
            self._last.append(words)
            self._say(words)

    async def _end(self) -> str:
        with anyio.move_on_after(STOP_SECONDS):
            await self._process.wait()
            await self._is_heard.wait()  # what it said last may still be in the pipe
        code = self._process.returncode
        if code is None:
            return "its program closed its output"
        if code < 0:
            return f"its program was killed by {signal.Signals(-code).name}"
        return LAST_WORDS.join([f"its program ended with code {code}", *self._last])


def _message(line: bytes) -> JSONRPCMessage:
    """Return a message, half a character of it as "?", as pydantic takes none. Raises ValueError."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if b"\\ud" not in line.lower():
            raise
        return jsonrpc_message_adapter.validate_python(read_whole(line), by_name=False)


@asynccontextmanager
async def running(server: Server, say: Callable[[str], None]) -> "AsyncGenerator[TransportStreams]":
    """Run a server's program; `say` is given what it says to people, line by line.

    It dies with this process, even with one that is killed. Raises `ServerLost`, in a group, when it ends by itself;
    OSError when no process can be started.
    """
    process = await asyncio.create_subprocess_exec(
        *leashed(server.command),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=dict(server.environment),
        limit=MOST_BYTES,
        start_new_session=True,
    )
    program = Program(server, process, say)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with incoming, read, write, outgoing, anyio.create_task_group() as group:
        group.start_soon(program.read, incoming)
        group.start_soon(program.write, outgoing)
        group.start_soon(program.listen)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                await program.stop()
            group.cancel_scope.cancel()
