"""The four memory tools as the model meets them, on the real store of the box."""

import json
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import pytest_asyncio

from agent.event import SELF_CREATED, USER_TEXT, Event
from agent.record import Recorder, step
from agent.tools.memory import memory_tools
from agent.tools.tool import Call, Tool, run_tool
from memory.graph import cypher
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.name_usage import SCHEMA as ASKED
from memory.graph.name_usage import NameUsage
from memory.graph.store import Neo4jServer
from memory.history.audit import AuditLog
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.state import journal
from memory.state.database import Database
from memory.vectors.embedding import Embedder, Handles, NoEmbedder, OpenAiEmbedder
from memory.vectors.embedding_local import LocalEmbedder
from tests.memory.embeddings_server import embeddings_server
from tests.memory.graph_looks import SESSION
from tests.memory.onnx_model import write_model

pytest_plugins = ["tests.memory.graph_fixtures"]

OWN = Event(SELF_CREATED, "x", source="self")


def tools_of(
    graph: Graph, folder: Path, embedder: Embedder | None = None, usage: NameUsage | None = None
) -> list[Tool]:
    """Return the tools over a graph whose audit log is in a folder."""
    audit = AuditLog(folder / "audit")
    writer = Writer(graph, audit, Snapshots(folder / "snapshots", audit))
    return memory_tools(writer, Handles(embedder or NoEmbedder()), usage)


class RunState:
    """Calls tools as the loop does: with JSON text, for an event."""

    def __init__(
        self, graph: Graph, folder: Path, embedder: Embedder | None = None, usage: NameUsage | None = None
    ) -> None:
        self.tools = {tool.name: tool for tool in tools_of(graph, folder, embedder, usage)}

    async def text(self, name: str, said: str = "", **arguments: Any) -> str:
        """Return the observation."""
        return await run_tool(self.tools[name], json.dumps(arguments), Call("1", Event(USER_TEXT, said)))

    async def value(self, name: str, **arguments: Any) -> Any:
        """Return the observation as JSON."""
        return json.loads(await self.text(name, **arguments))


@pytest_asyncio.fixture(loop_scope="session")
async def desk(embedded: Graph, tmp_path: Path) -> AsyncIterator[RunState]:
    yield RunState(embedded, tmp_path)


def described(tool: Tool) -> str:
    return f"{tool.spec.description} {json.dumps(dict(tool.spec.parameters))}"


@pytest.mark.shows("C6")
def test_there_are_four_and_no_more(tmp_path: Path) -> None:
    tools = tools_of(Graph(EmbeddedStore(tmp_path)), tmp_path)
    assert [tool.name for tool in tools] == ["memory_query", "memory_write", "memory_schema", "embedding"]
    assert [[*tool.arguments.model_fields] for tool in tools] == [
        ["cypher", "params"],
        ["cypher", "params"],
        [],
        ["text"],
    ]
    assert [tool.effect for tool in tools] == ["pure", "irreversible", "pure", "pure"], "a write alone runs on"


@pytest.mark.shows("C1", "C18")
def test_descriptions_tell_the_truth_of_the_store_in_use(tmp_path: Path) -> None:
    own = {t.name: described(t) for t in tools_of(Graph(EmbeddedStore(tmp_path)), tmp_path)}
    server = {t.name: described(t) for t in tools_of(Graph(Neo4jServer("bolt://127.0.0.1")), tmp_path)}
    assert "never both" in own["memory_write"]
    assert "nodes of one label" in own["memory_write"]
    assert "CREATE VECTOR INDEX" in server["memory_write"]
    for text in (*own.values(), *server.values()):
        assert "{name}" not in text
        assert "{{" not in text
    assert "params" in own["memory_query"]


