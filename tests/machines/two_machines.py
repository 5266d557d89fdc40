"""Ears and a mind as two programs, in two namespaces or in this one, with a real NATS server beside the mind."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.engine_servers import knows_sync, nats_program
from tests.machines.namespaces import Places
from tests.machines.places import ALONE, EARS, MIND
from tests.processes import ROOT

PORT: Final = 42226
"""In the mind's own namespace, where nobody else listens."""


class Spoken(Struct, frozen=True):
    """A sentence that began to sound."""

    event_id: str
    number: int
    seconds: float
    """Since the words that it answers."""


class Conversation:
    """The ears' program."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def says(self, sentences: int) -> None:
        """Say something that is answered with so many sentences."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{sentences}\n".encode())
        await self._process.stdin.drain()

    async def hears(self, sentences: int = 1) -> list[Spoken]:
        """Return the next sentences."""
        assert self._process.stdout is not None
        found = []
        for _ in range(sentences):
            event_id, number, seconds = (await self._process.stdout.readline()).decode().split()
            found.append(Spoken(event_id, int(number), float(seconds)))
        return found


@asynccontextmanager
async def program(*command: str, folder: Path) -> AsyncIterator[Process]:
    """Run a program, which is killed at the end."""
    with (folder / "programs.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=log)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def nats_beside_the_mind(folder: Path, places: Places) -> AsyncIterator[None]:
    """Run NATS in the second namespace, reached from both."""
    settings, server = folder / "nats.conf", nats_program()
    assert server is not None
    always = ", sync_interval: always" if knows_sync(server) else ""
    settings.write_text(f'listen: "0.0.0.0:{PORT}"\njetstream {{ store_dir: "{folder / "store"}"{always} }}\n')
    async with program(*places.inside(1, server, "--config", str(settings)), folder=folder):
        yield


@asynccontextmanager
async def two_machines(folder: Path, places: Places) -> AsyncIterator[Conversation]:
    """Run the ears in the first namespace, NATS and the mind in the second."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(nats_beside_the_mind(folder, places))
        command = _places(MIND, f"nats://127.0.0.1:{PORT}", str(folder))
        await stack.enter_async_context(program(*places.inside(1, *command), folder=folder))
        command = _places(EARS, f"nats://{places.addresses[1]}:{PORT}")
        hearing = await stack.enter_async_context(program(*places.inside(0, *command), folder=folder))
        stack.enter_context(places.wire.carrying())
        yield Conversation(hearing)


@asynccontextmanager
async def one_machine(folder: Path) -> AsyncIterator[Conversation]:
    """Run both in one process."""
    async with program(*_places(ALONE, str(folder)), folder=folder) as process:
        yield Conversation(process)


def _places(*arguments: str) -> Sequence[str]:
    return [sys.executable, "-m", "tests.machines.places", *arguments]
