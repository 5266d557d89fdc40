"""Vector search on either store: filling, building the index, the ten nearest by it and by a scan, after a restart."""

import argparse
import asyncio
import json
import math
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import asdict

from audio.loops import running
from benchmarks.memory.graph_page import write_vectors
from benchmarks.memory.graph_server import own_server
from benchmarks.processes import cpu_seconds, resident_megabytes
from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.embedded.index_builder import Stage
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.vectors.embedding import Handles
from memory.vectors.embedding_local import LocalEmbedder
from tests.memory.sentence_model import write_sentence_model

DIMENSIONS: Final = 384
NEAREST: Final = 10
QUESTIONS: Final = 30
BATCH: Final = 250

MAKE: Final = (
    "CREATE VECTOR INDEX near IF NOT EXISTS FOR (n:Note) ON (n.v) "
    f"OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine'}}}}"
)
BY_INDEX: Final = f"CALL db.index.vector.queryNodes('near', {NEAREST}, $v) YIELD node, score RETURN node.i AS i"
BY_SCAN: Final = f"MATCH (n:Note) RETURN n.i AS i ORDER BY vector.similarity.cosine(n.v, $v) DESC LIMIT {NEAREST}"

Vectors = npt.NDArray[np.float64]


class Found(Struct, frozen=True):
    """One store; seconds, but `by_index` and `by_scan`, which are milliseconds of one question."""

    store: str
    vectors: int
    filled: float
    call: float
    """The memory_write that makes the index."""
    ready: float
    """From that call until the index is ready: with the quiet that it waits for, 20 s."""
    processor: float
    """Of the store, meanwhile."""
    writing: float
    """Milliseconds, the longest of the writes meanwhile."""
    by_index: float
    by_scan: float
    """Infinite where the time limit of a statement ended it."""
    recall: float
    """Of the ten nearest, how many the index finds."""
    megabytes: float
    warm: float
    """From the start of the store, killed before, until the index is ready again."""


class Process(Struct, frozen=True):
    """A store's process, how to kill and start it, and how to let it make an index that waits for quiet."""

    pid: Callable[[], int]
    again: Callable[[], Awaitable[object]]
    let_alone: Callable[[], Awaitable[object]]


def main() -> None:
    """Measure, print, and with --page write the table of docs/graph.md."""
    parser = argparse.ArgumentParser(description="Search vectors on either store.")
    parser.add_argument("--vectors", type=int, default=50_000)
    parser.add_argument("--page", action="store_true", help="write the table of docs/graph.md")
    wanted = parser.parse_args()
    found = asyncio.run(_measure(wanted.vectors))
    if wanted.page:
        write_vectors([asdict(row) for row in found])


async def _measure(count: int) -> list[Found]:
    vectors = made(count)
    found: list[Found] = []
    with tempfile.TemporaryDirectory(prefix="nakari-vectors-") as folder:
        (Path(folder) / "model").mkdir()
        print(json.dumps({"sentence": await _sentence(Path(folder) / "model")}), flush=True)
        store = EmbeddedStore(Path(folder) / "graph")
        async with running({"store": store.run, "indexes": store.indexes.run}):
            await store.until(State.READY)
            process = Process(lambda: store.pid or 0, store.restart, partial(_quiet, store))
            found.append(await _run("embedded", Graph(store), vectors, process))
        print(json.dumps(asdict(found[-1])), flush=True)
        with own_server(Path(folder) / "neo4j") as server:
            process = Process(lambda: server.pid, lambda: asyncio.to_thread(server.start), lambda: asyncio.sleep(0))
            found.append(await _run("neo4j", Graph(Neo4jServer(server.uri)), vectors, process))
        print(json.dumps(asdict(found[-1])), flush=True)
    return found


