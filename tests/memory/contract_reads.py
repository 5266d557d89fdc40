"""Statements that ask for nodes and paths, as models write them, on the graph of `contract.people`."""

from typing import Final

from tests.memory.contract import Case

READS: Final = [
    Case("paths", "MATCH (a:A)-[:L*1..3]->(b) RETURN DISTINCT b.id AS v ORDER BY v", rows=[2, 3, 4]),
    Case("paths", "MATCH p=(a:A {id: 1})-[:L*]->(b:A {id: 3}) RETURN [x IN nodes(p) | x.id] AS v", rows=[[1, 2, 3]]),
    Case("paths", "MATCH p=shortestPath((a:A {id: 1})-[:L*..5]->(b:A {id: 3})) RETURN length(p) AS v", rows=[2]),
    Case("paths", "MATCH (a:A {id: 1}) (()-[:L]->()){1,3} (b:A) RETURN count(b) AS v", rows=[3]),
    Case("matching", "OPTIONAL MATCH (x:Nothing) RETURN x AS v", rows=[None]),
    Case(
        "aggregation, order, union",
        "MATCH (a:A) OPTIONAL MATCH (a)-[:L]->(b) WITH a.id AS i, collect(b.id) AS v RETURN size(v) AS v ORDER BY i",
        rows=[2, 1, 0, 0],
    ),
    Case(
        "aggregation, order, union",
        "MATCH (a:A) RETURN CASE WHEN a.age > $n THEN 1 WHEN a.age IS NULL THEN 2 ELSE 3 END AS v ORDER BY a.id",
        {"n": 25},
        rows=[1, 1, 3, 2],
    ),
    Case("subqueries", "MATCH (a:A) WHERE EXISTS { (a)-[:L]->() } RETURN a.id AS v ORDER BY v", rows=[1, 2]),
    Case("subqueries", "MATCH (a:A) RETURN COUNT { (a)-[:L]->() } AS v ORDER BY a.id", rows=[2, 1, 0, 0]),
    Case(
        "subqueries",
        "MATCH (a:A {id: 1}) RETURN COLLECT { MATCH (a)-[:L]->(b) RETURN b.id ORDER BY b.id } AS v",
        rows=[[2, 4]],
    ),
    Case(
        "matching",
        "MATCH (a:A) WHERE $x IN a.tags AND NOT a.id IN $ids RETURN a.id AS v",
        {"x": "y", "ids": [1]},
        rows=[2],
    ),
    Case(
        "aggregation, order, union",
        "MATCH (a:A) RETURN [avg(a.age), sum(a.age), min(a.age), count(a.age)] AS v",
        rows=[[30.0, 90, 20, 3]],
    ),
    Case(
        "aggregation, order, union",
        "MATCH (a:A) WHERE a.age IS NOT NULL RETURN a.id AS v ORDER BY a.age DESC SKIP 1 LIMIT $n",
        {"n": 2},
        rows=[1, 3],
    ),
    Case("matching", "RETURN round(point.distance(point({x: 0, y: 0}), point({x: 3, y: 4}))) AS v", rows=[5.0]),
    Case(
        "matching",
        "RETURN [7 / 2, 7 % 3, 2 ^ 3, coalesce(null, 1), head([4, 5]), toInteger('5')] AS v",
        rows=[[3, 1, 8.0, 1, 4, 5]],
    ),
    Case(
        "aggregation, order, union",
        "MATCH (a:A)-[r]->(b) RETURN [type(r), startNode(r).id, r.w] AS v ORDER BY r.w",
        rows=[["L", 1, 1], ["L", 2, 2], ["L", 1, 3]],
    ),
    Case("aggregation, order, union", "MATCH (a:A|B) RETURN count(a) AS v", rows=[4]),
    Case("aggregation, order, union", "MATCH (a:A&!B WHERE a.age > 25) RETURN count(a) AS v", rows=[2]),
    Case("aggregation, order, union", "MATCH (a:A)-[r:L|M WHERE r.w > 1]->(b) RETURN count(r) AS v", rows=[2]),
    Case(
        "aggregation, order, union",
        "MATCH (a:A {id: 1}) RETURN a.id AS v UNION MATCH (a:A {id: 2}) RETURN a.id AS v",
        rows=[1, 2],
    ),
    Case(
        "subqueries",
        "MATCH (a:A) CALL (a) { MATCH (a)-[:L]->(b) RETURN count(b) AS c } RETURN c AS v ORDER BY a.id",
        rows=[2, 1, 0, 0],
    ),
    Case(
        "subqueries",
        "MATCH (a:A) CALL { WITH a MATCH (a)-[:L]->(b) RETURN count(b) AS c } RETURN c AS v ORDER BY a.id",
        rows=[2, 1, 0, 0],
    ),
    Case("aggregation, order, union", "MATCH (a:A) RETURN count(DISTINCT a.age) AS v", rows=[3]),
    Case("paths", "RETURN [x IN range(1, 3) WHERE x > 1 | x * 2] + [1, 2, 3][0..2] AS v", rows=[[4, 6, 1, 2]]),
    Case("aggregation, order, union", "MATCH (a)-[r]-(b) WHERE a.id = 1 RETURN b.id AS v ORDER BY v", rows=[2, 4]),
    Case("matching", "MATCH (a:A {id: 1}) RETURN valueType(a.age) STARTS WITH 'INTEGER' AS v", rows=[True]),
    Case("paths", "MATCH (a:A {id: 1})-[:L*2]->(b) RETURN b.id AS v", rows=[3]),
    Case("paths", "MATCH (a:A {id: 1})-[:L*0..1]->(b) RETURN b.id AS v ORDER BY v", rows=[1, 2, 4]),
    Case("paths", "MATCH p = (a:A {id: 1})-[:L*1..2]->(b) RETURN max(length(p)) AS v", rows=[2]),
    Case(
        "paths",
        "MATCH p = (a:A {id: 1})-[rs:L*2]->(b) RETURN reduce(s = 0, r IN relationships(p) | s + r.w) AS v",
        rows=[3],
    ),
    Case("paths", "MATCH (a:A {id: 3})<-[:L*]-(b) RETURN b.id AS v ORDER BY v", rows=[1, 2]),
    Case(
        "paths", "MATCH p = (a:A)-[:L*1..3]->(b) WHERE all(n IN nodes(p) WHERE n.id < 4) RETURN count(p) AS v", rows=[3]
    ),
    Case("paths", "MATCH p = allShortestPaths((a:A {id: 4})-[:L*]-(b:A {id: 3})) RETURN length(p) AS v", rows=[3]),
    Case("paths", "MATCH (a:A {id: 1})-[:L]->(b)-[:L]->(c) RETURN [a.id, b.id, c.id] AS v", rows=[[1, 2, 3]]),
    Case("paths", "MATCH p = (a:A {id: 1})-[:L]->{1,2}(b:A) RETURN count(p) AS v", rows=[3]),
    Case(
        "paths",
        "MATCH p = SHORTEST 1 (a:A {id: 1})-[:L]->+(b:A {id: 3}) RETURN length(p) AS v",
        rows=[2],
        differs={"embedded": "SHORTEST k"},
    ),
    Case(
        "paths",
        "MATCH p = ANY SHORTEST (a:A {id: 1})-[:L]->+(b:A {id: 3}) RETURN length(p) AS v",
        rows=[2],
        differs={"embedded": "SHORTEST k"},
    ),
    Case(
        "subqueries", "MATCH (a:A) WHERE NOT EXISTS { MATCH (a)-[:L]-() WHERE a.id > 0 } RETURN count(a) AS v", rows=[0]
    ),
    Case("subqueries", "MATCH (a:A) WHERE EXISTS { MATCH (a)-[:L]->(b) WHERE b.age > 30 } RETURN a.id AS v", rows=[1]),
    Case("subqueries", "MATCH (a:A) WHERE (a)-[:L]->() RETURN a.id AS v ORDER BY v", rows=[1, 2]),
    Case("subqueries", "MATCH (a:A) WHERE NOT (a)-->() RETURN a.id AS v ORDER BY v", rows=[3, 4]),
    Case("subqueries", "MATCH (a:A) WHERE COUNT { (a)--() } > 1 RETURN a.id AS v ORDER BY v", rows=[1, 2]),
    Case(
        "subqueries",
        "MATCH (a:A) CALL { WITH a OPTIONAL MATCH (a)-[r:L]->() RETURN max(r.w) AS m } RETURN m AS v ORDER BY a.id",
        rows=[3, 2, None, None],
    ),
    Case(
        "subqueries",
        "CALL { MATCH (a:A {id: 1}) RETURN a.name AS v UNION MATCH (a:A {id: 2}) RETURN a.name AS "
        "v } RETURN v ORDER BY v",
        rows=["Ann", "Bob"],
    ),
    Case("subqueries", "UNWIND [1, 2] AS x CALL (x) { RETURN x * 10 AS y } RETURN y AS v", rows=[10, 20]),
    Case(
        "aggregation, order, union",
        "MATCH (a:A) RETURN [percentileCont(a.age, 0.5), stDev(a.age)] AS v",
        rows=[[30.0, 10.0]],
    ),
    Case("refused on both", "MATCH (a:A)-[r]->() RETURN {who: a.name, n: count(r)} AS v ORDER BY a.name"),
    Case(
        "aggregation, order, union",
        "MATCH (a:A)-[r]->() WITH a, count(r) AS n ORDER BY n DESC RETURN a.id AS v",
        rows=[1, 2],
    ),
    Case("refused on both", "MATCH (a:A) RETURN a.age AS v ORDER BY v DESC NULLS LAST"),
    Case("aggregation, order, union", "MATCH (a:A) RETURN a.age AS v ORDER BY a.age", rows=[20, 30, 40, None]),
    Case("aggregation, order, union", "RETURN 1 AS v UNION ALL RETURN 1 AS v", rows=[1, 1]),
    Case("aggregation, order, union", "MATCH (n) RETURN count(*) AS v", rows=[4]),
    Case(
        "aggregation, order, union",
        "MATCH (n) UNWIND labels(n) AS l RETURN [l, count(*)] AS v",
        rows=[["A", 4]],
        differs={"neo4j": "column of its own"},
    ),
    Case("aggregation, order, union", "MATCH (a:A) WITH collect(a.id) AS ids RETURN size(ids) AS v", rows=[4]),
    Case("aggregation, order, union", "MATCH (a:A) RETURN DISTINCT a.age IS NULL AS v ORDER BY v", rows=[False, True]),
    Case("matching", "OPTIONAL MATCH (a:A {id: 99}) RETURN coalesce(a.name, 'nobody') AS v", rows=["nobody"]),
    Case("matching", "MATCH (a:A) WHERE a.age IN $l RETURN a.id AS v ORDER BY v", {"l": [20, 40]}, rows=[2, 3]),
    Case("matching", "MATCH (a:A) WHERE 25 < a.age <= 40 RETURN a.id AS v ORDER BY v", rows=[1, 2]),
    Case("matching", "MATCH (a:A) WHERE a.age <> 30 XOR a.id = 1 RETURN a.id AS v ORDER BY v", rows=[1, 2, 3]),
    Case("matching", "MATCH (a:$($label)) RETURN count(a) AS v", {"label": "A"}, rows=[4]),
    Case("matching", "MATCH (a) WHERE $label IN labels(a) RETURN count(a) AS v", {"label": "A"}, rows=[4]),
    Case("matching", "MATCH (a:A) WHERE a:A AND NOT a:B RETURN count(a) AS v", rows=[4]),
    Case("matching", "MATCH (a:A) WHERE a['name'] = $n RETURN a.id AS v", {"n": "Bob"}, rows=[2]),
    Case("matching", "MATCH (a:A), (b:A) WHERE a.id < b.id RETURN count(*) AS v", rows=[6]),
    Case("matching", "MATCH (a:A)-[r:L]->(b:A) WHERE r.w >= 2 RETURN b.id AS v ORDER BY v", rows=[3, 4]),
    Case("matching", "MATCH (a:%) RETURN count(a) AS v", rows=[4]),
    Case("matching", "MATCH (a) WHERE elementId(a) IS NOT NULL RETURN count(a) AS v", rows=[4]),
    Case(
        "matching",
        "MATCH (a:A {id: 1}) WITH a, elementId(a) AS e MATCH (b) WHERE elementId(b) = e RETURN b.id AS v",
        rows=[1],
    ),
    Case(
        "matching", "MATCH (a:A {id: 1}) RETURN CASE a.age WHEN 30 THEN 'thirty' ELSE 'other' END AS v", rows=["thirty"]
    ),
]
