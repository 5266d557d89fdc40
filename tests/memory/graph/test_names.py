"""Names that were a relationship's type and are to be labels, or the reverse, on the real store of the box."""

from pathlib import Path

import pytest

from memory.errors import GraphRefused
from memory.graph.dump.dump import FORMAT, _Writing, load_dump
from memory.graph.embedded.refusals import NameTaken, refused
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.replay import replay
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import SESSION

pytest_plugins = ("tests.memory.graph_fixtures",)
pytestmark = [pytest.mark.shows("C1", "C2", "C18"), SESSION]

LINKED = "CREATE (:Cat {i: 1})-[:Loves]->(:Cat {i: 2})"
UNLINK = "MATCH ()-[r:Loves]->() DELETE r"
LINK = "MATCH (a:Cat {i: 1}), (b:Cat {i: 2}) CREATE (a)-[:Loves]->(b)"
VECTORS = "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"


async def one(graph: Graph, cypher: str) -> object:
    [record] = (await graph.read(cypher)).records
    [value] = record.values()
    return value


async def test_a_name_that_nothing_has_any_more_may_be_the_other(another: Graph) -> None:
    await another.write(LINKED)
    await another.write(UNLINK)
    written = await another.write("MATCH (c:Cat {i: 1}) CREATE (n:Loves:Deeply {x: 1})-[:Felt]->(c)")
    assert (written.stats["nodesCreated"], written.stats["labelsAdded"]) == (1, 2)
    assert await one(another, "MATCH (n:Loves) RETURN labels(n)") == ["Deeply", "Loves"]
    await another.write("CREATE INDEX deep FOR (n:Deeply) ON (n.x)")
    await another.write("MATCH (n:Loves) DETACH DELETE n")
    assert (await another.write(LINK)).stats["relationshipsCreated"] == 1
    # The set of both labels went with the one: the other, and its index, are as they were.
    await another.write("CREATE (:Deeply {x: 1}), (:Deeply:Other {x: 1})")
    assert await one(another, "MATCH (n:Deeply {x: 1}) RETURN count(n)") == 2


async def test_a_name_that_is_in_use_or_indexed_stays_and_the_refusal_says_what_to_do(another: Graph) -> None:
    await another.write(LINKED)
    with pytest.raises(GraphRefused, match=r"Loves is a relationship type here.*choose another name for a label"):
        await another.write("MERGE (:Loves)")
    await another.write("CREATE (:Dog:Small)")
    with pytest.raises(GraphRefused, match=r"Small is a label here.*choose another name for a relationship type"):
        await another.write("MATCH (a:Cat {i: 1}), (b:Cat {i: 2}) MERGE (a)-[:Small]->(b)")
    await another.write(f"CREATE VECTOR INDEX near FOR (n:Dream) ON (n.v) {VECTORS}")
    with pytest.raises(GraphRefused, match=r"Dream is a label here.*indexed"):
        await another.write("MATCH (a:Cat {i: 1}) CREATE (a)-[:Dream]->(a)")
    with pytest.raises(GraphRefused, match="Both is a label here"):
        await another.write("CREATE (:Both)-[:Both]->()")
    assert await one(another, "MATCH (n) RETURN count(n)") == 3
    assert await one(another, "MATCH ()-[r:Loves]->() RETURN count(r)") == 1


@pytest.mark.parametrize("index", [f"CREATE VECTOR INDEX i FOR (n:Loves) ON (n.v) {VECTORS}",
                                   "CREATE FULLTEXT INDEX i FOR (n:Loves) ON EACH [n.t]",
                                   "CREATE INDEX FOR (n:`Loves`) ON (n.t)",
                                   "CREATE CONSTRAINT IF NOT EXISTS FOR (n:Loves) REQUIRE n.t IS UNIQUE"])  # fmt: skip
async def test_an_index_is_never_put_on_relationships_that_have_a_label_s_name(another: Graph, index: str) -> None:
    """Such an index could not be restored from a snapshot: the label came first there, and the type was refused."""
    await another.write(LINKED)
    with pytest.raises(GraphRefused, match="Loves is a relationship type here"):
        await another.write(index)
    await another.write(UNLINK)
    made = (await another.write(index)).stats
    assert made["indexesAdded"] + made["constraintsAdded"] == 1
    assert (await another.write("CREATE (:Loves)")).stats["labelsAdded"] == 1


async def test_what_gave_way_gives_way_again_when_the_log_is_replayed(another: Graph, tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit")
    snapshots = Snapshots(tmp_path / "snapshots", audit)
    writer = Writer(another, audit, snapshots)
    for cypher in (LINKED, UNLINK, "CREATE (:Loves)", "MATCH (n:Loves) DELETE n", LINK):
        await writer.write(cypher, {}, Origin())
    records = list(audit.records())
    refused = [record for record in records if record.kind == "outcome" and not record.facts["committed"]]
    assert [record.content for record in refused] == [{"why": "nothing of it was kept, and it was tried again"}] * 2
    assert await audit.verify() == 14
    assert [r.facts["attempt"] for r in records if r.kind == "attempt"] == [1, 1, 1, 2, 1, 1, 2]
    async with EmbeddedStore(tmp_path / "again") as store:
        graph = Graph(store)
        done = await replay(audit, snapshots, graph)
        assert (done.writes, done.refused) == (5, {})
        assert await one(graph, "MATCH ()-[r:Loves]->() RETURN count(r)") == 1
        await graph.close()
    audit.close()


async def test_a_label_by_parameter_that_is_a_type_is_left_out_as_told(another: Graph) -> None:
    await another.write(LINKED)
    [record] = (await another.write("CREATE (n:$($names)) RETURN labels(n) AS l", {"names": ["Loves"]})).records
    assert record == {"l": []}
    assert any("CREATE leaves out one that is a relationship type" in each for each in another.dialect.writing)


@pytest.mark.parametrize("where", ["on a node", "in an index"])
async def test_a_snapshot_with_a_name_that_is_both_is_refused_before_anything_is_changed(
    another: Graph, tmp_path: Path, where: str
) -> None:
    writing = _Writing(tmp_path / "both")
    writing.add({"nakari": "graph", "format": FORMAT})
    writing.add({"n": ["1", ["Cat", "Loves"] if where == "on a node" else ["Cat"], {}]})
    writing.add({"r": ["Loves", "1", "1", {}]}, {"r": ["Knows", "1", "1", {}]})
    if where == "in an index":
        writing.add({"i": f"CREATE VECTOR INDEX near IF NOT EXISTS FOR (n:`Loves`) ON (n.`v`) {VECTORS}"})
    writing.end(1, 2)
    writing.close()
    with pytest.raises(GraphRefused, match=r"both has Loves both as a label and as .*: rename one of the two"):
        await load_dump(tmp_path / "both", another)
    assert await one(another, "MATCH (n) RETURN count(n)") == 0
    assert (await another.read("SHOW INDEXES")).records == []


async def test_only_the_store_s_own_words_about_a_name_are_read() -> None:
    taken = refused("Type 'it's' is not a vertex type")
    assert isinstance(taken, NameTaken)
    assert taken.name == "it's"
    assert "A is a label here" in str(refused("Type 'A' is not an edge type (found a vertex type with the same name)"))
    assert type(refused("the text: Type 'A' is not a vertex type")) is GraphRefused