def made(count: int) -> Vectors:
    """Return unit vectors in groups of fifty, as sentences about one thing lie together."""
    chance = np.random.default_rng(7)
    about = chance.normal(size=(max(10, count // 50), DIMENSIONS))
    vectors = about[chance.integers(0, len(about), count)] + 0.6 * chance.normal(size=(count, DIMENSIONS))
    unit: Vectors = np.round(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), 6)
    return unit


async def _run(name: str, graph: Graph, vectors: Vectors, process: Process) -> Found:
    began = perf_counter()
    for first in range(0, len(vectors), BATCH):
        rows = [{"i": first + n, "v": vector} for n, vector in enumerate(vectors[first : first + BATCH].tolist())]
        await graph.write("UNWIND $rows AS row CREATE (n:Note) SET n = row", {"rows": rows})
    filled = perf_counter() - began
    chance = np.random.default_rng(8)
    picked = vectors[chance.integers(0, len(vectors), QUESTIONS)]
    questions = picked + 0.3 / math.sqrt(DIMENSIONS) * chance.normal(size=picked.shape)
    used, began = cpu_seconds(process.pid()), perf_counter()
    await graph.write(MAKE)
    call = perf_counter() - began
    await process.let_alone()
    writing = await _until_ready(graph)
    ready, used = perf_counter() - began, cpu_seconds(process.pid()) - used
    by_index, recall = await _ask(graph, BY_INDEX, questions, vectors)
    by_scan, _ = await _ask(graph, BY_SCAN, questions[:3], vectors)
    megabytes, began = resident_megabytes(process.pid()), perf_counter()
    await process.again()
    await _until_ready(graph)
    await graph.read(BY_INDEX, {"v": questions[0].tolist()})
    warm = perf_counter() - began
    await graph.close()
    return Found(
        name, len(vectors), filled, call, ready, used, writing, by_index, by_scan, recall, round(megabytes), warm
    )


async def _quiet(store: EmbeddedStore) -> None:
    """Ask nothing while an index waits for that, and while it is made."""
    waits = (Stage.WAITING, Stage.MAKING)
    while any(state.startswith(waits) for state in store.indexes.states.values()):  # noqa: ASYNC110  no event tells it
        await asyncio.sleep(0.2)


async def _until_ready(graph: Graph) -> float:
    """Write, once a second, until the index answers; return the longest write in milliseconds."""
    longest = 0.0
    while True:
        try:
            began = perf_counter()
            await graph.write("MERGE (n:Other) SET n.x = coalesce(n.x, 0) + 1")
            longest = max(longest, perf_counter() - began)
            rows = (await graph.read("SHOW INDEXES YIELD type, state WHERE type = 'VECTOR' RETURN state")).records
            await graph.read(BY_INDEX, {"v": [1.0] * DIMENSIONS})
            if [row["state"] for row in rows] == ["ONLINE"]:
                return round(longest * 1000, 1)
        except (GraphRefused, GraphUnavailable):
            await asyncio.sleep(0.2)


async def _ask(graph: Graph, cypher: str, questions: Vectors, vectors: Vectors) -> tuple[float, float]:
    """Return the median milliseconds of a question, and the share of the truly nearest that it found."""
    times, hits = [], 0
    for question in questions:
        began = perf_counter()
        try:
            answer = await graph.read(cypher, {"v": question.tolist()})
        except GraphRefused:
            return math.inf, 0.0
        times.append(perf_counter() - began)
        nearest = {int(each) for each in np.argsort(-(vectors @ question))[:NEAREST]}
        hits += len(nearest & {int(str(row["i"])) for row in answer.records})
    return round(statistics.median(times) * 1000, 1), round(hits / (NEAREST * len(questions)), 3)


async def _sentence(folder: Path) -> dict[str, float]:
    """Return the milliseconds for a new sentence, the first one and the median, and for one that was asked before."""
    handles, times = Handles(LocalEmbedder(write_sentence_model(folder))), []
    for number in [*range(QUESTIONS), 0]:
        began = perf_counter()
        await handles.embed(f"The spare key number {number} is under the flower pot behind the house.")
        times.append((perf_counter() - began) * 1000)
    return {"first": round(times[0]), "new": round(statistics.median(times[1:-1]), 1), "again": round(times[-1], 3)}


if __name__ == "__main__":
    main()
