"""A server that somebody empties, replaces, cuts off or silences, under a writer who knows what should be on it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory.errors import GraphUnavailable
from memory.graph.graph import Graph
from memory.graph.results import Limits
from memory.graph.store import Neo4jServer
from memory.history.audit import AuditLog
from memory.history.erasure import erase_event, finish
from memory.history.restore import empty
from memory.history.server_integrity import SEEN_SECONDS, ServerIntegrity
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.json_value import Json
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_erasure import NAME, SECRET
from tests.memory.history.test_repair import ME
from tests.memory.history.test_restore import Cut, cut
from tests.service.wire import Wire, wire

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.neo4j, pytest.mark.shows("C15", "C18")]

ALL = "MATCH (n) RETURN n.i AS i ORDER BY i"


@dataclass
class Watching:
    """A writer at a watched server, on a clock of the test's own, over a wire."""

    writer: Writer
    watched: ServerIntegrity
    line: Wire
    seconds: float = 0.0

    def later(self) -> None:
        """Let so much time pass that it is looked at again."""
        self.seconds += SEEN_SECONDS

    async def holds(self) -> list[Json]:
        return [row["i"] for row in (await self.writer.graph.read(ALL)).records]

    async def grows(self) -> None:
        """Write four nodes, a snapshot in the midst of them."""
        await self.writer.write("UNWIND [1, 2] AS i CREATE (:A {i: i})-[:R]->(:A {i: i * 10})", {}, ME)
        await self.writer.take_snapshot("asked for")
        await self.writer.write("MATCH (n {i: 20}) SET n.i = 2000", {}, ME)


GROWN = [1, 2, 10, 2000]


@asynccontextmanager
async def watching(folder: Path, uri: str, limits: Limits | None = None) -> AsyncIterator[Watching]:
    async with wire(int(uri.rpartition(":")[2])) as line:
        audit = AuditLog(folder / "audit")
        watched = ServerIntegrity(Neo4jServer(line.uri), audit, lambda: home.seconds)
        graph = Graph(watched, limits)
        home = Watching(Writer(graph, audit, Snapshots(folder / "snapshots", audit), server=watched), watched, line)
        try:
            yield home
        finally:
            await graph.close()
            await watched.close()
            audit.close()


async def test_it_is_emptied_while_it_lives_and_a_question_waits_until_it_is_full(
    tmp_path: Path, neo4j: Graph, neo4j_uri: str
) -> None:
    async with watching(tmp_path, neo4j_uri) as home, asyncio.TaskGroup() as group:
        await home.grows()
        await empty(neo4j)
        assert await home.holds() == [], "it was looked at a moment ago"
        home.later()
        asked = group.create_task(home.holds())
        await home.watched.emptied.wait()
        await home.writer.write("CREATE (:A {i: 3})", {}, ME)
        assert await asked in (GROWN, sorted([*GROWN, 3]))
        assert await home.holds() == sorted([*GROWN, 3])
        assert not home.watched.emptied.is_set()
        kinds = [record.kind for record in home.writer.audit.records()]
        assert kinds[-5:] == ["restoring", "outcome", "snapshot", "attempt", "outcome"]


async def test_what_it_takes_out_itself_stays_out(tmp_path: Path, neo4j: Graph, neo4j_uri: str) -> None:
    async with watching(tmp_path, neo4j_uri) as home:
        assert await home.holds() == []
        await home.grows()
        await home.writer.write("MATCH (n) DETACH DELETE n", {}, ME)
        home.later()
        assert await home.holds() == []
        await home.watched.see_whole()
        assert "restoring" not in [record.kind for record in home.writer.audit.records()]


async def whole_or_refused(graph: Graph) -> object:
    """Return how many nodes a reader sees; None for one who was told to come again, the fill taking so long."""
    try:
        return (await graph.read("MATCH (n) RETURN count(n) AS n")).records[0]["n"]
    except GraphUnavailable:
        return None


async def test_a_fill_that_is_cut_off_is_gone_on_with_and_half_of_it_is_shown_to_nobody(
    tmp_path: Path, neo4j: Graph, neo4j_uri: str
) -> None:
    async with watching(tmp_path, neo4j_uri) as home, asyncio.TaskGroup() as group:
        await home.writer.write("UNWIND range(1, 600) AS i CREATE (:A {i: i})-[:R]->(:B)", {}, ME)
        await home.writer.take_snapshot("asked for")
        await empty(neo4j)
        home.later()
        with pytest.raises(Cut):
            async with home.writer.exclusively(cut):
                pass
        assert 0 < int(str((await neo4j.read("MATCH (n) RETURN count(n) AS n")).records[0]["n"])) < 1200
        counted = group.create_task(whole_or_refused(home.writer.graph))
        await home.watched.emptied.wait()
        async with home.writer.exclusively():
            pass
        assert await counted in (1200, None)
        assert await whole_or_refused(home.writer.graph) == 1200


async def test_where_a_part_is_missing_it_is_told_and_left_to_people(
    tmp_path: Path, neo4j: Graph, neo4j_uri: str
) -> None:
    async with watching(tmp_path, neo4j_uri) as home:
        await home.grows()
        await neo4j.write("MATCH (n {i: 1}) DETACH DELETE n")
        home.later()
        assert await home.holds() == [2, 10, 2000]
        with pytest.raises(GraphUnavailable, match=r"holds 3 nodes and 1 relationships of 4 and 2 .*`nakari memory"):
            await home.watched.see_whole()
        await home.writer.take_snapshot("asked for")
        await home.watched.see_whole()
        assert home.watched.lacking == ""


async def test_what_could_not_be_forgotten_while_it_was_away_is_not_forgotten_about(
    tmp_path: Path, neo4j: Graph, neo4j_uri: str
) -> None:
    async with watching(tmp_path, neo4j_uri) as home:
        await home.grows()
        await home.writer.write("CREATE (:A {i: $name})", {"name": NAME}, SECRET)
        home.line.cut()
        home.later()
        with pytest.raises(GraphUnavailable):
            await erase_event(home.writer, None, SECRET.event_id)
        assert home.writer.unfinished.is_set()
        home.line.fix()
        assert await finish(home.writer, None)
        assert await home.holds() == GROWN


async def test_a_server_that_falls_silent_in_the_midst_of_a_snapshot_holds_nobody_for_ever(
    tmp_path: Path, neo4j: Graph, neo4j_uri: str
) -> None:
    async with watching(tmp_path, neo4j_uri, Limits(quiet_seconds=0.3)) as home:
        await home.grows()
        with pytest.raises(GraphUnavailable, match=r"did not answer within 0\.3 s"):
            await silenced_in_the_midst(home)
        home.line.fix()
        assert await home.holds() == GROWN


async def silenced_in_the_midst(home: Watching) -> None:
    async with home.writer.graph.transaction(writes=True, seconds=60) as transaction:
        await transaction.run("CREATE (:Lost)")
        home.line.whole.clear()
        await transaction.run("CREATE (:Lost)")
