"""The drill: what was saved on schedule is restored into a throw-away store, and compared with what is there."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.graph.dump.dump import load_dump, write_dump
from memory.graph.dump.fingerprint import contents, fingerprint
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.schedule import keep_snapshots
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_repair import ME
from tests.memory.history.test_schedule import Clock, Over

pytest_plugins = ["tests.memory.graph_fixtures"]

DAY = 6 * 24 + 1
"""Looks of the keeper: it looks every ten minutes."""

LIFE: tuple[tuple[str, dict[str, object]], ...] = (
    ("UNWIND range(1, 40) AS i CREATE (:`人` {i: i, at: datetime()})-[:`认识` {since: date('2026-01-02')}]->(:B)", {}),
    ("CREATE (:Place {at: point({latitude: 48.2, longitude: 16.4}), parts: $parts})", {"parts": [1.5, 2.5]}),
    ("MATCH (a {i: 7})-[r]->(b) DELETE r CREATE (a)-[:LIKES]->(b) SET b.name = $name", {"name": "O'Brien `x`"}),
    ("CREATE INDEX by_i IF NOT EXISTS FOR (n:`人`) ON (n.i)", {}),
)


async def looks(graph: Graph, path: Path) -> Path:
    await write_dump(graph, path, datetime.now(UTC))
    return path


@pytest.mark.shows("C12")
@SESSION
async def test_a_scheduled_snapshot_restored_elsewhere_is_the_graph(
    embedded: Graph, another: Graph, tmp_path: Path
) -> None:
    clock = Clock(rounds=DAY)
    audit = AuditLog(tmp_path / "audit", clock.now)
    writer = Writer(embedded, audit, Snapshots(tmp_path / "snapshots", audit, clock.now))
    for cypher, params in LIFE:
        await writer.write(cypher, params, ME)
    with pytest.raises(Over):
        await keep_snapshots(writer, clock.now, clock.pause)
    [taken] = await writer.snapshots.listed()
    assert taken.reason == "on schedule"
    held = await load_dump(taken.path, another)
    assert (held.nodes, held.relationships) == (81, 40)
    here, there = await looks(embedded, tmp_path / "here"), await looks(another, tmp_path / "there")
    assert await asyncio.to_thread(contents, here) == await asyncio.to_thread(contents, there)
    assert await asyncio.to_thread(fingerprint, here) == await asyncio.to_thread(fingerprint, there)
    indexes = "SHOW INDEXES YIELD name, type, labelsOrTypes, properties"
    assert (await another.read(indexes)).records == (await embedded.read(indexes)).records
    audit.close()
