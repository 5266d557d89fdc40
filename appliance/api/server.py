"""The door for programs on this machine: a Unix socket that speaks JSON lines.

Any process of the same user may come in, whatever it is written in:

    echo '{"do": "ask", "text": "what time is it"}' | socat -t 60 - UNIX:$HOME/.local/state/nakari/nakari.sock

One request a line, UTF-8, at most 1 MB; the answers to a line end before the next line is read:

    {"do": "ping"}
        {"pong": true}
    {"do": "status"}
        {…}                                                      how it is, one object
    {"do": "enqueue", "type": "…", "content": "…", "priority": 0, "metadata": {…}}
        {"id": "…"}                                              it is durable now; type is any word, the rest optional;
                                                                 also "importance", 0 to 1, for the memory
    {"do": "say", "text": "…", "id": "…"}                        in the room, once by its id, which is optional
        {"done": "…"}                                            once it was heard to its end, now or before
    {"do": "hush", "what": "stop"}                               or wait, go on, quieter, louder, repeat, mute, unmute
        {"done": "…"}                                            one sentence, "" when there was nothing to act upon
    {"do": "forget", "last": 1}                                  or "minutes": what was heard, with all that came of it
        {"done": "…"}                                            or "these": ids, as the next one names them
    {"do": "forget.preview", "last": 1}                          or "minutes": what would go
        {"events": [{"id": "…", "words": "…", "at": "…"}]}
    {"do": "forget.owner", "owner": "…"}                         everything of an owner, by key or name; of whoever has
        {"progress": [3, 10]}                                    proven a key without "owner"; as often as it takes
        {"result": "…"}
    {"do": "calibrate"}                                          its echo is measured; it plays a chime for it
        {"done": "…"}
    {"do": "attach", "id": "…", "name": "cat.jpg", "data": "…"}  an image or a document, in base64, that "ask" is about;
        {"attachment": {"name": "…", "type": "…", …}}            in pieces with "more": true, each answered by "taken"
    {"do": "ask", "text": "…", "session": "…", "stream": true}   with "speak": true the answer is said in the room too
                                                                 and "attachments": ids of files that were attached
        {"event": "text_chunk", "chunk": "…"}                    as often as it takes; not with "stream": false
        {"event": "run_finished", "status": "completed"}         or "failed" with "error"; "text" if not streamed; or
                                                                 waiting (for a model), suspended, given_up, withdrawn
                                                                 with "id" and "reason"
    {"do": "model", "use": "NAME"}                               who thinks from the next event on; kept over restarts
        {"done": "…"}
    {"do": "mailbox", "state": "dead", "limit": 20}              or "mailbox.retry" and "mailbox.withdraw", with "id"
        {"counts": {…}, "events": […]}                           or {"done": "…"}; where events have no room together,
                                                                 "cut" has how long each shortened text of one is
    {"do": "timers"}                                             what is set; "mailbox.withdraw" cancels one
        {"timers": [{"id": "…", "label": "…", "due": "…", "repeats": "…"}]}
    {"do": "tools"}                                              the tools of the memory: name, description, schema
        {"tools": […]}
    {"do": "tool", "name": "memory_query", "arguments": {…}}     memory_query, memory_write, memory_schema, embedding
        {"result": …}
    {"do": "challenge"}
        {"challenge": "…"}                                       something to sign, within a minute
    {"do": "prove", "owner_key": "…", "challenge": "…", "signature": "…"}
        {"owner_key": "…", "name": "…", "member": true}          what comes next is theirs; a visitor is "told" more
    {"do": "settings"}                                           or "settings.set" with "name" and "value",
        {"settings": {…}}                                        or "settings.reset" with "name" or "all": {"done": "…"}
    {"do": "memory.snapshot"}                                    see appliance/api/memory_requests.py for the others
        {"progress": [3, 10]}                                    as often as it takes; who goes away ends the work
        {"result": …}
    anything else
        {"error": "one sentence"}                                and "code": an exit code of `nakari`, where known

The socket is open to its owner (mode 0600), and to the group nakari where its folder is that group's (0660, as under
the service's unit): whoever comes in is the household, unless they prove a key. A proof is
the Ed25519 signature of the line "nakari identity v1" and the challenge after it; key and signature are hexadecimal.
From then on the connection has events, sessions, settings and a mailbox of its own, and nothing of the household's.

At most 32 programs are inside at a time; for one more, whoever has gone in mid-answer or has said nothing for ten
minutes makes room; where nobody does, it is told so and sent away. A visitor, with a key that is no member's,
may ask 20 things in ten minutes, all visitors together 60, and have 5 waiting; who asks more is told when to try again.
A line over 1 MB is refused and its sender sent away; so is a program that stops reading while a megabyte waits for it.
Who goes away in mid-answer loses the answer, not the event.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

import structlog

from appliance.api.answers import Answers, DoorHandler, MemoryHandler
from appliance.api.caller import Caller
from appliance.api.connection import MAX_LINE, Connection, Gone, next_line
from appliance.api.model_requests import ModelHandler
from appliance.api.owner_requests import OwnerHandler
from appliance.api.socket import listener_at, locked
from appliance.errors import Problem
from appliance.exits import Exit
from memory.json_value import Json

MAX_CLIENTS = 32
"""Programs inside at a time; each has one line, one answer and one challenge under way."""
MAX_REFUSED = 8
"""Programs at a time that are told that there is no room; more of them are sent away without a word."""
REFUSED_SECONDS = 1.0
"""Within which such a program has said what it wants: an answer sent before would be lost with the connection."""
NO_ROOM: dict[str, Json] = {
    "error": f"{MAX_CLIENTS} programs are inside already: try again when one of them has gone",
    "code": int(Exit.UNAVAILABLE),
}
QUIET_SECONDS = 600.0
"""After which a program that says nothing makes room for another, when there is no place left."""
MADE_ROOM: dict[str, Json] = {
    "error": f"nothing was said here for {QUIET_SECONDS / 60:g} minutes, and others wanted to come in: come in again",
    "code": int(Exit.UNAVAILABLE),
}
LONGEST_PATH = 107
"""Bytes; Linux' sun_path without its closing NUL (unix(7))."""
BREATH_SECONDS = 1.0
"""Pause when the system has no descriptor left for another program."""

