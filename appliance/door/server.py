"""The door for programs on this machine: a Unix socket that speaks JSON lines.

Any process of the same user may come in, whatever it is written in:

    echo '{"do": "ask", "text": "what time is it"}' | socat -t 60 - UNIX:$HOME/.local/state/nakari/nakari.sock

One request a line, UTF-8, at most 1 MB; the answers to a line end before the next line is read:

    {"do": "ping"}
        {"pong": true}
    {"do": "status"}
        {…}                                                      how she is, one object
    {"do": "enqueue", "type": "…", "content": "…", "priority": 0, "metadata": {…}}
        {"id": "…"}                                              it is durable now; type is any word, the rest optional
    {"do": "hush", "what": "stop"}                               or wait, go on, quieter, louder, repeat, mute, unmute
        {"done": "…"}                                            one sentence, "" when there was nothing to act upon
    {"do": "forget", "last": 1}                                  or "minutes": what was heard, with all that came of it
        {"done": "…"}
    {"do": "ask", "text": "…", "session": "…", "stream": true}
        {"event": "text_chunk", "chunk": "…"}                    as often as it takes; not with "stream": false
        {"event": "run_finished", "status": "completed"}         or "failed" with "error"; "text" if not streamed
    anything else
        {"error": "one sentence"}

The socket is open to its owner only (mode 0600). A line over 1 MB is refused and its sender sent away; so is a program
that stops reading while a megabyte waits for it. Who goes away in mid-answer loses the answer, not the event.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Protocol

import structlog

from agent.model.messages import Json
from appliance.door.place import listener_at, locked
from appliance.door.requests import Ask, BadRequest, Enqueue, Forget, Hush, Ping, Status, parse
from appliance.errors import Problem, problem_of
from appliance.exits import Exit

MAX_LINE = 1_000_000
"""Bytes of a request."""
MAX_BACKLOG = 1_000_000
"""Bytes that may wait for a program that does not read."""
MAX_CLIENTS = 32
LONGEST_PATH = 107
"""Bytes; Linux' sun_path without its closing NUL (unix(7))."""
CLOSE_SECONDS = 1.0
"""How long a program may take to read the rest."""
BREATH_SECONDS = 1.0
"""Pause when the system has no descriptor left for another program."""

_log = structlog.get_logger(__name__)


class DoorHandler(Protocol):
    """Who answers behind the door; called on the event loop, by many programs at a time."""

    def ask(self, text: str, session: str) -> AsyncGenerator[str, None]:
        """Yield the answer to a person's text as it is written; closing it says that nobody listens any more."""

    async def enqueue(self, request: Enqueue) -> str:
        """Put an event into the mailbox and return its id once it is durable."""

    async def status(self) -> Mapping[str, Json]:
        """Return how she is."""

    async def hush(self, request: Hush) -> str:
        """Act as on a reflex word; return the sentence that says what was done."""

    async def forget(self, request: Forget) -> str:
        """Erase what was heard; return the sentence that says how that went."""


