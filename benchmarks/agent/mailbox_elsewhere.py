"""What a mailbox costs whose state is in an engine's log: JetStream and Redis, against SQLite and the bare clients."""

import asyncio
import tempfile
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from time import perf_counter

from agent.event import Event
from agent.mailbox import SCHEMA, Mailbox
from benchmarks.figure import Figure, milliseconds, run
from memory.engine.access import Login, engine_at
from memory.engine.interface import Engine
from memory.state.database import Database
from memory.state.replicated import ReplicatedDatabase
from tests.engine_servers import Server, nats_program, nats_server, redis_program, redis_server

WORDS = "What time is it, and will it rain before I come home this evening?"

RECORD = b"-" * 700
"""About what the record of one step weighs."""

STEPS = 3
"""Put, take, acknowledge."""


def measure(*, quick: bool = False) -> Figure:
    """Put, take and acknowledge on each engine, on SQLite, and three appends of each bare client, all in turn."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        servers: dict[str, Server] = {}
        try:
            if nats_program():
                servers["JetStream"] = nats_server(Path(folder) / "nats")
            if redis_program():
                servers["Redis"] = redis_server(Path(folder) / "redis")
            for server in servers.values():
                server.start()
            return asyncio.run(_measure(Path(folder), 20 if quick else 400, servers))
        finally:
            for server in servers.values():
                server.kill()


async def _measure(folder: Path, count: int, servers: dict[str, Server]) -> Figure:
    ways: dict[str, Callable[[], Awaitable[None]]] = {}
    async with AsyncExitStack() as held:
        alone = Database(folder / "alone.db")
        await alone.open(SCHEMA)
        held.push_async_callback(alone.close)
        ways["SQLite"] = _way(Mailbox(alone))
        for name, server in servers.items():
            engine = engine_at(server.url, "bench", Login())
            await engine.open()
            held.push_async_callback(engine.close)
            shared = ReplicatedDatabase(folder / name / "nakari.db", engine, household="bench", machine="bench")
            await shared.open(SCHEMA)
            held.push_async_callback(shared.close)
            await shared.lead(1)
            ways[name] = _way(Mailbox(shared))
            bare = engine_at(server.url, "bare", Login())
            await bare.open()
            held.push_async_callback(bare.close)
            ways[f"{name}'s bare client"] = _Appends(bare)
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(count):
            for name, way in ways.items():
                began = perf_counter()
                await way()
                spent[name].append(perf_counter() - began)
    first = next(iter(servers), "SQLite")
    ours = milliseconds(f"an event put, taken and acknowledged, its state in the log of {first}", spent[first])
    floor = milliseconds("the same on one box, in SQLite", spent["SQLite"])
    return Figure("A mailbox on an engine", ours, floor, tuple(_notes(servers, spent)))


def _notes(servers: dict[str, Server], spent: dict[str, list[float]]) -> list[str]:
    notes = []
    for name in servers:
        whole, bare, alone = (median(spent[each]) for each in (name, f"{name}'s bare client", "SQLite"))
        notes.append(
            f"{name}: {whole * 1e3:.1f} ms, {whole / alone:.2g} x SQLite, "
            f"{whole / bare:.2g} x three appends of its bare client ({bare * 1e3:.1f} ms)"
        )
    return notes or ["neither nats-server nor redis-server is on this machine"]


def _way(mailbox: Mailbox) -> Callable[[], Awaitable[None]]:
    async def put_take_acknowledge() -> None:
        event = Event("user_text", WORDS)
        await mailbox.enqueue(event)
        await mailbox.take()
        await mailbox.complete(event.id, "answered", {})

    return put_take_acknowledge


class _Appends:
    """As many appends of the bare client as a put, a take and an acknowledgement are records."""

    def __init__(self, engine: Engine) -> None:
        self._log = engine.log
        self._end = 0

    async def __call__(self) -> None:
        for _ in range(STEPS):
            self._end = await self._log.append(RECORD, after=self._end, id=uuid.uuid4().hex)


if __name__ == "__main__":
    run(measure)
