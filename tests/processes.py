"""Child processes of tests: a real interpreter that prints lines, and is killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Child:
    """A running module of the tests; its standard output is read line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        self.last = ""
        """The line read last."""

    async def line(self) -> str:
        """Return the next line, "" at the end."""
        assert self._process.stdout is not None
        self.last = (await self._process.stdout.readline()).decode().rstrip("\n")
        return self.last

    async def lines(self) -> list[str]:
        """Return all lines up to the end."""
        found = []
        while line := await self.line():
            found.append(line)
        return found

    async def kill(self) -> None:
        """Kill it with signal 9 and wait until it is gone; safe to call twice."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def child(module: str, *arguments: str, **environment: str) -> AsyncIterator[Child]:
    """Run `python -m module arguments`, with these variables too; it is killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    running = Child(process)
    try:
        yield running
    finally:
        await running.kill()
        await running.lines()  # to the end, so that the pipe is closed
