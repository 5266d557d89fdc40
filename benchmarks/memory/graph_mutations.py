"""2,000 mutated statements through both memory tools on either store: what died, what hung, what failed inside."""

import argparse
import asyncio
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

from agent.event import USER_TEXT, Event
from agent.tools.tool import Call, run_tool
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.graph.results import Limits
from memory.graph.store import Neo4jServer, Store
from tests.agent.tools.test_memory import tools_of
from tests.memory.contract import people
from tests.memory.graph_looks import empty
from tests.memory.hostile import mutated

SEED = 20261121


def main() -> None:
    """Run them on the store of the box, and on the server that NAKARI_TEST_NEO4J_URI names."""
    parser = argparse.ArgumentParser(description="Send mutated statements through both tools.")
    parser.add_argument("--count", type=int, default=2000)
    asyncio.run(_main(parser.parse_args().count))


async def _main(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="nakari-mutations-") as folder:
        async with asyncio.TaskGroup() as group:
            store = EmbeddedStore(Path(folder) / "graph", statement_seconds=2.0)
            running = group.create_task(store.run())
            async with asyncio.timeout(60):
                await store.until(State.READY)
            await _run("embedded", store, Path(folder) / "a", count)
            running.cancel()
        if uri := os.environ.get("NAKARI_TEST_NEO4J_URI"):
            await _run("Neo4j", Neo4jServer(uri), Path(folder) / "b", count)


async def _run(name: str, store: Store, folder: Path, count: int) -> None:
    patient, graph = Graph(store), Graph(store, Limits(seconds=2.0))
    await empty(patient)  # a server that has just started takes longer than it may later
    await people(patient)
    await patient.close()
    tools = {tool.name: tool for tool in tools_of(graph, folder)}
    told: Counter[str] = Counter()
    longest, began = 0.0, perf_counter()
    for cypher, params in mutated(SEED, count):
        for door in ("memory_query", "memory_write"):
            sent = perf_counter()
            answer = await run_tool(
                tools[door], json.dumps({"cypher": cypher, "params": params}), Call("1", Event(USER_TEXT, ""))
            )
            longest = max(longest, perf_counter() - sent)
            told["failed inside" if "failed inside" in answer else _kind(answer)] += 1
    await graph.close()
    print(f"{name}: {2 * count} calls in {perf_counter() - began:.0f} s, the longest {longest:.1f} s, {dict(told)}")


def _kind(answer: str) -> str:
    if not answer.startswith("error: "):
        return "answered"
    return "store down" if "not available" in answer or "broke off" in answer else "refused in words"


if __name__ == "__main__":
    main()
