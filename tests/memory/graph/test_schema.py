"""The shape of the memory, on the real stores: only what is in use, with counts."""

import pytest

from memory.graph.graph import Graph
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C5", "C1")]


async def test_an_empty_memory_has_no_schema(graph: Graph) -> None:
    schema = await graph.schema()
    assert (schema.labels, schema.relationship_types, schema.property_keys) == ({}, {}, {})
    assert schema.vector_indexes == []


async def test_what_is_in_use_is_counted(graph: Graph) -> None:
    await graph.write("UNWIND range(1, 3) AS x CREATE (:A:B {x: x})-[:R {w: x}]->(:`中 文` {x: x, `属性`: 1})")
    await graph.write("CREATE (:A)-[:`R 2`]->()")
    schema = await graph.schema()
    assert schema.labels == {"A": 4, "B": 3, "中 文": 3}
    assert schema.relationship_types == {"R": 3, "R 2": 1}
    assert schema.property_keys == {"x": 6, "w": 3, "属性": 3}
    assert next(iter(schema.property_keys)) == "x"


async def test_what_was_deleted_is_forgotten(graph: Graph) -> None:
    """Both stores go on listing names they have ever seen."""
    await graph.write("CREATE (:A {x: 1})-[:R {w: 1}]->(:B)")
    await graph.write("MATCH (a:A) DETACH DELETE a")
    schema = await graph.schema()
    assert (schema.labels, schema.relationship_types, schema.property_keys) == ({"B": 1}, {}, {})


async def test_more_rows_than_a_query_returns_are_no_matter(graph: Graph) -> None:
    keys = {f"k{number}": number for number in range(300)}
    await graph.write("CREATE (n:A) SET n = $keys", {"keys": keys})
    assert len((await graph.schema()).property_keys) == 300


@pytest.mark.neo4j
async def test_vector_indexes_are_listed(neo4j: Graph) -> None:
    await neo4j.write(
        "CREATE VECTOR INDEX some_vectors IF NOT EXISTS FOR (n:A) ON (n.v) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"
    )
    [index] = (await neo4j.schema()).vector_indexes
    assert index.pop("state") in {"ready", "populating"}
    assert index == {"name": "some_vectors", "labels": ["A"], "properties": ["v"]}
