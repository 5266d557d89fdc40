"""A program of ours that reads what a stranger made, in a process that may die of it and is ended in time."""

import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

PYTHON: Final = (sys.executable, "-I", "-B")
"""This interpreter with its packages, and with nothing of ours that it could import by accident."""


@asynccontextmanager
async def reading_child(program: Path, *arguments: str, python: Sequence[str] = PYTHON) -> AsyncGenerator[Process]:
    """Start a program, given by its file, that answers on standard output what it is told on standard input.

    It sees nothing of this process's environment, and bounds its own memory and time of the processor, so that one that
    is left behind ends too. It is over when the block is, however that comes about.
    """
    child = await create_subprocess_exec(
        *python, str(program), *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={}, cwd="/"
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()
