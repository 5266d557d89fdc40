"""Each engine that must keep the same promises, with a server that can be killed, frozen and started again."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Protocol

import pytest

from memory.engine.access import Login, engine_at
from memory.engine.interface import Engine
from memory.errors import EngineUnreachable
from tests.engine_fake import FakeEngine, FakeServer
from tests.engine_servers import Server

KINDS = (
    "fake",
    pytest.param("nats", marks=pytest.mark.nats),
    pytest.param("redis", marks=pytest.mark.redis),
)

_households = itertools.count(1)


class Faults(Protocol):
    """What can befall a server."""

    def kill(self) -> None: ...

    def start(self) -> None: ...

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...


class Rig:
    """One household on a server."""

    def __init__(self, kind: str, server: Faults, make: Callable[[float], Engine]) -> None:
        self.kind = kind
        self.server = server
        self._make = make
        self._open = AsyncExitStack()

    async def machine(self, take_seconds: float = 30.0) -> Engine:
        """Return another machine's engine, opened."""
        engine = self._make(take_seconds)
        self._open.push_async_callback(engine.close)
        while not engine.is_reachable:  # one that was just started may be reading what it had
            with suppress(EngineUnreachable):
                await engine.open()
        return engine

    async def close(self) -> None:
        await self._open.aclose()


@asynccontextmanager
async def real(server: Server) -> AsyncIterator[Rig]:
    """Give a household of its own on a server that others use too."""
    household = f"home-{next(_households)}"
    rig = Rig("real", server, lambda seconds: engine_at(server.url, household, Login(), take_seconds=seconds))
    yield rig
    await rig.close()


@asynccontextmanager
async def fake() -> AsyncIterator[Rig]:
    """Give a household in memory."""
    server = FakeServer()
    rig = Rig("fake", server, lambda seconds: FakeEngine(server, take_seconds=seconds))
    yield rig
    await rig.close()


def started(server: Server) -> Server:
    server.start()
    return server
