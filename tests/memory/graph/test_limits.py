"""What a statement may cost, on the real stores: rows, characters, length, time."""

import time

import pytest
import pytest_asyncio

from memory.errors import GraphRefused, TooLarge
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.results import Limits
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C3", "C13")]


@pytest_asyncio.fixture(loop_scope="session")
async def graph(hurried: Graph) -> Graph:
    """What is to overrun its limit shall not take long."""
    return hurried


async def test_rows_past_the_limit_are_counted(graph: Graph) -> None:
    result = await graph.read("UNWIND range(1, 700) AS x RETURN x")
    assert [row["x"] for row in result.records] == list(range(1, 201))
    assert result.truncated == 500


async def test_counting_has_a_limit_too(graph: Graph) -> None:
    result = await graph.read("UNWIND range(1, 500000) AS x RETURN x")
    assert (len(result.records), result.truncated) == (200, 1000)


async def test_nothing_is_cut_at_the_limit_itself(graph: Graph) -> None:
    result = await graph.read("UNWIND range(1, 200) AS x RETURN x")
    assert (len(result.records), result.truncated) == (200, 0)


async def test_characters_past_the_limit_are_left_out_row_by_row(graph: Graph) -> None:
    result = await graph.read("UNWIND range(1, 10) AS x RETURN $text AS text", {"text": "a" * 5000})
    assert (len(result.records), result.truncated) == (2, 8)


async def test_one_long_row_comes_whole(graph: Graph) -> None:
    result = await graph.read("UNWIND range(1, 2) AS x RETURN $text AS text", {"text": "a" * 50_000})
    assert ([len(str(row["text"])) for row in result.records], result.truncated) == ([50_000], 1)


async def test_what_a_write_returns_is_limited_what_it_does_is_not(graph: Graph) -> None:
    written = await graph.write("UNWIND range(1, 3000) AS x CREATE (a:A {x: x}) RETURN x")
    assert (len(written.records), written.truncated, written.stats["nodesCreated"]) == (200, 1000, 3000)
    assert (await graph.read("MATCH (a:A) RETURN count(a) AS n")).records == [{"n": 3000}]


async def test_a_long_statement_is_refused_before_it_is_parsed(graph: Graph) -> None:
    for door in (graph.read, graph.write):
        with pytest.raises(TooLarge, match="20000 are allowed"):
            await door("RETURN [" + "1," * 10_000 + "1]")


@pytest.mark.shows("C15")
async def test_a_slow_statement_ends_at_its_limit_and_the_store_lives(graph: Graph) -> None:
    await graph.write("UNWIND range(1, 5000) AS x CREATE (:A {x: x})")
    began = time.monotonic()
    with pytest.raises(TooLarge, match="longer than 2 s"):
        await graph.read("MATCH (a:A), (b:A), (c:A) WHERE a.x * b.x * c.x = 17 RETURN count(*)")
    assert time.monotonic() - began < 300  # it would take hours
    assert (await graph.read("RETURN 1 AS x")).records == [{"x": 1}]


async def test_a_slow_write_leaves_nothing(graph: Graph) -> None:
    await graph.write("UNWIND range(1, 3000) AS x CREATE (:A {x: x})")
    with pytest.raises((TooLarge, GraphRefused)):
        await graph.write("MATCH (a:A), (b:A) WHERE a.x * b.x % 7 = 1 SET a.y = b.x CREATE (:B {x: b.x})")
    found = await graph.read("MATCH (n) RETURN count(n) AS n, count(n.y) AS y")
    assert found.records == [{"n": 3000, "y": 0}]


async def test_a_batch_outside_the_transaction_is_refused(graph: Graph) -> None:
    """The embedded store would keep what `IN TRANSACTIONS` wrote even after a rollback."""
    with pytest.raises(GraphRefused, match="one transaction"):
        await graph.write("UNWIND range(1, 50) AS i CALL { WITH i CREATE (:A {i: i}) } IN TRANSACTIONS OF 10 ROWS")
    assert (await graph.read("MATCH (n) RETURN count(n) AS n")).records == [{"n": 0}]


async def test_limits_are_the_graphs_own(embedded_store: EmbeddedStore) -> None:
    graph = Graph(embedded_store, Limits(seconds=2.0, rows=1, longest_vector=2, statement=50))
    result = await graph.read("UNWIND [1, 2, 3] AS x RETURN [0.5, 1.5, 2.5] AS v")
    assert (result.records, result.truncated) == ([{"v": "(3 numbers, left out)"}], 2)
    with pytest.raises(TooLarge, match="50 are allowed"):
        await graph.read("RETURN 1 // a comment that makes this statement long")
    await graph.close()
