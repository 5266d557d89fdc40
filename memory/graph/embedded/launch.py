"""Launches the embedded store's child process, with passwords of its own; none is left where it does not serve."""

import asyncio
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from memory.graph.embedded import server
from memory.graph.embedded.child import Child
from memory.graph.embedded.indexes import Address
from memory.graph.embedded.refusals import Explainer
from memory.graph.store import Endpoint

_SOURCE: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How a store is to be served."""

    bolt_port: int
    """0 for any free one."""
    heap_megabytes: int
    statement_seconds: float
    as_it_is: bool
    """Whether the files are opened without a look at whether they are what they were."""


@dataclass(frozen=True, slots=True)
class RunningStore:
    """A child that serves, and where."""

    child: Child
    endpoint: Endpoint
    explainer: Explainer
    address: Address
    """Of its HTTP API."""


class LaunchFailed(Exception):
    """Why none serves, as a clause of a sentence."""

    def __init__(self, reason: str, *, is_damaged: bool = False, may_open: bool = False) -> None:
        super().__init__(reason)
        self.is_damaged = is_damaged
        self.may_open = may_open
        """Whether what is damaged may open all the same."""


async def launch(folder: Path, options: LaunchOptions, seconds: float) -> RunningStore:
    """Run the child on a folder (absolute) and return where it serves within so many seconds. Raises `LaunchFailed`."""
    root, reader, writer = (secrets.token_hex(32) for _ in range(3))
    settings = server.Settings(
        folder=str(folder),
        **asdict(options),
        reader_password=reader,
        writer_password=writer,
        root_password=root,
        parent=os.getpid(),
    )
    try:
        child = await Child.run(server.__name__, _SOURCE, json.dumps(asdict(settings)).encode())
    except OSError as error:
        raise LaunchFailed(f"no process could be started for it ({error.strerror})") from error
    try:
        bolt, http = await _ports(child, seconds)
    except BaseException:
        child.kill()
        await child.ended.wait()
        raise
    logins = (server.READER, reader), (server.WRITER, writer)
    return RunningStore(
        child,
        Endpoint(f"bolt://127.0.0.1:{bolt}", server.DATABASE, *logins),
        Explainer(http, server.DATABASE),
        Address(http, logins[1]),
    )


async def _ports(child: Child, seconds: float) -> tuple[int, int]:
    """Return the ports for Bolt and HTTP that the child serves on. Raises `LaunchFailed`."""
    try:
        async with asyncio.timeout(seconds):
            answer = await child.answered()
    except TimeoutError:
        raise LaunchFailed(f"it did not start within {seconds:g} s") from None
    if "bolt" in answer:
        return int(str(answer["bolt"])), int(str(answer["http"]))
    child.kill()
    await child.ended.wait()
    last = child.last_words.rpartition("\n")[2]
    reason = str(answer.get("error") or f"its process {child.end} at its start: {last}")
    raise LaunchFailed(reason, is_damaged=answer.get("damaged") is True, may_open=answer.get("may_open") is True)
