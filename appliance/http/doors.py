"""The doors: sockets that listen from the first second, and a server that is loaded when somebody first comes."""

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import structlog

from appliance.errors import Exit, Problem
from appliance.http.listening.addresses import Address, Addresses
from appliance.http.socket import listener_at, locked
from memory.lock import unlock

if TYPE_CHECKING:
    from appliance.http.server import HttpServer

LONGEST_PATH: Final = 107
"""Bytes; Linux' sun_path without its closing NUL (unix(7))."""

log = structlog.get_logger()

Load: TypeAlias = "Callable[[], Awaitable[HttpServer]]"
"""Loads the server and everything that it answers with."""


class Doors:
    """Lets programs in. One for a socket path, guarded by a lock file beside it that dies with the process."""

    def __init__(self, path: Path, load: Load, addresses: Addresses) -> None:
        """`path` is the Unix socket's; `addresses` are opened and closed with it."""
        self.path = path
        self._load = load
        self._addresses = addresses
        self._lock = -1
        self._listener: socket.socket | None = None
        self._server: HttpServer | None = None
        self._loading = asyncio.Lock()

    def open(self) -> None:
        """Take the socket's place, over the remains of a dead process; nobody is answered before `run`.

        An address of TCP that cannot be had is told, and tried again by `run`.

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
        self._addresses.open()

    async def run(self) -> None:
        """Answer programs until cancelled; opens the door if that was not done before, and removes it at the end."""
        if self._listener is None:
            self.open()
        assert self._listener is not None
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._answer(self._listener), name="doors: the Unix socket")
                for address in self._addresses.all:
                    group.create_task(self._answer_at(address), name=f"doors: {address.name}")
        finally:
            if self._server is not None:
                await self._server.close()
            self.close()

    async def _answer_at(self, address: Address) -> None:
        listener = await address.until_open(self._addresses.pause)
        await self._answer(listener, address.tls)

    async def _answer(self, listener: socket.socket, tls: ssl.SSLContext | None = None) -> None:
        await _somebody_comes(listener)
        async with self._loading:
            if self._server is None:
                self._server = await self._load()
                log.info("doors_answer")
        await self._server.serve(listener, tls)

    def close(self) -> None:
        """Remove the socket and let go of the lock; safe to call twice."""
        if self._listener is not None:
            self.path.unlink(missing_ok=True)
            self._listener.close()
            self._listener = None
        self._addresses.close()
        if self._lock >= 0:
            unlock(self._lock)
            self._lock = -1


async def _somebody_comes(listener: socket.socket) -> None:
    loop, somebody = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listener, somebody.set)
    try:
        await somebody.wait()
    finally:
        loop.remove_reader(listener)
