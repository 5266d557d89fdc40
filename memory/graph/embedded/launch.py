"""Launches the embedded store's child process, with passwords of its own, and hears its answer, last words and end."""

import asyncio
import json
import os
import secrets
import signal
import sys
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import asdict

from memory.clock import within
from memory.graph.embedded import server
from memory.graph.embedded.folder import DATABASE, Changed, Damaged, Unstartable
from memory.graph.embedded.http_api import Address
from memory.graph.store import Endpoint

LAST_WORDS: Final = 8_192
"""Bytes of standard error that are kept; what came before is dropped."""

_ANSWER: Final = 4_096
"""Bytes of standard output that may come before the end of its one line."""

_SOURCE: Final = Path(__file__).resolve().parents[2]


class Child(asyncio.SubprocessProtocol):
    """A Python module run in a process of its own, which answers one line and ends when its standard input does."""

    _transport: asyncio.SubprocessTransport
    """From `connection_made` on, which the event loop calls before anything else."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        """Its first line of standard output; empty when it ended without one."""
        self.ended = asyncio.Event()
        self.was_stopped = False
        """Whether `stop` had it end."""
        self._said = bytearray()
        self._complained = bytearray()

    @classmethod
    async def run(cls, module: str, folder: Path, first_line: bytes) -> "Child":
        """Start a module found from `folder` and send it its first line.

        In a session of its own: Ctrl-C and a closed terminal are for the parent to act on, also while it starts.
        """
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", module)
        transport, child = await asyncio.get_running_loop().subprocess_exec(
            cls, *command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, start_new_session=True
        )
        cast(asyncio.WriteTransport, transport.get_pipe_transport(0)).write(first_line + b"\n")
        return child

    async def answered(self) -> dict[str, object]:
        """Return its answer, a JSON object; an empty one for what is none, which only a broken child writes."""
        try:
            return dict(json.loads(await self.answer))
        except (ValueError, TypeError):
            return {}

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._transport.get_pid()

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return self._complained.decode(errors="replace").strip()

    @property
    def end(self) -> str:
        """How it ended, in words."""
        code = self._transport.get_returncode()
        if code is None:
            return "still running"
        return f"ended with code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"

    def kill(self) -> None:
        """End it at once, if it still runs."""
        if not self.ended.is_set():
            self._transport.kill()

    async def stop(self, seconds: float) -> None:
        """Let it end by itself within so many seconds, then kill it; return when it is gone."""
        self.was_stopped = True
        if (stdin := self._transport.get_pipe_transport(0)) is not None:
            stdin.close()
        if not await within(seconds, self.ended):
            self.kill()
            await self.ended.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Collect its answer (1) or its complaints (2), both bounded."""
        if fd == 1:
            self._said += data[:_ANSWER]
            line, end, _ = self._said.partition(b"\n")
            if end and not self.answer.done():
                self.answer.set_result(bytes(line))
            del self._said[_ANSWER:]
        else:
            self._complained += data
            del self._complained[:-LAST_WORDS]

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that it is gone and that all it said has arrived."""
        del exc
        if not self.answer.done():
            self.answer.set_result(b"")
        self.ended.set()
        self._transport.close()


class RunningStore(Struct, frozen=True):
    """A child that serves, and where."""

    child: Child
    endpoint: Endpoint
    address: Address
    """Of its HTTP API."""


async def launch(folder: Path, options: server.Options, seconds: float) -> RunningStore:
    """Run the child on a folder (absolute) and return where it serves within so many seconds. Raises `Unstartable`."""
    root, reader, writer = (secrets.token_hex(32) for _ in range(3))
    settings = server.Settings(
        folder=str(folder),
        **asdict(options),
        reader_password=reader,
        writer_password=writer,
        root_password=root,
        parent=os.getpid(),
    )
    try:
        child = await Child.run(server.__name__, _SOURCE, json.dumps(asdict(settings)).encode())
    except OSError as error:
        raise Unstartable(f"no process could be started for it ({error.strerror})") from error
    try:
        bolt, http = await _ports(child, seconds)
    except BaseException:
        child.kill()
        await child.ended.wait()
        raise
    logins = (server.READER, reader), (server.WRITER, writer)
    return RunningStore(child, Endpoint(f"bolt://127.0.0.1:{bolt}", DATABASE, *logins), Address(http, logins[1]))


async def _ports(child: Child, seconds: float) -> tuple[int, int]:
    """Return the ports for Bolt and HTTP that the child serves on. Raises `Unstartable`."""
    try:
        async with asyncio.timeout(seconds):
            answer = await child.answered()
    except TimeoutError:
        raise Unstartable(f"it did not start within {seconds:g} s") from None
    if "bolt" in answer:
        return int(str(answer["bolt"])), int(str(answer["http"]))
    child.kill()
    await child.ended.wait()
    last = child.last_words.rpartition("\n")[2]
    reason = str(answer.get("error") or f"its process {child.end} at its start: {last}")
    kind = Changed if answer.get("may_open") is True else Damaged if answer.get("damaged") is True else Unstartable
    raise kind(reason)
