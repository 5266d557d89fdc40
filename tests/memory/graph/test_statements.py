"""Whole statements on the real stores: all or nothing, what is written is read back (the rest: test_graph_contract)."""

import pytest

from memory.graph.graph import Graph
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C2", "C4", "C18")]


@pytest.mark.shows("C17")
async def test_one_statement_matches_creates_and_links(graph: Graph) -> None:
    """A conversation is written as a model would write it, Chinese texts and all."""
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
