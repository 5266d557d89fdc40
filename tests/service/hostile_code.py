"""Runs what tries to get out of a sandbox in the unit of systemd, and prints as JSON what became of each."""

import asyncio
import json
import socket
import sys

from agent.tools.confined.sandbox import Sandbox
from tests.agent.tools.confined import hostile_code as hostile

SECONDS = 20.0
"""More than the unit gives, which is to end what goes on."""


async def main() -> None:
    """Run each in turn."""
    sandbox = Sandbox(seconds=SECONDS)
    with socket.create_server(("127.0.0.1", 0)) as server:
        programs = {
            **hostile.ESCAPES,
            "loopback": hostile.LOOPBACK.format(port=server.getsockname()[1]),
            "forks": hostile.FORK_BOMB,
            "memory": hostile.MEMORY_BOMB,
            "disk": hostile.DISK_BOMB,
            "stays": hostile.STAYS_BEHIND,
        }
        ran = {name: await sandbox.run(program) for name, program in programs.items()}
    sys.stdout.write(json.dumps({name: [each.output, each.status] for name, each in ran.items()}))


if __name__ == "__main__":
    asyncio.run(main())
