"""Statements as models write them, on the real stores: what they return and what they count."""

from typing import Any

import pytest

from memory.graph.graph import Graph
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C2", "C4", "C18")]

PEOPLE = [
    {"id": 1, "name": "Ann", "age": 30, "born": "1995-01-02", "tags": ["x", "y"]},
    {"id": 2, "name": "Bob", "age": 40, "born": "1985-03-04", "tags": ["y"]},
    {"id": 3, "name": "小明", "age": 20, "born": "2005-05-06", "tags": []},
    {"id": 4, "name": "Dee", "age": None, "born": "1999-01-01", "tags": ["z"]},
]


async def people(graph: Graph) -> None:
    await graph.write("UNWIND $rows AS row CREATE (n:A) SET n = row, n.born = date(row.born)", {"rows": PEOPLE})
    await graph.write(
        "UNWIND $links AS l MATCH (a:A {id: l[0]}), (b:A {id: l[1]}) CREATE (a)-[:L {w: l[2]}]->(b)",
        {"links": [[1, 2, 1], [2, 3, 2], [1, 4, 3]]},
    )


READS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "MATCH (a:A)-[:L*1..3]->(b) RETURN DISTINCT b.id AS v ORDER BY v": ({}, [2, 3, 4]),
    "MATCH p=(a:A {id: 1})-[:L*]->(b:A {id: 3}) RETURN [x IN nodes(p) | x.id] AS v": ({}, [[1, 2, 3]]),
    "MATCH p=shortestPath((a:A {id: 1})-[:L*..5]->(b:A {id: 3})) RETURN length(p) AS v": ({}, [2]),
    "MATCH (a:A {id: 1}) (()-[:L]->()){1,3} (b:A) RETURN count(b) AS v": ({}, [3]),
    "OPTIONAL MATCH (x:Nothing) RETURN x AS v": ({}, [None]),
    "MATCH (a:A) OPTIONAL MATCH (a)-[:L]->(b) WITH a.id AS i, collect(b.id) AS v RETURN size(v) AS v ORDER BY i": (
        {},
        [2, 1, 0, 0],
    ),
    "MATCH (a:A) RETURN CASE WHEN a.age > $n THEN 1 WHEN a.age IS NULL THEN 2 ELSE 3 END AS v ORDER BY a.id": (
        {"n": 25},
        [1, 1, 3, 2],
    ),
    "MATCH (a:A) WHERE EXISTS { (a)-[:L]->() } RETURN a.id AS v ORDER BY v": ({}, [1, 2]),
    "MATCH (a:A) RETURN COUNT { (a)-[:L]->() } AS v ORDER BY a.id": ({}, [2, 1, 0, 0]),
    "MATCH (a:A {id: 1}) RETURN COLLECT { MATCH (a)-[:L]->(b) RETURN b.id ORDER BY b.id } AS v": ({}, [[2, 4]]),
    "MATCH (a:A {id: 2}) RETURN [(a)-[:L]->(b) | b.name] AS v": ({}, [["小明"]]),
    "MATCH (a:A) WHERE a.name =~ $re RETURN a.id AS v": ({"re": "(?i)a.*"}, [1]),
    "MATCH (a:A) WHERE a.name CONTAINS $x OR a.name ENDS WITH $y RETURN a.id AS v ORDER BY v": (
        {"x": "明", "y": "e"},
        [3, 4],
    ),
    "MATCH (a:A) WHERE toLower(a.name) CONTAINS toLower($x) RETURN a.id AS v": ({"x": "ANN"}, [1]),
    "MATCH (a:A) WHERE any(t IN a.tags WHERE t IN $t) RETURN a.id AS v ORDER BY v": ({"t": ["y"]}, [1, 2]),
    "MATCH (a:A) WHERE $x IN a.tags AND NOT a.id IN $ids RETURN a.id AS v": ({"x": "y", "ids": [1]}, [2]),
    "MATCH (a:A) RETURN [avg(a.age), sum(a.age), min(a.age), count(a.age)] AS v": ({}, [[30.0, 90, 20, 3]]),
    "MATCH (a:A) WHERE a.age IS NOT NULL RETURN a.id AS v ORDER BY a.age DESC SKIP 1 LIMIT $n": ({"n": 2}, [1, 3]),
    "MATCH (a:A) WITH a.age > 25 AS old, collect(a.name) AS names WHERE old RETURN size(names) AS v": ({}, [2]),
    "MATCH (a:A) WHERE a.born > date($d) RETURN count(a) AS v": ({"d": "1990-01-01"}, [3]),
    "MATCH (a:A {id: 1}) RETURN duration.between(a.born, date($d)).years AS v": ({"d": "2026-01-03"}, [31]),
    "RETURN toString(date($d) + duration('P1M')) AS v": ({"d": "2026-01-31"}, ["2026-02-28"]),
    "RETURN duration.inDays(date('2026-01-01'), date('2026-03-02')).days AS v": ({}, [60]),
    "RETURN datetime({epochMillis: $ms}).year AS v": ({"ms": 0}, [1970]),
    "RETURN toString(date.truncate('month', date('2026-05-17'))) AS v": ({}, ["2026-05-01"]),
    "RETURN round(point.distance(point({x: 0, y: 0}), point({x: 3, y: 4}))) AS v": ({}, [5.0]),
    "UNWIND range(1, 5) AS x WITH x WHERE x % 2 = 0 RETURN reduce(s = 0, y IN collect(x) | s + y) AS v": ({}, [6]),
    "RETURN [split('a,b', ','), substring('hello', 1, 2), size('小明'), left('abc', 2)] AS v": (
        {},
        [[["a", "b"], "el", 2, "ab"]],
    ),
    "RETURN [7 / 2, 7 % 3, 2 ^ 3, coalesce(null, 1), head([4, 5]), toInteger('5')] AS v": ({}, [[3, 1, 8.0, 1, 4, 5]]),
    "MATCH (a:A {id: 1}) RETURN a {.name, .age, k: 1} AS v": ({}, [{"name": "Ann", "age": 30, "k": 1}]),
    "MATCH (a:A)-[r]->(b) RETURN [type(r), startNode(r).id, r.w] AS v ORDER BY r.w": (
        {},
        [["L", 1, 1], ["L", 2, 2], ["L", 1, 3]],
    ),
    "MATCH (a:A|B) RETURN count(a) AS v": ({}, [4]),
    "MATCH (a:A&!B WHERE a.age > 25) RETURN count(a) AS v": ({}, [2]),
    "MATCH (a:A)-[r:L|M WHERE r.w > 1]->(b) RETURN count(r) AS v": ({}, [2]),
    "MATCH (a:A {id: 1}) RETURN a.id AS v UNION MATCH (a:A {id: 2}) RETURN a.id AS v": ({}, [1, 2]),
    "MATCH (a:A) CALL (a) { MATCH (a)-[:L]->(b) RETURN count(b) AS c } RETURN c AS v ORDER BY a.id": ({}, [2, 1, 0, 0]),
    "MATCH (a:A) CALL { WITH a MATCH (a)-[:L]->(b) RETURN count(b) AS c } RETURN c AS v ORDER BY a.id": (
        {},
        [2, 1, 0, 0],
    ),
    "MATCH (a:A) RETURN count(DISTINCT a.age) AS v": ({}, [3]),
    "RETURN [x IN range(1, 3) WHERE x > 1 | x * 2] + [1, 2, 3][0..2] AS v": ({}, [[4, 6, 1, 2]]),
    "MATCH (a:A) WHERE a.name = $name RETURN a.id AS v": ({"name": "Robert'); DROP TABLE x;--"}, []),
    "MATCH (a)-[r]-(b) WHERE a.id = 1 RETURN b.id AS v ORDER BY v": ({}, [2, 4]),
    "MATCH (a:A {id: 1}) RETURN valueType(a.age) STARTS WITH 'INTEGER' AS v": ({}, [True]),
}