@pytest.mark.shows("C4", "C17")
@SESSION
async def test_it_writes_and_reads_back(desk: RunState) -> None:
    written = await desk.value(
        "memory_write",
        cypher="CREATE (a:`人` {名字: $n, at: date($d)})-[:`喜欢`]->(b:B {x: 1}) RETURN a.名字 AS n",
        params={"n": "小明", "d": "2026-01-02"},
    )
    assert written["records"] == [{"n": "小明"}]
    assert written["stats"] == {
        "nodesCreated": 2,
        "nodesDeleted": 0,
        "relationshipsCreated": 1,
        "relationshipsDeleted": 0,
        "propertiesSet": 3,
        "labelsAdded": 2,
        "labelsRemoved": 0,
        "indexesAdded": 0,
        "indexesRemoved": 0,
        "constraintsAdded": 0,
        "constraintsRemoved": 0,
    }
    found = await desk.value("memory_query", cypher="MATCH (a)-[r]->(b) RETURN a.名字 AS n, type(r) AS t, a.at AS at")
    assert found == {"records": [{"n": "小明", "t": "喜欢", "at": "2026-01-02"}]}
    schema = await desk.value("memory_schema")
    assert schema.pop("hygiene")["orphans"] == 0
    assert schema == {
        "labels": {"B": 1, "人": 1},
        "relationshipTypes": {"喜欢": 1},
        "propertyKeys": {"at": 1, "x": 1, "名字": 1},
        "vectorIndexes": [],
    }


@pytest.mark.shows("C5")
@SESSION
async def test_the_schema_tells_how_tidy_the_memory_is(desk: RunState) -> None:
    rows = [{"x": 1, "v": [1.0]}, {"x": 1, "v": [2.0]}, {"x": 2, "v": [1.0]}]
    await desk.value("memory_write", cypher="UNWIND $rows AS r CREATE (n:Cup) SET n = r", params={"rows": rows})
    await desk.value("memory_write", cypher="CREATE (:cups {y: 1})-[:KNOWS]->(:Lonely {z: 1}), (:`茶`), (:`茶`)")
    await desk.value("memory_query", cypher="MATCH (c:Cup) RETURN c.x AS x")
    await desk.value("memory_query", cypher="MATCH (n) WHERE n.y = 1 MATCH (n)-->(m) RETURN m")
    hygiene = (await desk.value("memory_schema"))["hygiene"]
    assert hygiene.pop("askedSince")
    assert hygiene == {
        "nodes": 7,
        "orphans": 5,
        "duplicates": 1,
        "alike": ["Cup ~ cups"],
        "usedOnce": ["Lonely", "cups", "KNOWS"],
        "neverAskedFor": ["KNOWS", "cups", "v", "茶"],
        "undated": "7 of 7 nodes, 1 of 1 relationships",
        "unsourced": "7 of 7 nodes, 1 of 1 relationships",
    }


@pytest.mark.shows("C11")
@SESSION
async def test_a_statement_is_tokenized_once(desk: RunState) -> None:
    """Guard, clock, audit log, indexes and names all look at the one that was parsed."""
    calls = set[FrameType]()

    def see(frame: FrameType, _: str, __: object) -> None:
        if frame.f_code is cypher._tokens.__code__:
            calls.add(frame)

    sys.setprofile(see)
    try:
        await desk.value("memory_write", cypher="CREATE (:Cup {at: datetime(), t: $t, i: rand()})", params={"t": "x"})
        written = len(calls)
        await desk.value("memory_query", cypher="MATCH (c:Cup) RETURN c")
    finally:
        sys.setprofile(None)
    assert (written, len(calls) - written) == (1, 1)


@pytest.mark.shows("C5")
@SESSION
async def test_what_was_asked_for_before_a_restart_was_asked_for(embedded: Graph, tmp_path: Path) -> None:
    database = Database(tmp_path / "state.sqlite")
    await database.open(ASKED)
    for _ in range(2):
        usage = NameUsage(database)
        desk = RunState(embedded, tmp_path, usage=usage)
        if not (await desk.value("memory_schema"))["labels"]:
            await desk.value("memory_write", cypher="CREATE (:Cup), (:Dust)")
            await desk.value("memory_query", cypher="MATCH (c:Cup) RETURN count(c) AS n")
        assert (await desk.value("memory_schema"))["hygiene"]["neverAskedFor"] == ["Dust"]
        await usage.save()
    await database.close()


