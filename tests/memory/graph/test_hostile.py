"""Hostile, broken and mutated statements through the tools: nothing changes, nothing dies, nothing hangs."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.event import USER_TEXT, Event
from agent.tools.tool import Call, Tool, run_tool
from memory.graph.dump.dump import write_dump
from memory.graph.dump.fingerprint import contents
from memory.graph.graph import Graph
from memory.graph.results import Limits
from tests.agent.tools.test_memory import tools_of
from tests.memory.contract import people
from tests.memory.graph_looks import SESSION, empty
from tests.memory.hostile import hostile, injections, mutated
from tests.memory.lives import looks

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C3", "C7", "C15", "C18")]

SEED = 20261121
SAMPLE = 80
"""Of the 2,000 that `python -m benchmarks.memory.graph_mutations` runs."""

LONGEST = 15.0
"""Seconds for one call: the limit of a statement here is 2, a child that must be killed is back within some more."""


@pytest_asyncio.fixture(loop_scope="session")
async def graph(hurried: Graph) -> Graph:
    """In a store of its own: a mutated statement makes a relationship's type of a name that others use as a label."""
    return hurried


@pytest_asyncio.fixture(loop_scope="session")
async def tools(graph: Graph, tmp_path: Path) -> AsyncIterator[dict[str, Tool]]:
    patient = Graph(graph._store, Limits())  # a server compiles each statement anew, on a busy machine for long
    await people(patient)
    await patient.close()
    yield {tool.name: tool for tool in tools_of(graph, tmp_path)}


async def call(tool: Tool, cypher: str, params: dict[str, object] | None = None) -> str:
    """Return the observation, within the limit."""
    text = json.dumps({"cypher": cypher, "params": params or {}})
    async with asyncio.timeout(LONGEST):
        return await run_tool(tool, text, Call("1", Event(USER_TEXT, "")))


async def test_two_hundred_hostile_statements_change_nothing(
    graph: Graph, tools: dict[str, Tool], tmp_path: Path
) -> None:
    statements = hostile()
    assert len(set(statements)) >= 200
    before = await looks(graph, tmp_path / "before")
    observed = [await call(tools["memory_query"], statement) for statement in statements]
    assert await looks(graph, tmp_path / "after") == before
    assert sum(each.startswith("error: ") for each in observed) > 150
    assert not [each for each in observed if "failed inside" in each or "Traceback" in each]


async def test_an_injection_corpus_never_alters_structure(graph: Graph, tools: dict[str, Tool], tmp_path: Path) -> None:
    assert len(injections()) >= 50
    for value in injections():
        kept = await call(tools["memory_write"], "MATCH (a:A {id: 1}) SET a.said = $v", {"v": value})
        assert {name: n for name, n in json.loads(kept)["stats"].items() if n} == {"propertiesSet": 1}
        found = await call(tools["memory_query"], "MATCH (a:A) WHERE a.said = $v RETURN count(a) AS n", {"v": value})
        assert json.loads(found)["records"] == [{"n": 1}]
    await write_dump(graph, tmp_path / "dump", datetime.now(UTC))
    nodes, relationships = await asyncio.to_thread(contents, tmp_path / "dump")
    assert (nodes.total(), relationships.total()) == (4, 3)


async def test_mutated_statements_end_in_words_through_both_doors(
    graph: Graph, tools: dict[str, Tool], tmp_path: Path
) -> None:
    before = await looks(graph, tmp_path / "before")
    sample = list(mutated(SEED, SAMPLE))
    observed = [await call(tools["memory_query"], cypher, params) for cypher, params in sample]
    assert await looks(graph, tmp_path / "after") == before
    observed += [await call(tools["memory_write"], cypher, params) for cypher, params in sample]
    assert not [each for each in observed if "failed inside" in each or "Traceback" in each]
    assert 0 < sum(each.startswith("error: ") for each in observed) < len(observed)
    await empty(graph)
    assert json.loads(await call(tools["memory_write"], "CREATE (:A)"))["stats"]["nodesCreated"] == 1


async def test_mutations_are_the_same_for_the_same_seed() -> None:
    assert list(mutated(1, 50)) == list(mutated(1, 50)) != list(mutated(2, 50))
    assert len({cypher for cypher, _ in mutated(SEED, 2000)}) > 1900
