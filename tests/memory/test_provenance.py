"""Where a thing came from, kept in its graph when it names it: on the real store, in the audit log, after a replay."""

import json
from datetime import UTC, datetime
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
    described = " ".join(write.spec.description.split())
    assert all(f"${name}" in described for name in ("event", "said_at", "speaker", "owner", "source", "trust"))
    for event in (UNSURE, OWN):
        assert '"nodesCreated":1' in await run_tool(write, WRITE, Call("1", event))
    assert (await embedded.read(LOOK)).records == KEPT
    assert (await replay(audit, writer.snapshots, another)).is_exact
    assert (await another.read(LOOK)).records == KEPT
    audit.close()


@pytest.mark.shows("C7", "G15")
async def test_the_event_its_time_and_the_speaker_are_kept_and_own_parameters_of_these_names_win(
    graph: Graph, tmp_path: Path
) -> None:
    audit = AuditLog(tmp_path / "audit")
    writer = Writer(graph, audit, Snapshots(tmp_path / "snapshots", audit))
    write = {tool.name: tool for tool in memory_tools(writer, Handles(NoEmbedder()))}["memory_write"]
    heard = Event(ASR_TRANSCRIPT, "x", created_at=datetime(2026, 3, 1, 7, 30, tzinfo=UTC), metadata={"speaker": "Anna"})
    kept = "CREATE (:Fact {from: $event, at: datetime($said_at), by: $speaker})"
    for params in ({}, {"event": "earlier", "said_at": "2025-12-24T18:00:00Z", "speaker": "Ben"}):
        said = json.dumps({"cypher": kept, "params": params})
        assert '"nodesCreated":1' in await run_tool(write, said, Call("1", heard))
    found = await graph.read(
        "MATCH (f:Fact) RETURN f.from AS event, toString(date(f.at)) AS day, f.by AS by ORDER BY by"
    )
    assert found.records == [
        {"event": heard.id, "day": "2026-03-01", "by": "Anna"},
        {"event": "earlier", "day": "2025-12-24", "by": "Ben"},
    ]
    audit.close()