@pytest.mark.shows("C5", "G15")
@SESSION
async def test_what_has_no_date_or_no_event_that_there_was_is_told(embedded: Graph, tmp_path: Path) -> None:
    database = Database(tmp_path / "state.sqlite")
    await database.open(journal.SCHEMA)
    heard = Event(USER_TEXT, "Anna moved to Oslo.")
    await Recorder(journal.Journal(database))((step("runs.new", heard, "run"),))
    audit = AuditLog(tmp_path / "audit")
    writer = Writer(embedded, audit, Snapshots(tmp_path / "snapshots", audit))
    events = partial(journal.known_events, database)
    tools = {tool.name: tool for tool in memory_tools(writer, Handles(NoEmbedder()), None, events)}
    for text, event in (("(:A {at: $said_at, from: $event})-[:R]->(:B)", heard), ("(:C {from: $event})", OWN)):
        said = json.dumps({"cypher": f"CREATE {text}"})
        assert "stats" in await run_tool(tools["memory_write"], said, Call("1", event))
    hygiene = json.loads(await run_tool(tools["memory_schema"], "{}", Call("2", heard)))["hygiene"]
    assert hygiene["undated"] == "2 of 3 nodes, 1 of 1 relationships"
    assert hygiene["unsourced"] == "2 of 3 nodes, 1 of 1 relationships", "an id of no event is none"
    audit.close()
    await database.close()


@pytest.mark.shows("C5", "D4")
@SESSION
async def test_a_sprawling_schema_is_told_within_a_budget(desk: RunState) -> None:
    keys = {f"a property with a long name number {number:04}": 1 for number in range(2000)}
    await desk.value("memory_write", cypher="CREATE (n:A) SET n = $keys", params={"keys": keys})
    text = await desk.text("memory_schema")
    assert len(text) < 12_000
    assert "1850 rarer ones" in text
    assert "more" in json.loads(text)["hygiene"]["neverAskedFor"][-1]


@pytest.mark.shows("C10")
@SESSION
async def test_it_may_delete_everything(desk: RunState) -> None:
    await desk.value("memory_write", cypher="UNWIND range(1, 50) AS x CREATE (:A {x: x})-[:R]->(:B)")
    gone = await desk.value("memory_write", cypher="MATCH (n) DETACH DELETE n")
    assert (gone["stats"]["nodesDeleted"], gone["stats"]["relationshipsDeleted"]) == (100, 50)


@pytest.mark.shows("C3")
@SESSION
async def test_a_write_through_the_query_is_an_error_that_names_the_other_tool(desk: RunState) -> None:
    observation = await desk.text("memory_query", cypher="CREATE (:A)")
    assert observation.startswith("error: memory_query only reads")
    assert "memory_write" in observation
    assert (await desk.value("memory_query", cypher="MATCH (n) RETURN count(n) AS n"))["records"] == [{"n": 0}]


@pytest.mark.shows("C3")
@SESSION
async def test_what_was_left_out_is_told(desk: RunState) -> None:
    some = await desk.value("memory_query", cypher="UNWIND range(1, 250) AS x RETURN x")
    assert (len(some["records"]), some["truncated"][:12]) == (200, "50 more rows")
    many = await desk.value("memory_query", cypher="UNWIND range(1, 9999) AS x RETURN x")
    assert many["truncated"].startswith("at least 1000 more rows")


@SESSION
async def test_an_answer_at_the_limit_is_still_whole_json(desk: RunState) -> None:
    text = "文" * 3000
    answer = await desk.value(
        "memory_query", cypher="UNWIND range(1, 99) AS x RETURN $text AS t", params={"text": text}
    )
    assert [row["t"] for row in answer["records"]] == [text] * 3


@pytest.mark.shows("C7")
@SESSION
async def test_words_of_the_event_belong_into_the_parameters(desk: RunState) -> None:
    said = "我今天心情不太好"
    for name in ("memory_query", "memory_write"):
        observation = await desk.text(name, said, cypher="MERGE (a:A {x: '今天心情不太好'}) RETURN a")
        assert "MERGE (a:A {x: $text_1}) RETURN a" in observation
        assert '{"text_1": "今天心情不太好"}' in observation
    assert (await desk.value("memory_query", cypher="MATCH (n) RETURN count(n) AS n"))["records"] == [{"n": 0}]
    passed = await desk.text("memory_write", said, cypher="MERGE (a:A {x: $x})", params={"x": "今天心情不太好"})
    assert json.loads(passed)["stats"]["nodesCreated"] == 1


