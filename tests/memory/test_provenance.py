"""Where a thing came from, kept in her graph when she names it: on the real store, in the audit log, after a replay."""

from pathlib import Path

import pytest

from agent.event import ASR_TRANSCRIPT, SELF_CREATED, Event
from agent.tools.memory import memory_tools
from agent.tools.tool import Call, run_tool
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.replay import replay
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.vectors.embedding import Handles, NoEmbedder
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

WRITE = (
    '{"cypher": "CREATE (:Fact {text: $text, by: $owner, through: $source, trust: $trust})", '
    '"params": {"text": "the boiler key"}}'
)
UNSURE = Event(ASR_TRANSCRIPT, "x", owner_key="ada", source="mic", metadata={"evidence": {"confidence": "low"}})
OWN = Event(SELF_CREATED, "x", source="self")
LOOK = "MATCH (f:Fact) RETURN f.by AS by, f.through AS through, f.trust AS trust ORDER BY by"
KEPT = [
    {"by": "ada", "through": "mic", "trust": "unsure"},
    {"by": "household", "through": "self", "trust": "own"},
]


@pytest.mark.shows("C7", "F12")
async def test_what_a_statement_names_is_kept_and_comes_back(embedded: Graph, another: Graph, tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit")
    writer = Writer(embedded, audit, Snapshots(tmp_path / "snapshots", audit))
    write = {tool.name: tool for tool in memory_tools(writer, Handles(NoEmbedder()))}["memory_write"]
    assert "$owner, $source and $trust" in " ".join(write.spec.description.split())
    for event in (UNSURE, OWN):
        assert '"nodesCreated":1' in await run_tool(write, WRITE, Call("1", event))
    assert (await embedded.read(LOOK)).records == KEPT
    assert (await replay(audit, writer.snapshots, another)).is_exact
    assert (await another.read(LOOK)).records == KEPT
    audit.close()
