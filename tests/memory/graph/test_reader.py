"""Read-only is read-only, whatever the text: a corpus of statements that would write, on the real stores."""

import contextlib

import pytest

from memory.errors import GraphRefused, WriteNotAllowed
from memory.graph.graph import Graph
from tests.memory.graph_looks import SESSION, fingerprint

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C3")]

WRITES = [
    "CREATE (n:Hack)",
    "cReAtE (n:Hack)",
    "CREATE(n:Hack)",
    "CREATE /* nothing */ (n:Hack)",
    "// MATCH (n) RETURN n\nCREATE (n:Hack)",
    "/* MATCH */ CREATE (n:Hack) RETURN n",
    "CREATE\u00a0(n:Hack)",
    "CREATE\u2003(n:Hack)",
    "\n\t CREATE\r\n(n:Hack)",
    "MATCH (a:A) CREATE (a)-[:HACKED]->(a)",
    "MATCH (a:A), (b:B) CREATE (a)-[:R]->(b)",
    "MERGE (n:Hack)",
    "MERGE (a:A {x: 1}) ON MATCH SET a.x = 2",
    "MERGE (a:A {x: 1}) SET a.hacked = true",
    "MATCH (a:A) MERGE (a)-[:R2]->(:B)",
    "MATCH (a:A) SET a.x = 2",
    "MATCH (a:A) SET a.x = 2 RETURN a",
    "MATCH (a:A) SET a += {x: 3}",
    "MATCH (a:A) SET a = {}",
    "MATCH (a:A) SET a:B",
    "MATCH ()-[r:R]->() SET r.w = 9",
    "MATCH (a:A) REMOVE a.x",
    "MATCH (a:A) REMOVE a:A",
    "MATCH ()-[r]->() DELETE r",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n:Nothing) DELETE n",
    "MATCH (n:Nothing) SET n.x = 1",
    "MATCH (a:A) WITH a LIMIT 1 DETACH DELETE a",
    "UNWIND [1, 2] AS x CREATE (:Hack {x: x})",
    "UNWIND range(1, 1000) AS x CREATE (:A {x: x}) RETURN x",
    "MATCH (a:A) FOREACH (i IN [1] | SET a.x = i)",
    "FOREACH (i IN [1, 2] | CREATE (:Hack))",
    "MATCH (a:A) FOREACH (i IN [1] | FOREACH (j IN [1] | DETACH DELETE a))",
    "CALL { CREATE (n:Hack) RETURN n } RETURN n",
    "CALL { MATCH (n) RETURN n UNION CREATE (n:Hack) RETURN n } RETURN n",
    "MATCH (a:A) CALL (a) { SET a.x = 5 } RETURN a",
    "MATCH (a:A) CALL { WITH a CALL { WITH a SET a.x = 5 } } RETURN a",
    "MATCH (a:A) RETURN a UNION CREATE (a:Hack) RETURN a",
    "OPTIONAL MATCH (n:Nothing) CREATE (:Hack)",
    "WITH 1 AS x CREATE (:Hack {x: x})",
    "MATCH (a:A) WITH a, 'RETURN' AS r SET a.x = r",
    "RETURN 'CREATE' AS x UNION CREATE (n:Hack) RETURN 'x' AS x",
    "CREATE (`n`:`Hack`)",
    "CREATE (n:Hack {`MATCH (n) RETURN n`: 1})",
    "PROFILE CREATE (n:Hack)",
    "EXPLAIN CREATE (n:Hack)",
]

SCHEMA_WRITES = [
    "CREATE INDEX hacked IF NOT EXISTS FOR (n:A) ON (n.y)",
    "CREATE CONSTRAINT hacked IF NOT EXISTS FOR (n:A) REQUIRE n.y IS UNIQUE",
    "DROP INDEX `{kept}`",
    "DROP INDEX `{kept}` IF EXISTS",
]

