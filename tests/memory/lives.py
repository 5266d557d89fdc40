"""Lives of a writing process, each ended by kill -9 at a random moment, and the verdict on what they left."""

import asyncio
import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from memory.graph.dump.dump import write_dump
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.replay import replay
from tests.memory.writing_life import is_mark, started, writer

ROOT = Path(__file__).parents[2]


class Verdict(Struct, frozen=True):
    """What is left after some lives."""

    missing: list[int]
    """Acknowledged, and not in the graph."""
    agree: bool
    """Whether audit log and snapshots give the graph again."""
    records: int
    """Of the audit log, its chain and its anchor verified."""


def live(folder: Path, first: int, chance: random.Random, most: int = 30) -> list[int]:
    """Let a process write, kill it at a random moment after at most so many writes; return those acknowledged."""
    command = [sys.executable, "-m", "tests.memory.writing_life", str(folder), str(first)]
    last = chance.randint(1, most)
    acknowledged: list[int] = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged.append(int(line))
            if len(acknowledged) == last:
                # Between two acknowledgements: a write takes some 5 ms from its attempt to its outcome.
                ends = time.perf_counter() + chance.uniform(0, 0.012)
                while time.perf_counter() < ends:
                    pass
                process.kill()
    return acknowledged


async def verdict(folder: Path, acknowledged: list[int]) -> Verdict:
    """Open what the lives left, settle the last write, and compare graph, audit log and snapshots."""
    store = EmbeddedStore(folder / "graph")
    await started(store)
    try:
        async with writer(store, folder) as hand:
            async with hand.exclusively():
                pass
            found = await _all(hand.graph)
            missing = [number for number in acknowledged if number not in found]
            left = await looks(hand.graph, folder / "left")
            async with EmbeddedStore(folder / "again") as other:
                again = Graph(other)
                done = await replay(hand.audit, hand.snapshots, again)
                same = await looks(again, folder / "same")
                await again.close()
            return Verdict(missing, done.is_exact and left == same, await hand.audit.verify())
    finally:
        await store.stop()


async def _all(graph: Graph) -> set[int]:
    """Return the numbers of the writes whose effect is there, whole."""
    async with graph.transaction(writes=False, seconds=60) as transaction:
        created = await transaction.run("MATCH (n:W)-[r:NEXT]->(e:End) WHERE n.i = r.i AND r.i = e.i RETURN n.i AS i")
        there = {int(row["i"]) async for row in created}
        marked = await transaction.run("MATCH (n:W) WHERE n.seen IS NOT NULL RETURN n.seen AS i")
        marks = {int(row["i"]) async for row in marked}
    return there | {number for number in marks if is_mark(number)}


async def looks(graph: Graph, path: Path) -> str:
    """Return the fingerprint of all that is in a graph, written down at `path`."""
    await write_dump(graph, path, datetime.now(UTC))
    return await asyncio.to_thread(fingerprint, path)