class Door:
    """Lets programs in. One for a socket path, guarded by a lock file beside it that dies with the process."""

    def __init__(self, path: Path, handler: DoorHandler) -> None:
        self.path = path
        self._handler = handler
        self._lock = -1
        self._listener: socket.socket | None = None
        self._clients = 0

    def open(self) -> None:
        """Take the socket's place, over the remains of a dead process; nobody is answered before `run`.

        Raises `AlreadyRunning` when a living process has it, `Problem` when it cannot be made.
        """
        if len(os.fsencode(self.path)) > LONGEST_PATH:
            raise Problem(
                f"the socket path {self.path} is longer than the {LONGEST_PATH} bytes Linux allows; "
                "set a shorter one with [door] socket",
                Exit.CONFIG,
            )
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = locked(self.path.with_name(f"{self.path.name}.lock"))
            self._listener = listener_at(self.path)
        except OSError as error:
            self.close()
            raise Problem(
                f"the socket {self.path} cannot be made: {error.strerror}; "
                "make its folder writable, or set another path with [door] socket",
                Exit.CANNOT_CREATE,
            ) from error
        except Problem:
            self.close()
            raise

    async def run(self) -> None:
        """Answer programs until cancelled; opens the door if that was not done before, and removes it at the end."""
        if self._listener is None:
            self.open()
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    program = await self._next()
                    if self._clients < MAX_CLIENTS:
                        visit = group.create_task(self._serve(program))
                        visit.add_done_callback(partial(_hang_up, program))
                    else:
                        program.close()
                        _log.warning("door_full", programs=self._clients)
        finally:
            self.close()

    def close(self) -> None:
        """Remove the socket and let go of the lock; safe to call twice."""
        if self._listener is not None:
            self.path.unlink(missing_ok=True)
            self._listener.close()
            self._listener = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    async def _next(self) -> socket.socket:
        """Return the next program; unlike `loop.sock_accept`, a cancellation cannot lose one that is accepted."""
        assert self._listener is not None
        while True:
            try:
                return self._listener.accept()[0]
            except BlockingIOError:
                await _readable(self._listener)
            except OSError as error:  # out of descriptors; programs that leave give some back
                _log.error("door_stuck", reason=str(error))
                await asyncio.sleep(BREATH_SECONDS)

    async def _serve(self, program: socket.socket) -> None:
        self._clients += 1
        try:
            reader, writer = await asyncio.open_unix_connection(sock=program, limit=MAX_LINE)
            client = _Client(writer)
            try:
                while line := await _line(reader, client):
                    await self._answer(line, client)
                    await asyncio.sleep(0)  # lines that are here already would keep the loop for themselves
            finally:
                await client.close()
        except (_Gone, OSError):
            _log.info("door_client_gone")
        finally:
            self._clients -= 1

    async def _answer(self, line: bytes, client: "_Client") -> None:
        try:
            request = parse(line)
        except BadRequest as error:
            client.send({"error": str(error)})
            return
        try:
            match request:
                case Ping():
                    client.send({"pong": True})
                case Status():
                    client.send(await self._handler.status())
                case Enqueue():
                    client.send({"id": await self._handler.enqueue(request)})
                case Hush():
                    client.send({"done": await self._handler.hush(request)})
                case Forget():
                    client.send({"done": await self._handler.forget(request)})
                case Ask():
                    await self._ask(request, client)
        except _Gone:
            raise
        except Exception as error:  # noqa: BLE001  told to the one who asked; the door stays open for the others
            failed: dict[str, Json] = {"event": "run_finished", "status": "failed"} if isinstance(request, Ask) else {}
            client.send(failed | {"error": _sentence(error)})

    async def _ask(self, request: Ask, client: "_Client") -> None:
        pieces = []
        async with aclosing(self._handler.ask(request.text, request.session)) as answer:
            async for piece in answer:
                if request.stream:
                    client.send({"event": "text_chunk", "chunk": piece})
                else:
                    pieces.append(piece)
        whole: dict[str, Json] = {} if request.stream else {"text": "".join(pieces)}
        client.send({"event": "run_finished", "status": "completed"} | whole)


class _Gone(Exception):
    """The program left, or stopped reading."""


class _Client:
    """The writing end of one program; never waits for it, so that nobody behind the door does."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def send(self, answer: Mapping[str, Json]) -> None:
        """Write a line. Raises `_Gone` when nobody is there to read it, or too much waits already."""
        if self._writer.transport.is_closing():
            raise _Gone
        self._writer.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
        if self._writer.transport.get_write_buffer_size() > MAX_BACKLOG:
            self._writer.transport.abort()
            _log.warning("door_client_dropped", reason="it does not read")
            raise _Gone

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


def _hang_up(program: socket.socket, _: asyncio.Task[None]) -> None:
    program.close()  # a visit that is cancelled before its first step closes nothing itself


async def _line(reader: asyncio.StreamReader, client: _Client) -> bytes:
    """Return the next line, b"" at the end. A line that is too long is told and ends the visit with `_Gone`."""
    try:
        return await reader.readline()
    except ValueError as error:
        client.send({"error": f"a line of more than {MAX_LINE} bytes is refused; send less at a time"})
        raise _Gone from error


async def _readable(listener: socket.socket) -> None:
    loop, somebody = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listener, somebody.set)
    try:
        await somebody.wait()
    finally:
        loop.remove_reader(listener)


def _sentence(error: Exception) -> str:
    problem = problem_of(error)
    if problem is None:
        _log.error("door_request_failed", exc_info=error)
        return "something went wrong inside; the log says what"
    return problem.sentence