@pytest.mark.parametrize("cypher", READS)
async def test_what_models_ask(graph: Graph, cypher: str) -> None:
    await people(graph)
    params, expected = READS[cypher]
    assert [row["v"] for row in (await graph.read(cypher, params)).records] == expected


WRITES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "CREATE (:`中文 标签` {`属性 一`: $v})-[:`关系 类型`]->(:`另一`)": (
        {"v": "值"},
        {"nodesCreated": 2, "relationshipsCreated": 1, "propertiesSet": 1, "labelsAdded": 2},
    ),
    "MERGE (n:A {id: $id}) ON CREATE SET n.made = true ON MATCH SET n.seen = coalesce(n.seen, 0) + 1": (
        {"id": 1},
        {"propertiesSet": 1},
    ),
    "MERGE (n:A {id: $id}) ON CREATE SET n.made = true": (
        {"id": 9},
        {"nodesCreated": 1, "propertiesSet": 2, "labelsAdded": 1},
    ),
    "UNWIND $rows AS row MERGE (n:B {id: row.id}) SET n += row": (
        {"rows": [{"id": 1, "p": 1}, {"id": 2, "p": 2}]},
        {"nodesCreated": 2, "propertiesSet": 6, "labelsAdded": 2},
    ),
    "MATCH (a:A {id: 1}) SET a.x = $x, a:Extra": ({"x": 1}, {"propertiesSet": 1, "labelsAdded": 1}),
    "MATCH (a:A {id: 1}) REMOVE a.age, a:A": ({}, {"propertiesSet": 1, "labelsRemoved": 1}),
    "MATCH (a:A {id: 1})-[r:L]->() DELETE r": ({}, {"relationshipsDeleted": 2}),
    "MATCH (a:A {id: 1}) DETACH DELETE a": ({}, {"nodesDeleted": 1, "relationshipsDeleted": 2}),
    "MATCH (n) DETACH DELETE n": ({}, {"nodesDeleted": 4, "relationshipsDeleted": 3}),
    "MATCH (a:A) WHERE a.age > 25 FOREACH (x IN [1] | SET a.old = true)": ({}, {"propertiesSet": 2}),
    "MATCH (a:A {id: 3}), (b:A {id: 4}) MERGE (a)-[r:M]->(b) ON CREATE SET r.n = 1": (
        {},
        {"relationshipsCreated": 1, "propertiesSet": 1},
    ),
    "MATCH (a:A) CALL (a) { CREATE (a)-[:H]->(:HH) }": (
        {},
        {"nodesCreated": 4, "relationshipsCreated": 4, "labelsAdded": 4},
    ),
    "MATCH (a:A {id: 1})-[r:L {w: 1}]->(b) CREATE (a)-[n:N]->(b) SET n = properties(r) DELETE r": (
        {},
        {"relationshipsCreated": 1, "relationshipsDeleted": 1, "propertiesSet": 1},
    ),
    "MERGE (a:A {id: 1}) MERGE (b:A {id: 2}) MERGE (a)-[:L]->(b)": ({}, {}),
    "MATCH (n:Nothing) SET n.x = 1": ({}, {}),
    "CREATE INDEX some_index IF NOT EXISTS FOR (n:A) ON (n.tags)": ({}, {"indexesAdded": 1}),
    "CREATE CONSTRAINT some_rule IF NOT EXISTS FOR (n:Unique) REQUIRE n.key IS UNIQUE": ({}, {"constraintsAdded": 1}),
}


