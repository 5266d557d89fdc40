"""Servers for the engines' tests: one of each kind for all, and one of its own for whoever breaks it."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.engine_servers import Server, nats_server, redis_server
from tests.in_memory import folder_in_memory
from tests.memory.engine.rigs import KINDS, Rig, fake, real, started

MAKE: dict[str, Callable[[Path], Server]] = {"nats": nats_server, "redis": redis_server}


@pytest.fixture(scope="session")
def shared_servers() -> Iterator[Callable[[str], Server]]:
    """What returns the server of a kind, started when it is first asked for."""
    running: dict[str, Server] = {}
    with folder_in_memory() as folder:

        def get(kind: str) -> Server:
            if kind not in running:
                running[kind] = started(MAKE[kind](folder / kind))
            return running[kind]

        yield get
        for server in running.values():
            server.kill()


@pytest.fixture(params=KINDS)
async def rig(request: pytest.FixtureRequest, shared_servers: Callable[[str], Server]) -> AsyncIterator[Rig]:
    """A household of its own on each kind."""
    async with fake() if request.param == "fake" else real(shared_servers(request.param)) as made:
        yield made


@pytest.fixture(params=KINDS)
async def own_rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A household on a server of its own."""
    if request.param == "fake":
        async with fake() as made:
            yield made
        return
    server = started(MAKE[request.param](tmp_path / "server"))
    try:
        async with real(server) as made:
            yield made
    finally:
        server.kill()
