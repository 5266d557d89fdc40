"""Vector and full-text indexes: defined in Neo4j's words on either store, asked, dropped, dumped and restored."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import GraphRefused, WriteNotAllowed
from memory.graph.cypher import Statement
from memory.graph.dump.definitions import IndexDefinition, definition
from memory.graph.dump.dump import load_dump, read_dump, write_dump
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.store import VectorOptions
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = pytest.mark.shows("C9", "C18")

OPTIONS = "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"
NEAR = f"CREATE VECTOR INDEX near IF NOT EXISTS FOR (n:Vec) ON (n.v) {OPTIONS}"
WORDS = "CREATE FULLTEXT INDEX words IF NOT EXISTS FOR (n:Vec) ON EACH [n.t, n.u]"
VECTORS = [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]


def defined(cypher: str) -> IndexDefinition | None:
    return definition(Statement.parse(cypher, 10**6))


async def grow(graph: Graph) -> None:
    rows = [{"i": number, "v": vector, "t": f"tea number {number}"} for number, vector in enumerate(VECTORS)]
    await graph.write("UNWIND $rows AS row CREATE (n:Vec) SET n = row", {"rows": rows})


async def nearest(graph: Graph, index: str = "near") -> list[object]:
    found = await graph.read(
        f"CALL db.index.vector.queryNodes('{index}', 2, $q) YIELD node, score RETURN node.i AS i, score",
        {"q": [1.0, 0.0, 0.0]},
    )
    return [row["i"] for row in found.records]


async def named(graph: Graph) -> dict[object, object]:
    return {row["name"]: row["type"] for row in (await graph.read("SHOW INDEXES")).records if row["type"] != "LOOKUP"}


@SESSION
async def test_a_vector_index_is_made_asked_and_follows_what_is_written(graph: Graph) -> None:
    await grow(graph)
    assert (await graph.write(NEAR)).stats["indexesAdded"] == 1
    assert (await graph.write(NEAR)).stats["indexesAdded"] == 0
    await graph.read("CALL db.awaitIndexes(9)") if graph.dialect.name.startswith("Neo4j") else None
    assert await nearest(graph) == [0, 1]
    await graph.write("MATCH (n:Vec {i: 0}) SET n.v = $v", {"v": [0.0, 0.0, 1.0]})
    await graph.write("CREATE (:Vec {i: 9, v: $v})", {"v": [1.0, 0.01, 0.0]})
    assert await nearest(graph) == [9, 1]
    assert (await graph.schema()).vector_indexes == [
        {"name": "near", "labels": ["Vec"], "properties": ["v"], "state": "ready"}
    ]
    assert (await graph.write("DROP INDEX near")).stats["indexesRemoved"] == 1
    assert await named(graph) == {}


@SESSION
async def test_a_full_text_index_is_made_and_asked(graph: Graph) -> None:
    await grow(graph)
    assert (await graph.write(WORDS)).stats["indexesAdded"] == 1
    await graph.read("CALL db.awaitIndexes(9)") if graph.dialect.name.startswith("Neo4j") else None
    found = await graph.read(
        "CALL db.index.fulltext.queryNodes('words', $q) YIELD node, score RETURN node.i AS i ORDER BY i", {"q": "tea"}
    )
    assert [row["i"] for row in found.records] == [0, 1, 2, 3]
    assert await named(graph) == {"words": "FULLTEXT"}


@SESSION
async def test_the_store_of_the_box_scores_as_neo4j_does(embedded: Graph) -> None:
    await grow(embedded)
    await embedded.write(NEAR)
    found = await embedded.read(
        "CALL db.index.vector.queryNodes('near', 4, $q) YIELD node, score RETURN score ORDER BY score",
        {"q": [1.0, 0.0, 0.0]},
    )
    assert [float(str(row["score"])) for row in found.records] == pytest.approx([0.0, 0.5, 0.997, 1.0], abs=1e-3)


@SESSION
async def test_vectors_come_back_as_they_were_stored(embedded: Graph) -> None:
    """In a property of 32-bit numbers 0.1 would come back as 0.10000000149."""
    await embedded.write(NEAR)
    await embedded.write("CREATE (:Vec {v: $v})", {"v": [0.1, 0.2, 1 / 3]})
    assert (await embedded.read("MATCH (n:Vec) RETURN n.v AS v")).records == [{"v": [0.1, 0.2, 1 / 3]}]


@SESSION
async def test_a_query_makes_no_index(embedded: Graph) -> None:
    for made in (NEAR, WORDS, f"/* MATCH */ {NEAR}"):
        with pytest.raises(WriteNotAllowed, match="memory_write"):
            await embedded.read(made)
    assert await named(embedded) == {}


@SESSION
async def test_what_an_index_cannot_take_is_refused_in_words(embedded: Graph) -> None:
    await embedded.write(NEAR)
    with pytest.raises(GraphRefused, match="does not match index dimension 3"):
        await embedded.write("CREATE (:Vec {v: $v})", {"v": [1.0]})
    with pytest.raises(GraphRefused, match="already exists"):
        await embedded.write(f"CREATE VECTOR INDEX near FOR (n:Vec) ON (n.v) {OPTIONS.replace('3', '4')}")


@SESSION
async def test_indexes_survive_a_dump_into_another_store(embedded: Graph, another: Graph, tmp_path: Path) -> None:
    await grow(embedded)
    await embedded.write(NEAR)
    await embedded.write(WORDS)
    await write_dump(embedded, tmp_path / "dump", datetime.now(UTC))
    await load_dump(tmp_path / "dump", another)
    assert await named(another) == {"near": "VECTOR", "words": "FULLTEXT"}
    assert await nearest(another) == [0, 1]


@SESSION
@pytest.mark.neo4j
async def test_indexes_move_to_a_server_and_back(embedded: Graph, neo4j: Graph, another: Graph, tmp_path: Path) -> None:
    await grow(embedded)
    await embedded.write(NEAR)
    await embedded.write(WORDS)
    await write_dump(embedded, tmp_path / "there", datetime.now(UTC))
    await load_dump(tmp_path / "there", neo4j)
    await write_dump(neo4j, tmp_path / "back", datetime.now(UTC))
    await load_dump(tmp_path / "back", another)
    assert await named(another) == {"near": "VECTOR", "words": "FULLTEXT"}
    assert [row["i"] for row in read_dump(tmp_path / "there") if "i" in row]


async def test_an_index_is_there_after_a_restart(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    graph = Graph(store)
    async with store:
        await grow(graph)
        await graph.write(NEAR)
    async with store:
        assert await nearest(graph) == [0, 1]
        assert await graph.indexes.vector_options() == {"near": VectorOptions(3, "COSINE")}
    await graph.close()


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n) RETURN n",
        "CREATE (n:VECTOR)",
        "RETURN 'CREATE VECTOR INDEX'",
        "// CREATE VECTOR INDEX\nRETURN 1",
    ],
)
def test_other_statements_are_the_stores_own(cypher: str) -> None:
    assert defined(cypher) is None


def test_a_definition_is_read_however_it_is_written() -> None:
    options = OPTIONS.replace("cosine", "EUCLIDEAN")
    quoted = defined(f"create /* a */ vector\nindex `my near` for (`x`:`标签`) on (x.`属性`) // that\n{options};")
    assert quoted is not None
    assert (quoted.name, quoted.label, quoted.properties, quoted.once) == ("my near", "标签", ("属性",), False)
    assert quoted.options == VectorOptions(3, "EUCLIDEAN")
    bare = defined(f"CREATE VECTOR INDEX FOR (n:A) ON n.v {OPTIONS}")
    assert bare is not None
    assert (bare.name, bare.label) == ("", "A")
    text = defined("CREATE FULLTEXT INDEX IF NOT EXISTS FOR (n:A) ON EACH [n.x, n.y]")
    assert text is not None
    assert (text.name, text.properties, text.once, text.options) == ("", ("x", "y"), True, None)


@pytest.mark.parametrize(
    "cypher",
    [
        "CREATE VECTOR INDEX i FOR (n:A) ON (n.v)",
        f"CREATE VECTOR INDEX i FOR (n:A) ON (n.v, n.w) {OPTIONS}",
        f"CREATE VECTOR INDEX i FOR ()-[r:R]-() ON (r.v) {OPTIONS}",
        "CREATE FULLTEXT INDEX i FOR (n:A|B) ON EACH [n.t]",
        "CREATE FULLTEXT INDEX i FOR (n:A) ON EACH [n.`a b`]",
        "CREATE FULLTEXT INDEX `i`` x` FOR (n:A) ON EACH [n.t]",
        "CREATE VECTOR INDEX i FOR (n:A) ON (n.v) OPTIONS {indexConfig: {`vector.dimensions`: $d}}",
        "CREATE FULLTEXT INDEX i FOR (n:A) ON EACH [n.t]; DROP TYPE A",
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_happens(cypher: str) -> None:
    with pytest.raises(GraphRefused):
        defined(cypher)


@pytest.mark.parametrize(
    ("cypher", "name"),
    [
        ("CREATE INDEX i FOR (n:A) ON (n.x)", "i"),
        ("create range index `a b` IF NOT EXISTS FOR (n:A) ON (n.x)", "a b"),
        ("/* so */ CREATE INDEX IF NOT EXISTS FOR (n:A) ON (n.x)", ""),
        ("CREATE CONSTRAINT once IF NOT EXISTS FOR (n:A) REQUIRE n.x IS UNIQUE", "once"),
        ("CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS UNIQUE", ""),
    ],
)
def test_what_the_store_takes_itself_is_sent_as_it_is(cypher: str, name: str) -> None:
    found = defined(cypher)
    assert found is not None
    assert (found.kind, found.known_as, found.commands) == ("PLAIN", name or cypher, (("opencypher", cypher),))
