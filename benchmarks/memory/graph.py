"""What the graph costs as it grows: writes, queries, memory and start-up at each size, on either store."""

import argparse
import asyncio
import json
import math
import os
import random
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

from msgspec import Struct
from msgspec.structs import asdict

from benchmarks.memory.graph_page import write_growth
from benchmarks.memory.graph_server import own_server
from benchmarks.processes import resident_megabytes
from memory.errors import TooLarge
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer, Store
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import empty

BATCH = 2_000
"""Nodes created by one statement while the graph grows."""

PATIENT_SECONDS = 120.0
"""For one of them: a server that has just started is slow."""

MORE = "UNWIND range($first, $last) AS i CREATE (n:Thing {i: i, t: $t + i})-[:NEXT {w: 1}]->(:Part {i: i})"

ROUNDS = 30
"""Of each thing that is timed; medians are told."""


class Point(Struct, frozen=True):
    """One store at one size; times in milliseconds."""

    store: str
    nodes: int
    write: float
    """A node and a relationship created and committed."""
    audited: float
    """The same through the writer: audit log synced before and after."""
    lookup: float
    """By an indexed property, with its neighbours."""
    scan: float
    """A text contained, over every node."""
    schema: float
    """What memory_schema looks at."""
    megabytes: float
    """Resident memory of the store's process; 0 of a server that may be elsewhere."""
    start: float
    """On what is there; 0 of a server that is not ours to stop."""


def main() -> None:
    """Measure, print, and with --page draw the curves of docs/graph.md."""
    parser = argparse.ArgumentParser(description="Grow a graph and measure it.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--page", action="store_true", help="write docs/graph.svg and the table of docs/graph.md")
    wanted = parser.parse_args()
    points = asyncio.run(_measure(sorted(wanted.sizes)))
    if wanted.page:
        write_growth([asdict(point) for point in points])


async def _measure(sizes: list[int]) -> list[Point]:
    points: list[Point] = []
    with tempfile.TemporaryDirectory(prefix="nakari-graph-") as folder:
        store = EmbeddedStore(Path(folder) / "graph")
        async with store:
            process = _Process(lambda: store.pid or 0, store.restart)
            points += await _grow("embedded", store, process, Path(folder) / "own", sizes)
        if uri := os.environ.get("NAKARI_TEST_NEO4J_URI"):
            points += await _grow("neo4j", Neo4jServer(uri), None, Path(folder) / "server", sizes)
        else:
            with own_server(Path(folder) / "neo4j") as server:
                process = _Process(lambda: server.pid, lambda: asyncio.to_thread(server.start))
                points += await _grow("neo4j", Neo4jServer(server.uri), process, Path(folder) / "server", sizes)
    return points


class _Process(Struct, frozen=True):
    """A store's process, where it is ours."""

    pid: Callable[[], int]
    restart: Callable[[], Awaitable[object]]


async def _grow(name: str, store: Store, own: _Process | None, folder: Path, sizes: list[int]) -> list[Point]:
    graph, points, there = Graph(store), [], 0
    await empty(graph)
    await graph.write("CREATE INDEX IF NOT EXISTS FOR (n:Thing) ON (n.i)")
    for size in sizes:
        while there < size:
            more = min(BATCH, size - there)
            given = {"first": there, "last": there + more // 2 - 1, "t": "some words about thing number "}
            async with graph.transaction(writes=True, seconds=PATIENT_SECONDS) as transaction:
                await (await transaction.run(MORE, given)).consume()
            there += more
        points.append(await _point(name, graph, own, folder, size))
        print(json.dumps(asdict(points[-1])), flush=True)
    await graph.close()
    return points


async def _point(name: str, graph: Graph, own: _Process | None, folder: Path, size: int) -> Point:
    audit = AuditLog(folder / "audit")
    writer = Writer(graph, audit, Snapshots(folder / "snapshots", audit))
    chance = random.Random(size)
    new = "CREATE (:Thing {i: $i, t: $t})-[:NEXT {w: 2}]->(:Part {i: $i})"

    def some() -> dict[str, object]:
        return {"i": chance.randrange(size // 2), "t": "words"}

    near = "MATCH (n:Thing {i: $i})-[r]->(m) RETURN n.t, type(r), m.i"
    point = Point(
        name,
        size,
        write=await _median(lambda: graph.write(new, some())),
        audited=await _median(lambda: writer.write(new, some(), Origin())),
        lookup=await _median(lambda: graph.read(near, some())),
        scan=await _median(lambda: graph.read("MATCH (n) WHERE n.t CONTAINS $t RETURN count(n)", some()), 3),
        schema=await _median(graph.schema, 3),
        megabytes=resident_megabytes(own.pid()) if own else 0.0,
        start=await _median(own.restart, 1) if own else 0.0,
    )
    audit.close()
    return point


async def _median(what: Callable[[], Awaitable[object]], rounds: int = ROUNDS) -> float:
    """Return the median of so many runs in milliseconds, after one that is not counted.

    Infinite where one is refused because the time limit of a statement ended it.
    """
    times = []
    for _ in range(rounds + 1):
        began = perf_counter()
        try:
            await what()
        except TooLarge:
            return math.inf
        times.append(perf_counter() - began)
    return round(statistics.median(times[1:]) * 1000, 2)


if __name__ == "__main__":
    main()
