"""Statements that change, as models write them, on the graph of `contract.people`."""

from typing import Final

from tests.memory.contract import Case

WRITES: Final = [
    Case(
        "names in any script",
        "CREATE (:`中文 标签` {`属性 一`: $v})-[:`关系 类型`]->(:`另一`)",
        {"v": "值"},
        stats={"nodesCreated": 2, "relationshipsCreated": 1, "propertiesSet": 1, "labelsAdded": 2},
    ),
    Case(
        "merge",
        "MERGE (n:A {id: $id}) ON CREATE SET n.made = true ON MATCH SET n.seen = coalesce(n.seen, 0) + 1",
        {"id": 1},
        stats={"propertiesSet": 1},
    ),
    Case(
        "merge",
        "MERGE (n:A {id: $id}) ON CREATE SET n.made = true",
        {"id": 9},
        stats={"nodesCreated": 1, "propertiesSet": 2, "labelsAdded": 1},
    ),
    Case(
        "merge",
        "UNWIND $rows AS row MERGE (n:B {id: row.id}) SET n += row",
        {"rows": [{"id": 1, "p": 1}, {"id": 2, "p": 2}]},
        stats={"nodesCreated": 2, "propertiesSet": 6, "labelsAdded": 2},
    ),
    Case(
        "setting and removing",
        "MATCH (a:A {id: 1}) SET a.x = $x, a:Extra",
        {"x": 1},
        stats={"propertiesSet": 1, "labelsAdded": 1},
    ),
    Case(
        "setting and removing", "MATCH (a:A {id: 1}) REMOVE a.age, a:A", stats={"propertiesSet": 1, "labelsRemoved": 1}
    ),
    Case("deleting", "MATCH (a:A {id: 1})-[r:L]->() DELETE r", stats={"relationshipsDeleted": 2}),
    Case("deleting", "MATCH (a:A {id: 1}) DETACH DELETE a", stats={"nodesDeleted": 1, "relationshipsDeleted": 2}),
    Case("deleting", "MATCH (n) DETACH DELETE n", stats={"nodesDeleted": 4, "relationshipsDeleted": 3}),
    Case(
        "setting and removing",
        "MATCH (a:A) WHERE a.age > 25 FOREACH (x IN [1] | SET a.old = true)",
        stats={"propertiesSet": 2},
    ),
    Case(
        "merge",
        "MATCH (a:A {id: 3}), (b:A {id: 4}) MERGE (a)-[r:M]->(b) ON CREATE SET r.n = 1",
        stats={"relationshipsCreated": 1, "propertiesSet": 1},
    ),
    Case(
        "creating",
        "MATCH (a:A) CALL (a) { CREATE (a)-[:H]->(:HH) }",
        stats={"nodesCreated": 4, "relationshipsCreated": 4, "labelsAdded": 4},
    ),
    Case(
        "deleting",
        "MATCH (a:A {id: 1})-[r:L {w: 1}]->(b) CREATE (a)-[n:N]->(b) SET n = properties(r) DELETE r",
        stats={"relationshipsCreated": 1, "relationshipsDeleted": 1, "propertiesSet": 1},
    ),
    Case("merge", "MERGE (a:A {id: 1}) MERGE (b:A {id: 2}) MERGE (a)-[:L]->(b)", stats={}),
    Case("setting and removing", "MATCH (n:Nothing) SET n.x = 1", stats={}),
    Case(
        "indexes and constraints",
        "CREATE INDEX some_index IF NOT EXISTS FOR (n:A) ON (n.tags)",
        stats={"indexesAdded": 1},
    ),
    Case(
        "indexes and constraints",
        "CREATE CONSTRAINT some_rule IF NOT EXISTS FOR (n:Unique) REQUIRE n.key IS UNIQUE",
        stats={"constraintsAdded": 1},
    ),
    Case(
        "names in any script",
        "CREATE (:`地点` {名称: $n, `人 口`: 1})-[:`位于` {自: $y}]->(:`国家` {名称: $c})",
        {"n": "上海", "y": 1292, "c": "中国"},
        stats={"nodesCreated": 2, "relationshipsCreated": 1, "propertiesSet": 4, "labelsAdded": 2},
    ),
    Case(
        "names in any script",
        "MERGE (n:`记忆` {标识: $id}) ON CREATE SET n.次数 = 1, n.始 = datetime() ON MATCH SET n.次数 = n.次数 + 1",
        {"id": "茶"},
        stats={"nodesCreated": 1, "propertiesSet": 3, "labelsAdded": 1},
    ),
    Case(
        "merge",
        "MERGE (n:A {id: $id}) ON CREATE SET n.c = 1 ON MATCH SET n.c = 2 SET n.both = true",
        {"id": 2},
        stats={"propertiesSet": 2},
    ),
    Case(
        "merge",
        "UNWIND $rows AS row MERGE (n:A {id: row.id}) ON CREATE SET n.name = row.name ON MATCH SET n.again = true",
        {"rows": [{"id": 1, "name": "x"}, {"id": 8, "name": "y"}]},
        stats={"nodesCreated": 1, "propertiesSet": 3, "labelsAdded": 1},
    ),
    Case(
        "merge",
        "UNWIND $rows AS row MATCH (a:A {id: row.a}), (b:A {id: row.b}) MERGE (a)-[r:K]->(b) SET r.since = date(row.d)",
        {"rows": [{"a": 1, "b": 2, "d": "2026-01-01"}, {"a": 3, "b": 4, "d": "2026-01-02"}]},
        stats={"relationshipsCreated": 2, "propertiesSet": 2},
    ),
    Case(
        "setting and removing",
        "MATCH (a:A {id: 1}) SET a += $p",
        {"p": {"age": 31, "new": "x"}},
        stats={"propertiesSet": 2},
    ),
    Case("setting and removing", "MATCH (a:A {id: 1}) SET a = $p", {"p": {"id": 1}}, stats={"propertiesSet": 5}),
    Case(
        "setting and removing", "MATCH (a:A {id: 1}) SET a.tags = a.tags + $t", {"t": "new"}, stats={"propertiesSet": 1}
    ),
    Case("setting and removing", "MATCH (a:A {id: 1}) SET a.gone = null", stats={}),
    Case("setting and removing", "MATCH (a:A {id: 1}) SET a.age = null", stats={"propertiesSet": 1}),
    Case("setting and removing", "MATCH (a:A {id: 1}) REMOVE a.nothing", stats={}),
    Case("setting and removing", "MATCH (a:A) SET a:A", stats={}),
    Case("names in any script", "MATCH (a:A {id: 1}) SET a:`新 标签`:Other", stats={"labelsAdded": 2}),
    Case("setting and removing", "MATCH (a:A {id: 1}) SET a:$($l)", {"l": ["Dyn"]}, stats={"labelsAdded": 1}),
    Case(
        "creating",
        "CREATE (n:$($l) {id: 50})",
        {"l": "Dyn"},
        stats={"nodesCreated": 1, "propertiesSet": 1, "labelsAdded": 1},
        differs={"embedded": "labelsAdded"},
    ),
    Case(
        "setting and removing",
        "MATCH (a:A {id: 1}) SET a[$key] = $value",
        {"key": "dyn", "value": 1},
        stats={"propertiesSet": 1},
    ),
    Case("setting and removing", "MATCH (a:A)-[r:L]->() SET r.strength = r.w * 0.5", stats={"propertiesSet": 3}),
    Case(
        "setting and removing",
        "MATCH ()-[r:L {w: 1}]->() SET r += {note: $n, at: datetime($t)}",
        {"n": "说", "t": "2026-01-01T00:00:00Z"},
        stats={"propertiesSet": 2},
    ),
    Case("deleting", "MATCH ()-[r:L]->() WHERE r.w > 1 DELETE r", stats={"relationshipsDeleted": 2}),
    Case(
        "deleting",
        "MATCH (a:A) WHERE a.age IS NULL DETACH DELETE a",
        stats={"nodesDeleted": 1, "relationshipsDeleted": 1},
    ),
    Case("deleting", "MATCH (a:A {id: 1})-[r]-() DELETE r, a", stats={"nodesDeleted": 1, "relationshipsDeleted": 2}),
    Case(
        "deleting",
        "MATCH p = (a:A {id: 1})-[:L*]->(:A {id: 3}) DETACH DELETE p",
        stats={"nodesDeleted": 3, "relationshipsDeleted": 3},
    ),
    Case("deleting", "OPTIONAL MATCH (n:Nothing) DETACH DELETE n", stats={}),
    Case(
        "creating",
        "MATCH (a:A {id: 1}), (b:A {id: 2}) CREATE (a)<-[:BACK {w: $w}]-(b)",
        {"w": 1.5},
        stats={"relationshipsCreated": 1, "propertiesSet": 1},
    ),
    Case(
        "creating",
        "CREATE p = (:P {i: 1})-[:Q]->(:P {i: 2})-[:Q]->(:P {i: 3})",
        stats={"nodesCreated": 3, "relationshipsCreated": 2, "propertiesSet": 3, "labelsAdded": 3},
    ),
    Case(
        "creating",
        "CREATE (n:A {at: datetime($t), d: date($d), p: point({latitude: 1.0, longitude: 2.0}), l: "
        "[1, 2], f: 1.5, b: true})",
        {"t": "2026-01-01T00:00:00+08:00", "d": "2026-01-01"},
        stats={"nodesCreated": 1, "propertiesSet": 6, "labelsAdded": 1},
    ),
    Case(
        "setting and removing",
        "MATCH (a:A) WITH a ORDER BY a.id LIMIT 2 SET a.first = true",
        stats={"propertiesSet": 2},
    ),
    Case(
        "creating",
        "MATCH (a:A {id: 1}) CALL (a) { UNWIND range(1, 3) AS i CREATE (a)-[:HAS]->(:I {i: i}) }",
        stats={"nodesCreated": 3, "relationshipsCreated": 3, "propertiesSet": 3, "labelsAdded": 3},
    ),
    Case(
        "setting and removing",
        "MATCH (a:A) WITH collect(a) AS all FOREACH (n IN all | SET n.seen = true)",
        stats={"propertiesSet": 4},
    ),
    Case("setting and removing", "MATCH (a:A {id: 1}) WITH a WHERE a.age > 99 SET a.old = true", stats={}),
    Case(
        "merge",
        "MERGE (a:New {k: 1})-[:TO]->(b:New {k: 2})",
        stats={"nodesCreated": 2, "relationshipsCreated": 1, "propertiesSet": 2, "labelsAdded": 2},
    ),
    Case(
        "merge",
        "MATCH (a:A {id: 1}) MERGE (a)-[:TO]->(b:Hub {name: $n}) RETURN b",
        {"n": "中心"},
        stats={"nodesCreated": 1, "relationshipsCreated": 1, "propertiesSet": 1, "labelsAdded": 1},
    ),
    Case(
        "merge",
        "MATCH (a:A {id: 1}), (b:A {id: 3}) MERGE (a)-[r:NEAR]-(b) SET r.x = 1",
        stats={"relationshipsCreated": 1, "propertiesSet": 1},
    ),
    Case("refused on both", "MATCH (a:A {id: 1})-[r:L {w: 3}]->(b) DELETE r CREATE (b)-[:L {w: r.w}]->(a)"),
    Case(
        "creating",
        "INSERT (:G {x: 1})-[:H]->(:G)",
        stats={"nodesCreated": 2, "relationshipsCreated": 1, "propertiesSet": 1, "labelsAdded": 2},
    ),
    Case("refused on both", "MATCH (a:A {id: 3}) NODETACH DELETE a"),
    Case(
        "creating",
        "CREATE (:Nested {rows: [[1], [2]]})",
        stats={"nodesCreated": 1, "propertiesSet": 1, "labelsAdded": 1},
        differs={"neo4j": "not a list of lists"},
    ),
    Case("refused on both", "MATCH (a:A {id: 1}) SET a.map = {x: 1}"),
    Case("creating", "CREATE (:L)", stats={"nodesCreated": 1, "labelsAdded": 1}, differs={"embedded": "never both"}),
    Case("creating", "CREATE (:`a~b`)", stats={"nodesCreated": 1, "labelsAdded": 1}, differs={"embedded": "No ~"}),
    Case(
        "indexes and constraints",
        "CREATE VECTOR INDEX cv IF NOT EXISTS FOR (n:CV) ON (n.v) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}",
        stats={"indexesAdded": 1},
    ),
    Case(
        "indexes and constraints",
        "CREATE FULLTEXT INDEX cf IF NOT EXISTS FOR (n:CF) ON EACH [n.t]",
        stats={"indexesAdded": 1},
    ),
    Case(
        "indexes and constraints",
        "CREATE FULLTEXT INDEX cg IF NOT EXISTS FOR (n:CF|CG) ON EACH [n.t]",
        stats={"indexesAdded": 1},
        differs={"embedded": "nodes of one label"},
    ),
    Case(
        "indexes and constraints", "CREATE TEXT INDEX ct IF NOT EXISTS FOR (n:CT) ON (n.t)", stats={"indexesAdded": 1}
    ),
    Case(
        "indexes and constraints", "CREATE INDEX cr IF NOT EXISTS FOR ()-[r:CR]-() ON (r.w)", stats={"indexesAdded": 1}
    ),
    Case(
        "indexes and constraints", "CREATE INDEX cc IF NOT EXISTS FOR (n:CC) ON (n.x, n.y)", stats={"indexesAdded": 1}
    ),
    Case("indexes and constraints", "DROP INDEX not_there IF EXISTS", stats={}),
    Case(
        "names in any script",
        "MATCH (a:A {id: 1}) SET a.`属性 名` = $v REMOVE a.name",
        {"v": "值"},
        stats={"propertiesSet": 2},
    ),
]
