"""Each thing that the model is told about a store's Cypher is true of that store."""

import asyncio
from typing import Any

import pytest

from memory.errors import GraphRefused, TooLarge, WriteNotAllowed
from memory.graph.graph import Graph
from memory.graph.store import EMBEDDED, NEO4J
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C18")]

SIDE, DIAGONAL = [1.0, 0.0], [1.0, 1.0]


async def value(graph: Graph, cypher: str, params: dict[str, Any] | None = None) -> Any:
    """Return the one value `v` of the one row."""
    [row] = (await graph.read(cypher, params)).records
    return row["v"]


async def test_the_embedded_cosine_is_plain(embedded: Graph) -> None:
    compared = "RETURN vector.similarity.cosine($a, $b) AS v"
    assert await value(embedded, compared, {"a": SIDE, "b": DIAGONAL}) == pytest.approx(0.7071, abs=1e-3)
    assert await value(embedded, compared, {"a": SIDE, "b": [-1.0, 0.0]}) == pytest.approx(-1)


@pytest.mark.shows("C9")
async def test_the_nearest_vectors_are_found_by_scan(graph: Graph) -> None:
    rows = [{"id": number, "v": [1.0, number / 100]} for number in range(100)]
    await graph.write("UNWIND $rows AS row CREATE (:A {id: row.id, v: row.v})", {"rows": rows})
    found = await graph.read(
        "MATCH (a:A) RETURN a.id AS id ORDER BY vector.similarity.cosine(a.v, $vector) DESC LIMIT 3", {"vector": SIDE}
    )
    assert [row["id"] for row in found.records] == [0, 1, 2]


@pytest.mark.parametrize(
    "absent",
    [
        "MATCH p = SHORTEST 1 (a:A)-[:R]->+(b:A) RETURN p",
        "CYPHER 5 RETURN 1",
        "USE other RETURN 1",
        "RETURN gds.similarity.cosine([1.0], [1.0])",
        "CALL apoc.create.node(['A'], {})",
        "CREATE VECTOR INDEX i IF NOT EXISTS FOR (n:A) ON (n.v)",
        "CREATE FULLTEXT INDEX i IF NOT EXISTS FOR (n:A|B) ON EACH [n.t]",
    ],
)
async def test_what_the_embedded_store_is_said_to_lack_is_refused_in_words(embedded: Graph, absent: str) -> None:
    with pytest.raises(GraphRefused, match=r"\w+ \w+"):
        await embedded.write(absent)


async def test_explain_is_taken_for_a_write_by_the_embedded_store(embedded: Graph) -> None:
    with pytest.raises(WriteNotAllowed):
        await embedded.read("EXPLAIN MATCH (n) RETURN n")


async def test_apoc_functions_and_shortest_path_are_there(embedded: Graph) -> None:
    await embedded.write("CREATE (:A {x: 1})-[:R]->(:A {x: 2})-[:R]->(:A {x: 3})")
    assert await value(embedded, "RETURN apoc.text.join(['a', 'b'], '-') AS v") == "a-b"
    shortest = "MATCH p = shortestPath((a:A {x: 1})-[:R*]->(b:A {x: 3})) RETURN length(p) AS v"
    assert await value(embedded, shortest) == 2


async def test_a_name_is_a_label_or_a_type_and_the_reason_is_told(embedded: Graph) -> None:
    await embedded.write("CREATE (:Label)-[:TYPE]->(:Label)")
    with pytest.raises(GraphRefused, match="TYPE is a relationship type here"):
        await embedded.write("CREATE (:TYPE)")
    with pytest.raises(GraphRefused, match="Label is a label here"):
        await embedded.write("CREATE (:Label)-[:Label]->(:Label)")
    with pytest.raises(GraphRefused, match="~"):
        await embedded.write("CREATE (:`with~tilde`)")