HOSTILE = [
    "MATCH (n) RETURN n; CREATE (:Hack)",
    "MATCH (n) RETURN n;\nMATCH (n) DETACH DELETE n;",
    "; CREATE (:Hack)",
    "RETURN 1 /* ; */ ; /* */ CREATE (:Hack)",
    "\uff23\uff32\uff25\uff21\uff34\uff25 (n:Hack)",
    "CRE\u200dATE (n:Hack)",
    "\\u0043REATE (n:Hack)",
    "CREA\\u0054E (n:Hack)",
    "CYPHER runtime=slotted CREATE (n:Hack)",
    "USE graph CREATE (:Hack)",
    "CREATE DATABASE hack",
    "CREATE USER hack SET PASSWORD 'hackhackhack'",
    "ALTER USER reader SET PASSWORD 'hackhackhack'",
    "GRANT ROLE admin TO reader",
    "DROP DATABASE graph",
    "INSERT INTO A SET x = 1",
    "UPDATE A SET x = 1",
    "DELETE FROM A",
    "CREATE VERTEX A SET x = 1",
    "ALTER DATABASE `x` 1",
    "CALL db.createLabel('Hack')",
    "CALL db.createProperty('hack')",
    "CALL db.create.setNodeVectorProperty(null, 'x', [1.0])",
    "MATCH (a:A) CALL db.create.setNodeVectorProperty(a, 'x', [1.0]) RETURN a",
    "CALL apoc.create.node(['Hack'], {})",
    "CALL apoc.merge.node(['Hack'], {x: 1})",
    "CALL merge.node(['Hack'], {x: 1}, {}, {})",
    "MATCH (a:A), (b:B) CALL merge.relationship(a, 'HACK', {}, {}, b) YIELD rel RETURN rel",
    "CALL apoc.cypher.runWrite('CREATE (:Hack)', {})",
    "CALL apoc.cypher.doIt('CREATE (:Hack)', {}) YIELD value RETURN value",
    "CALL apoc.periodic.iterate('MATCH (n) RETURN n', 'DETACH DELETE n', {})",
    "CALL apoc.export.json.all('/tmp/nakari-hack.json', {})",
    "CALL apoc.load.json('file:///etc/passwd')",
    "CALL sql('DELETE FROM A')",
    "CALL dbms.security.createUser('hack', 'hackhack', false)",
    "MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS",
    "MATCH (n) CALL { WITH n SET n.x = 7 } IN TRANSACTIONS OF 1 ROWS",
    "MATCH (n) CALL { WITH n SET n.x = 7 } IN 2 CONCURRENT TRANSACTIONS",
    "MATCH (n) CALL { WITH n SET n.x = 7 } IN /* */ TRANSACTIONS",
    "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l",
    "LOAD /**/ CSV FROM 'file:///etc/passwd' AS l RETURN l",
    "LOAD CSV WITH HEADERS FROM 'http://127.0.0.1:1/x' AS l CREATE (:Hack {l: l})",
    "MATCH (n) RETURN n LIMIT 'CREATE (:Hack)'",
    "",
    "   ",
    "// only a comment",
    "'",
    "`",
    "/*",
    "CREATE (n:Hack",
    "}{)(",
    "\x00",
    "RETURN " + "(" * 40 + "1" + ")" * 39,
]


async def keep_something(graph: Graph) -> str:
    await graph.write("CREATE (:A {x: 1})-[:R {w: 1}]->(:B {t: 'kept'})")
    return await fingerprint(graph)


async def let_through(graph: Graph, statements: list[str], refusal: type[GraphRefused]) -> list[str]:
    """Read with each statement; return those that were not refused as they must be, or that changed anything."""
    before, found = await fingerprint(graph), []
    for cypher in statements:
        try:
            await graph.read(cypher)
            was_refused = False
        except GraphRefused as error:
            was_refused = isinstance(error, refusal) and (refusal is GraphRefused or "memory_write" in str(error))
        if not was_refused or await fingerprint(graph) != before:
            found.append(cypher)
    return found


async def test_a_write_is_refused_and_named(graph: Graph) -> None:
    await keep_something(graph)
    assert await let_through(graph, WRITES, WriteNotAllowed) == []


async def test_a_change_of_indexes_is_refused_and_named(graph: Graph) -> None:
    await graph.write("CREATE INDEX kept IF NOT EXISTS FOR (n:B) ON (n.t)")
    [kept] = [index["name"] for index in (await graph.read("SHOW INDEXES")).records if index["properties"] == ["t"]]
    assert await let_through(graph, [cypher.format(kept=kept) for cypher in SCHEMA_WRITES], WriteNotAllowed) == []


async def test_a_hostile_statement_is_refused(graph: Graph) -> None:
    await keep_something(graph)
    assert await let_through(graph, HOSTILE, GraphRefused) == []


@pytest.mark.parametrize(
    "cypher", ["RETURN 'a\\u0027 CREATE (n:Hack) //'", "RETURN \"'\" + '; CREATE (:Hack)' AS `; CREATE (:Hack)` // ;"]
)
async def test_what_one_store_takes_for_a_text_harms_neither(graph: Graph, cypher: str) -> None:
    before = await keep_something(graph)
    with contextlib.suppress(GraphRefused):
        await graph.read(cypher)
    assert await fingerprint(graph) == before


OPENERS = ["'", '"', "'})", '"})', "\\'", "\\u0027", "*/", "\n", "`", "';"]
ATTACKS = [
    " MATCH (n) DETACH DELETE n //",
    " WITH 1 AS y CREATE (:Hack) /*",
    " OR 1=1 //",
    " RETURN 1 UNION MATCH (n) SET n.hacked = true //",
    "; CALL { MATCH (n) DELETE n } IN TRANSACTIONS; //",
]
CURIOUS = [
    "$value",
    "${jndi:ldap://127.0.0.1/x}",
    "{{7*7}}",
    "<Human_Input>ignore all</Human_Input>",
    "Robert'); DROP TABLE students;--",
    "\x00\x01\x1f\x7f",
    "\u2028\u2029\ufeff\u202e",
    "🐉" * 200,
    "a" * 5000,
]


@pytest.mark.shows("C7")
async def test_a_parameter_never_alters_structure(graph: Graph) -> None:
    await keep_something(graph)
    values = [opener + attack for opener in OPENERS for attack in ATTACKS] + CURIOUS
    assert len(values) > 50
    for value in values:
        written = await graph.write("MATCH (a:A) SET a.said = $value RETURN a.said AS said", {"value": value})
        assert written.records == [{"said": value}]
        assert {name: count for name, count in written.stats.items() if count} == {"propertiesSet": 1}
        found = await graph.read("MATCH (n) WHERE n.said = $value RETURN count(n) AS n", {"value": value})
        assert found.records == [{"n": 1}]
    assert (await graph.read("MATCH (n) RETURN count(n) AS n")).records == [{"n": 2}]
