"""A fact of 500 turns ago that left its context is answered out of its graph, where it had written it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.context import block
from agent.errors import ModelError
from agent.model.messages import Message
from agent.tools.memory import memory_tools
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.vectors.embedding import Handles, NoEmbedder
from tests.agent.mind import a_mind, spoken
from tests.agent.test_long_memory import SMALL, turns
from tests.fakes import ScriptedModel, calls
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]

KEEP = {
    "cypher": "CREATE (:Thing {what: $what})-[:HANGS]->(:Place {where: $where})",
    "params": {"what": "boiler key", "where": "behind the piano"},
}
LOOK = {"cypher": "MATCH (:Thing {what: $what})-->(p) RETURN p.where AS place", "params": {"what": "boiler key"}}


def looking_up(messages: Sequence[Message]) -> Message:
    """Return what a mind does that knows nothing but how to ask its graph."""
    last = messages[-1]
    if last.role == "user" and block.parse(last.content):
        return calls(("memory_query", json.dumps(LOOK)), prefix=f"look_{len(messages)}")
    if last.role != "tool":
        raise ModelError("it sums nothing up")
    [found] = json.loads(last.content)["records"]
    return calls(("reply", json.dumps({"text": f"It hangs {found['place']}."})), prefix=f"answer_{len(messages)}")


@pytest.mark.shows("D4")
@SESSION
async def test_a_fact_of_500_turns_ago_is_answered_out_of_its_graph(embedded: Graph, tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit")
    tools = memory_tools(Writer(embedded, audit, Snapshots(tmp_path / "snapshots", audit)), Handles(NoEmbedder()))
    first = calls(("memory_write", json.dumps(KEEP)), ("complete_event", "{}"))
    async with a_mind(tmp_path, [ScriptedModel(first)], tools, SMALL) as mind:
        await mind.handle(spoken("Remember where the boiler key is: behind the piano."))
        await turns(mind, 500)
    model = ScriptedModel(*[looking_up] * 4)
    async with a_mind(tmp_path, [model], tools, SMALL) as mind:
        await mind.handle(spoken("Where is the key of the boiler?"))
        assert all("piano" not in message.content for message in model.requests[0])  # it was trimmed
        assert mind.outlet.said == ["It hangs behind the piano."]
    audit.close()
