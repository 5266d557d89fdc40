"""The graph moves to a Neo4j server and back, and all of a box to others, by the commands that a person types."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.graph.dump.fingerprint import fingerprint
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.history.restore import empty
from tests.service.process import Household
from tests.service.typist import Typist, typist

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = pytest.mark.neo4j

GROW = (
    "UNWIND range(1, 30) AS i CREATE (:`人` {i: i, at: datetime(), born: date('1815-12-10')})"
    "-[:`认识` {since: $since, where: point({latitude: 48.2, longitude: 16.4})}]->(:B {parts: $parts})"
)
PARAMS = '{"since": "always", "parts": [1.5, 2.5]}'
COUNT = "MATCH (n) RETURN count(n) AS n"


@pytest.fixture
def server(neo4j_uri: str) -> str:
    """A server with something of somebody else in it."""

    async def prepare() -> None:
        graph = Graph(Neo4jServer(neo4j_uri))
        await empty(graph)
        await graph.write("CREATE (:Somebody {who: 'else'})-[:WAS]->(:Here)")
        await graph.close()

    asyncio.run(prepare())
    return neo4j_uri


def at(folder: Path, uri: str = "") -> Household:
    """Return a household whose graph is in the store of the box, or at a server; the folder may be another one's."""
    return Household(folder, {"memory": {"enabled": True, "embeddings": "off", "uri": uri}})


def looks(home: Household, told: dict[str, Any]) -> str:
    """Return the fingerprint of a snapshot that a command told of."""
    return fingerprint(home.state / "snapshots" / told["file"])


def nothing(compared: dict[str, Any]) -> bool:
    """Say whether a comparison found nothing that came or went."""
    return all(way["count"] == 0 for kind in compared.values() for way in kind.values())


@pytest.fixture
def hand() -> Iterator[Typist]:
    with typist() as hand:
        yield hand


@pytest.mark.shows("C12", "C18", "F31")
def test_its_graph_moves_to_a_server_and_back(tmp_path: Path, server: str, hand: Typist) -> None:
    own, there = at(tmp_path), at(tmp_path, server)
    hand.types(own, "memory", "write", GROW, "--params", PARAMS)
    grown = hand.types(own, "memory", "snapshot")
    moved = hand.types(there, "memory", "restore", "newest")
    assert (moved["nodes"], moved["relationships"]) == (60, 30)
    assert nothing(hand.types(there, "memory", "diff", grown["file"], "now"))
    hand.types(there, "memory", "write", "MATCH (p {i: 7}) SET p.name = $name", "--params", '{"name": "小明"}')
    later = hand.types(there, "memory", "snapshot")
    compared = hand.types(there, "memory", "diff", grown["file"], later["file"])
    assert [way["count"] for way in compared["nodes"].values()] == [1, 1]
    hand.types(own, "memory", "restore", "newest")
    assert looks(own, hand.types(own, "memory", "snapshot")) == looks(own, later)
    asked = hand.types(
        own, "memory", "query", "MATCH (p {i: 7})-[r]->(b) RETURN p.name AS n, r.since AS s, b.parts AS p"
    )
    assert asked["records"] == [{"n": "小明", "s": "always", "p": [1.5, 2.5]}]
    listed = [one["reason"] for one in hand.types(own, "memory", "list")]
    assert listed[:3] == ["asked for", "before a restore", f"restored from {grown['file']}"]
    assert hand.types(own, "memory", "audit", "verify")["records"] > 10


@pytest.mark.shows("H7", "C18")
def test_all_of_it_moves_to_a_box_with_a_server_and_back_to_one_without(
    tmp_path: Path, server: str, hand: Typist
) -> None:
    first, second, third = at(tmp_path / "first"), at(tmp_path / "second", server), at(tmp_path / "third")
    hand.types(first, "memory", "write", GROW, "--params", PARAMS)
    grown = hand.types(first, "memory", "snapshot")
    files = [str(tmp_path / name) for name in ("1.nakari", "2.nakari")]
    hand.types(first, "backup", files[0])
    restored = hand.types(second, "restore", files[0])
    assert (restored["nodes"], restored["relationships"]) == (60, 30)
    kept = [one for one in hand.types(second, "memory", "list") if one["reason"] == "before a restore"]
    assert [(one["nodes"], one["relationships"]) for one in kept] == [(2, 1)], "what the server held before"
    hand.types(second, "memory", "write", "CREATE (:AtTheServer)")
    hand.types(second, "backup", files[1])
    assert hand.types(third, "restore", files[1])["nodes"] == 61
    assert hand.types(third, "memory", "query", COUNT)["records"] == [{"n": 61}]
    hand.types(third, "memory", "write", "MATCH (n:AtTheServer) DELETE n")
    assert looks(third, hand.types(third, "memory", "snapshot")) == looks(first, grown)
