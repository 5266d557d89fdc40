"""A household whose graph is at a real Neo4j: people come, share it, are forgotten; the wire breaks; it is emptied."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from appliance.api.client import follow, tell
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.history.restore import empty
from memory.identity import new_key
from memory.json_value import Json
from tests.memory.history.test_erasure import found_in
from tests.room.virtual_time import passed
from tests.service.living import KEEP, KNOWN, Living, living
from tests.service.process import Household
from tests.service.test_forget_owner import ADAS, BENS, OURS
from tests.service.test_memory_outage import MOST_SECONDS, is_one_sentence
from tests.service.test_visitors import asked
from tests.service.typist import Typist, typist
from tests.service.wire import Tear, Wire, wire

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = pytest.mark.neo4j


@pytest_asyncio.fixture
async def server(neo4j_uri: str) -> AsyncIterator[Graph]:
    """The server itself, empty, as somebody else looks at it."""
    graph = Graph(Neo4jServer(neo4j_uri))
    await empty(graph)
    yield graph
    await graph.close()


@pytest_asyncio.fixture
async def line(server: Graph, neo4j_uri: str) -> AsyncIterator[Wire]:
    """The wire between the box and the server."""
    async with wire(int(neo4j_uri.rpartition(":")[2])) as line:
        yield line


def at(folder: Path, uri: str) -> Household:
    """Return a household whose graph is there; "" is the store of the box."""
    return Household(folder, {"memory": {"enabled": True, "embeddings": "off", "uri": uri}})


async def everything(server: Graph) -> str:
    """Return every label, type, key and value on the server."""
    seen = [
        (await server.read(cypher)).records
        for cypher in (
            "MATCH (n) RETURN labels(n) AS labels, properties(n) AS p",
            "MATCH ()-[r]->() RETURN type(r) AS type, properties(r) AS p",
        )
    ]
    return json.dumps(seen, ensure_ascii=False)


async def done(box: Living, request: Mapping[str, Json]) -> Any:
    """Return what came of a request at the door."""
    return await follow(box.config.socket, dict(request), lambda done, of: None)


async def texts(box: Living, key: bytes) -> list[str]:
    return [row["text"] for row in json.loads(await asked(box, f"{KNOWN}?", key))["records"]]


@pytest.mark.shows("C1", "F12", "F13", "F14", "H7")
async def test_people_come_share_it_and_are_forgotten_to_the_last_word(
    tmp_path: Path, server: Graph, line: Wire
) -> None:
    (ada, member), (ben, _) = new_key(), new_key()
    home = at(tmp_path, line.uri)
    async with living(home) as box:
        assert await everything(server) == "[[], []]", "nobody prescribes it anything"
        box.box.owners.identities.register(f"Ada {ADAS}", member)
        for key, word in ((b"", OURS), (ada, ADAS), (ben, BENS)):
            assert "nodesCreated" in await asked(box, f"{KEEP}{word} is here", key)
        line.tear = Tear.AFTER
        assert "is not known" in await asked(box, f"{KEEP}{ADAS} was torn off", ada)
        line.fix()
    async with living(home) as box:
        shared = [f"{ADAS} is here", f"{ADAS} was torn off", f"{OURS} is here"]
        assert await texts(box, ada) == sorted(shared), "the one that was torn is there, once"
        assert await texts(box, ben) == [f"{BENS} is here"]
        assert BENS not in await everything(server)
        await done(box, {"do": "memory.snapshot"})
        told = await done(box, {"do": "forget.owner", "owner": member})
        assert "2 writes into the household's graph" in told
        assert ADAS not in await everything(server)
        assert found_in(home.state, ADAS) == []
        await box.asked(f"{KEEP}a secret")
        assert (await tell(box.config.socket, {"do": "forget"}))["done"] == "Forgotten: “keep a secret”."
        assert await texts(box, b"") == [f"{OURS} is here"]
        assert await texts(box, ben) == [f"{BENS} is here"]
        assert (await done(box, {"do": "memory.verify"}))["records"] > 10
    assert [word for word in (ADAS, "a secret") if found_in(home.state, word)] == []


@pytest.mark.shows("C15")
async def test_whatever_happens_on_the_wire_is_one_sentence_and_nothing_acknowledged_is_lost(
    tmp_path: Path, line: Wire
) -> None:
    async with living(at(tmp_path, line.uri)) as box:
        await box.keeps("at first")
        for tear in Tear:
            line.tear = tear
            told = await box.keeps(f"torn {tear.name}")
            line.fix()
            assert "whether the change was kept is not known: look with memory_query" in told
            assert "\n" not in told
        await box.keeps("after them")
        line.cut()
        assert is_one_sentence(await box.keeps("while it was cut"))
        line.fix()
        await box.keeps("after the cut")
        line.whole.clear()
        assert is_one_sentence(await box.keeps("while it was silent"))
        assert await box.seconds_for_a_chat() < MOST_SECONDS
        line.fix()
        await box.keeps("after the silence")
        line.delay = 0.1
        await box.keeps("slowly")
        line.fix()
        assert await box.knows() == sorted([*box.kept, "torn AFTER"])
        assert len(box.kept) == 5
        assert (await done(box, {"do": "memory.replay"}))["equal"]
        outcomes = [one["facts"] for one in await done(box, {"do": "memory.audit", "last": 100})]
        assert [facts["committed"] for facts in outcomes if "committed" in facts].count(None) == 2


async def moved(hand: Typist, home: Household, people: int) -> int:
    """Let people talk to a box, which is given what the newest snapshot holds; return how much was acknowledged."""
    enough = asyncio.Event()

    async def talks(who: int) -> None:
        while not enough.is_set():
            await box.asked(f"{KEEP}{home.settings['memory']['uri']} {who} {len(box.model.requests)}", session=f"{who}")

    async with living(home) as box, AsyncExitStack() as stack:
        if box.box.graph.store is not None:
            await box.ready()
        group = await stack.enter_async_context(asyncio.TaskGroup())
        for who in range(people):
            group.create_task(talks(who))
        types = asyncio.to_thread
        before = await types(hand.types, home, "memory", "snapshot")
        await types(hand.types, home, "memory", "restore", "newest")
        await types(hand.types, home, "memory", "write", "CREATE (:Moved {at: $at})", "--params", '{"at": "once"}')
        assert "Moved" in (await types(hand.types, home, "memory", "schema"))["labels"]
        compared = await types(hand.types, home, "memory", "diff", before["file"])
        assert compared["nodes"]["came"]["count"] >= 1
        assert (await types(hand.types, home, "memory", "replay"))["exact"]
        enough.set()
    return len(await types(hand.types, home, "memory", "list"))


@asynccontextmanager
async def _hand() -> AsyncIterator[Typist]:
    with typist() as hand:
        yield hand


@pytest.mark.shows("C12", "C18", "H7")
async def test_it_moves_to_the_box_and_back_while_people_talk(tmp_path: Path, line: Wire, server: Graph) -> None:
    there, own = at(tmp_path / "one", line.uri), at(tmp_path / "one", "")
    types = asyncio.to_thread
    async with _hand() as hand:
        listed = [await moved(hand, home, 2) for home in (there, own, there)]
        assert listed == sorted(listed)
        count = "MATCH (n) RETURN count(n) AS n"
        [now] = (await types(hand.types, there, "memory", "query", count))["records"]
        assert (await types(hand.types, there, "memory", "replay"))["equal"]
        assert now == (await server.read(count)).records[0]
        await types(hand.types, there, "backup", str(tmp_path / "all.nakari"))
        other = at(tmp_path / "other", "")
        assert (await types(hand.types, other, "restore", str(tmp_path / "all.nakari")))["nodes"] == now["n"]


@pytest.mark.shows("C15", "C18")
async def test_a_server_that_was_emptied_is_filled_again_and_one_that_lacks_a_part_is_told(
    tmp_path: Path, server: Graph, line: Wire
) -> None:
    home = at(tmp_path, line.uri)
    async with living(home) as box:
        for number in range(3):
            await box.keeps(f"fact {number}")
    await empty(server)
    async with living(home) as box:
        assert await box.knows() == ["fact 0", "fact 1", "fact 2"]
        await box.keeps("fact 3")
        assert (await done(box, {"do": "memory.replay"}))["equal"]
        assert "reason" not in await box.box.graph.describe()
    await server.write("MATCH (f:Fact {text: 'fact 1'}) DELETE f")
    async with living(home) as box:
        assert await box.knows() == ["fact 0", "fact 2", "fact 3"], "it is its own no less"
        async with asyncio.timeout(120):
            while "reason" not in await box.box.graph.describe():
                await passed(0.1)
        assert "holds 3 nodes and 0 relationships of 4 and 0" in str((await box.box.graph.describe())["reason"])
        file = tmp_path / "as-it-was"
        assert (await done(box, {"do": "memory.replay", "file": str(file)}))["nodes"] == 4
        await done(box, {"do": "memory.restore", "snapshot": str(file)})
        assert await box.knows() == ["fact 0", "fact 1", "fact 2", "fact 3"]
