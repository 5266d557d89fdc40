"""One server of each kind for all tests of a session: each test takes a household of its own there."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Final

import pytest

from tests.engine_servers import Server, nats_program, nats_server, redis_program, redis_server
from tests.in_memory import IN_MEMORY

_servers: Final[dict[str, Server]] = {}


async def shared_server(scheme: str) -> Server:
    """Return the session's server, `nats` or `redis`, started; the test is skipped where there is none.

    Its store is in memory: who asks what a cut of the power leaves starts one of their own.
    """
    if scheme not in _servers:
        if not (nats_program() if scheme == "nats" else redis_program()):
            pytest.skip(f"there is no {scheme}-server on this machine; scripts/nats fetches one of NATS")
        folder = Path(tempfile.mkdtemp(prefix="nakari-engine-", dir=IN_MEMORY))
        server = nats_server(folder / scheme) if scheme == "nats" else redis_server(folder / scheme)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        atexit.register(server.kill)  # first: the last one registered
        server.start()
        _servers[scheme] = server
    return _servers[scheme]