@pytest.mark.parametrize("cypher", WRITES)
async def test_what_models_write_is_counted(graph: Graph, cypher: str) -> None:
    await people(graph)
    params, expected = WRITES[cypher]
    written = await graph.write(cypher, params)
    assert {name: count for name, count in written.stats.items() if count} == expected
    assert len(written.stats) == 11


@pytest.mark.shows("C17")
async def test_one_statement_matches_creates_and_links(graph: Graph) -> None:
    """The example of seeds/004, its names and all."""
    await graph.write("CREATE (:User {id: $u}), (:Conversation {id: $c})", {"u": "user-001", "c": "conv-20260201"})
    written = await graph.write(
        """MATCH (u:User {id: $userId})
           CREATE (c:Conversation {id: $convId, timestamp: datetime(), summary: $summary, emotional_tone: $tone})
           CREATE (u)-[:HAD_CONVERSATION]->(c)
           WITH c
           MATCH (prev:Conversation {id: $prevConvId})
           CREATE (c)-[:RELATED_TO {reason: $reason}]->(prev)""",
        {
            "userId": "user-001",
            "convId": "conv-20260207",
            "prevConvId": "conv-20260201",
            "summary": "用户再次表达低落情绪",
            "tone": "negative",
            "reason": "相似的情绪状态",
        },
    )
    assert (written.stats["nodesCreated"], written.stats["relationshipsCreated"]) == (1, 2)
    found = await graph.read("MATCH (:User)-->(c)-[r]->(p) RETURN c.summary AS s, r.reason AS r, p.id AS p")
    assert found.records == [{"s": "用户再次表达低落情绪", "r": "相似的情绪状态", "p": "conv-20260201"}]


async def test_a_failed_statement_leaves_nothing(graph: Graph) -> None:
    with pytest.raises(Exception, match="zero"):
        await graph.write("UNWIND range(1, 5000) AS i CREATE (:A {i: 1 / (3000 - i)})")
    assert (await graph.read("MATCH (n) RETURN count(n) AS n")).records == [{"n": 0}]


async def test_what_is_written_is_returned_and_read_back(graph: Graph) -> None:
    written = await graph.write(
        "CREATE (a:`人` {名字: $n}) RETURN a.名字 AS n", {"n": "龙\u200d\U0001f409 'x' \"y\" \\ `z`"}
    )
    assert written.records == (await graph.read("MATCH (a:`人`) RETURN a.名字 AS n")).records