_log = structlog.get_logger(__name__)


class Door:
    """Lets programs in. One for a socket path, guarded by a lock file beside it that dies with the process."""

    def __init__(
        self,
        path: Path,
        handler: DoorHandler,
        memory: MemoryHandler | None = None,
        models: ModelHandler | None = None,
        owners: OwnerHandler | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`clock` is in seconds."""
        self.path = path
        self._answers = Answers(handler, memory, models, owners)
        self._lock = -1
        self._listener: socket.socket | None = None
        self._clock = clock
        self._inside: dict[asyncio.Task[None], Connection | None] = {}
        """Visits under way, counted from the moment they are begun: many may come at once. None before its start."""
        self._refused: set[asyncio.Task[None]] = set()
        """Programs that are being told that there is no room."""

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
                    self._receive(await self._next(), group)
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

    def _receive(self, program: socket.socket, group: asyncio.TaskGroup) -> None:
        """Let a program in, or tell it that there is no room, or, where many are just being told, send it away."""
        if len(self._inside) >= MAX_CLIENTS:
            self._make_room()
        if len(self._inside) < MAX_CLIENTS:
            task = group.create_task(self._serve(program))
            self._inside[task] = None
            task.add_done_callback(lambda task: self._inside.pop(task, None))
        elif len(self._refused) < MAX_REFUSED:
            _log.warning("door_full", programs=len(self._inside))
            task = group.create_task(self._refuse(program))
            self._refused.add(task)
            task.add_done_callback(self._refused.discard)
        else:
            program.close()
            return
        task.add_done_callback(partial(_hang_up, program))

    def _make_room(self) -> None:
        """Take leave of the programs that have gone in mid-answer, else of the one that was quiet for longest."""
        there = {task: connection for task, connection in self._inside.items() if connection is not None}
        for task in [task for task, connection in there.items() if connection.is_forsaken]:
            del self._inside[task], there[task]
            task.cancel()
        if len(self._inside) < MAX_CLIENTS or not there:
            return
        task, quietest = max(there.items(), key=lambda one: one[1].quiet_seconds)
        if quietest.quiet_seconds >= QUIET_SECONDS:
            _log.info("door_client_made_room", quiet_seconds=round(quietest.quiet_seconds))
            del self._inside[task]
            with suppress(Gone):
                quietest.send(MADE_ROOM)
            task.cancel()

    async def _serve(self, program: socket.socket) -> None:
        try:
            reader, writer = await asyncio.open_unix_connection(sock=program, limit=MAX_LINE)
            connection, caller = Connection(writer, self._clock), Caller()
            if (task := asyncio.current_task()) in self._inside:
                self._inside[task] = connection
            try:
                while line := await next_line(reader, connection):
                    await self._answers.answer(line, connection, caller)
                    await asyncio.sleep(0)  # lines that are here already would keep the loop for themselves
            finally:
                await connection.close()
        except (Gone, OSError):
            _log.info("door_client_gone")

    async def _refuse(self, program: socket.socket) -> None:
        """Tell a program that there is no room, whatever it asks first."""
        try:
            reader, writer = await asyncio.open_unix_connection(sock=program, limit=MAX_LINE)
            connection = Connection(writer)
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(REFUSED_SECONDS):
                        await next_line(reader, connection)
                connection.send(NO_ROOM)
            finally:
                await connection.close()
        except (Gone, OSError):
            _log.info("door_client_gone")


def _hang_up(program: socket.socket, _: asyncio.Task[None]) -> None:
    program.close()  # a visit that is cancelled before its first step closes nothing itself


async def _readable(listener: socket.socket) -> None:
    loop, somebody = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listener, somebody.set)
    try:
        await somebody.wait()
    finally:
        loop.remove_reader(listener)