async def test_the_reason_asked_for_over_http_changes_nothing(embedded: Graph) -> None:
    await embedded.write("CREATE (:Label)-[:TYPE]->(:Label)")
    with pytest.raises(GraphRefused, match="TYPE is a relationship type"):
        await embedded.write("CREATE (:Fine {x: $x}) CREATE (:TYPE)", {"x": 1})
    assert await value(embedded, "MATCH (n) RETURN count(n) AS v") == 2


async def test_a_refused_statement_with_no_reason_is_called_too_large(embedded: Graph) -> None:
    """A vector of bytes is nothing that JSON carries, so the reason cannot be asked for."""
    await embedded.write("CREATE (:Label)-[:TYPE]->(:Label)")
    with pytest.raises(TooLarge, match="smaller steps"):
        await embedded.write("CREATE (:TYPE {x: $x})", {"x": b"bytes"})


async def test_an_index_fixes_the_type_of_its_property(embedded: Graph) -> None:
    await embedded.write("CREATE (:Typed {k: 1})")
    await embedded.write("CREATE INDEX IF NOT EXISTS FOR (n:Typed) ON (n.k)")
    written = await embedded.write("CREATE (n:Typed {k: $k}) RETURN n.k AS k", {"k": 1.5})
    assert written.records == [{"k": 1}]
    with pytest.raises(GraphRefused):
        await embedded.write("CREATE (n:Typed {k: $k})", {"k": "a text"})


async def test_the_element_id_changes_with_the_labels(embedded: Graph) -> None:
    await embedded.write("CREATE (:A {id: 1})")
    before = await value(embedded, "MATCH (a {id: 1}) RETURN elementId(a) AS v")
    await embedded.write("MATCH (a:A {id: 1}) SET a:B")
    assert await value(embedded, "MATCH (a {id: 1}) RETURN elementId(a) AS v") != before


@pytest.mark.neo4j
async def test_neo4js_cosine_is_half_of_it_and_a_half(neo4j: Graph) -> None:
    compared = "RETURN vector.similarity.cosine($a, $b) AS v"
    assert await value(neo4j, compared, {"a": SIDE, "b": DIAGONAL}) == pytest.approx((1 + 0.7071) / 2, abs=1e-3)
    assert await value(neo4j, compared, {"a": SIDE, "b": [-1.0, 0.0]}) == pytest.approx(0)


@pytest.mark.neo4j
@pytest.mark.shows("C9")
async def test_neo4js_vector_index_is_made_and_asked_as_told(neo4j: Graph) -> None:
    await neo4j.write(
        "CREATE VECTOR INDEX near IF NOT EXISTS FOR (n:A) ON (n.v) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
    )
    await neo4j.write("UNWIND $v AS v CREATE (:A {v: v})", {"v": [[0.0, 1.0], [1.0, 0.1], [-1.0, 0.5], [1.0, 1.0]]})
    await neo4j.read("CALL db.awaitIndexes(9)")
    found = await neo4j.read(
        "CALL db.index.vector.queryNodes('near', 2, $vector) YIELD node, score RETURN node.v AS v", {"vector": SIDE}
    )
    assert [row["v"] for row in found.records] == [[1.0, 0.1], [1.0, 1.0]]


@pytest.mark.neo4j
async def test_neo4j_refuses_lists_of_lists(neo4j: Graph) -> None:
    with pytest.raises(GraphRefused, match=r"(?i)collection"):
        await neo4j.write("CREATE (:A {x: $x})", {"x": [[1], [2]]})


async def test_the_truths_name_nothing_of_its_own() -> None:
    for dialect in (EMBEDDED, NEO4J):
        told = " ".join(dialect.reading + dialect.writing)
        assert "(:" not in told
        assert "[:" not in told


async def test_many_at_once_read_while_one_writes(graph: Graph) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(graph.write("MERGE (n:Counter {id: 1}) SET n.x = coalesce(n.x, 0) + 1"))
            group.create_task(graph.read("MATCH (n) RETURN count(n) AS n", {"number": number}))
    assert await value(graph, "MATCH (n:Counter) RETURN n.x AS v") == 20