@SESSION
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"cypher": "MATCH (n RETURN n"}, "error: Syntax error"),
        ({"cypher": "RETURN $x"}, "error: Expected parameter(s): x"),
        ({"cypher": "RETURN 1; RETURN 2"}, "error: one statement a call"),
        ({"cypher": "RETURN 'open"}, "error: the ' at character 8"),
        ({"cypher": ""}, "error: the statement is empty"),
        ({"cypher": "RETURN $x", "params": {"x": 2**70}}, "error: a value in params cannot be stored"),
        ({"cypher": "RETURN $vector_0123456789ab"}, "error: vector_0123456789ab is not kept any more"),
        ({"cypher": "RETURN 1", "params": [1]}, "error: memory_query was called with wrong arguments"),
        ({"cypher": "RETURN 1", "params": "x: 1"}, "error: memory_query was called with wrong arguments"),
        ({}, "error: memory_query was called with wrong arguments"),
    ],
)
async def test_a_mistake_is_told_in_words_that_mend_it(desk: RunState, arguments: dict[str, Any], told: str) -> None:
    assert (await desk.text("memory_query", **arguments)).startswith(told)


@SESSION
@pytest.mark.parametrize("params", [{"x": 1}, '{"x": 1}'])
async def test_params_may_come_as_the_text_of_an_object(desk: RunState, params: object) -> None:
    assert await desk.value("memory_query", cypher="RETURN $x AS x", params=params) == {"records": [{"x": 1}]}


@SESSION
@pytest.mark.parametrize("params", [None, {}, "{}", ""])
async def test_no_params_may_be_said_in_any_way(desk: RunState, params: object) -> None:
    assert await desk.value("memory_query", cypher="RETURN 1 AS x", params=params) == {"records": [{"x": 1}]}


@pytest.mark.shows("C8", "C9")
@SESSION
async def test_a_vector_is_stored_and_compared_by_its_handle_alone(embedded: Graph, tmp_path: Path) -> None:
    async with embeddings_server() as server:
        embedder = OpenAiEmbedder(server.url, "letters")
        desk = RunState(embedded, tmp_path, embedder)
        for text in ("green tea", "a black dog", "tea, green"):
            handle = (await desk.value("embedding", text=text))["handle"]
            stored = await desk.text(
                "memory_write", cypher=f"CREATE (a:A {{t: $t, v: ${handle}}}) RETURN a", params={"t": text}
            )
            assert len(stored) < 500
        asked = (await desk.value("embedding", text="green tea"))["handle"]
        found = await desk.value(
            "memory_query",
            cypher="MATCH (a:A) RETURN a.t AS t ORDER BY vector.similarity.cosine(a.v, $v) DESC LIMIT 2",
            params={"v": asked},
        )
        assert {row["t"] for row in found["records"]} == {"green tea", "tea, green"}
        assert [asked["input"] for asked in server.asked] == [["green tea"], ["a black dog"], ["tea, green"]]
        await embedder.close()


@pytest.mark.shows("C8", "C9")
@SESSION
async def test_a_model_of_this_machine_makes_what_is_stored_and_compared(embedded: Graph, tmp_path: Path) -> None:
    embedder = LocalEmbedder(write_model(tmp_path / "tiny"))
    desk = RunState(embedded, tmp_path, embedder)
    for text in ("tea", "dog", "tea coffee"):
        handle = (await desk.value("embedding", text=text))["handle"]
        await desk.value("memory_write", cypher=f"CREATE (a:A {{t: $t, v: ${handle}}})", params={"t": text})
    asked = (await desk.value("embedding", text="coffee"))["handle"]
    found = await desk.value(
        "memory_query", cypher=f"MATCH (a:A) RETURN a.t AS t ORDER BY vector.similarity.cosine(a.v, ${asked}) DESC"
    )
    assert [row["t"] for row in found["records"]] == ["tea coffee", "tea", "dog"]
    await embedder.close()


@SESSION
async def test_without_a_model_embedding_says_so_and_the_rest_works(desk: RunState) -> None:
    assert (await desk.text("embedding", text="x")).startswith("error: there is no embedding model here")
    assert (await desk.value("memory_query", cypher="RETURN 1 AS x"))["records"] == [{"x": 1}]


@pytest.mark.shows("C15")
async def test_while_the_store_is_down_the_tools_say_so(tmp_path: Path) -> None:
    desk = RunState(Graph(EmbeddedStore(tmp_path)), tmp_path)
    for name, arguments in (
        ("memory_query", {"cypher": "RETURN 1"}),
        ("memory_write", {"cypher": "CREATE (:A)"}),
        ("memory_schema", {}),
    ):
        observation = await desk.text(name, **arguments)
        assert observation.startswith("error: the memory is not available now: it was not started")
