"""A memory that is down, dies, hangs or comes back: the graph says so at once, and recovers by itself."""

import asyncio
import os
import resource
import signal
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from memory.errors import GraphRefused, GraphUnavailable, TooLarge
from memory.graph.connections import CONNECT_SECONDS, Connections
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import UNANSWERED, Graph
from memory.graph.results import Limits
from memory.graph.store import Neo4jServer

pytestmark = pytest.mark.shows("C15")


@asynccontextmanager
async def supervised(
    store: EmbeddedStore, limits: Limits | None = None
) -> AsyncIterator[tuple[Graph, asyncio.Task[bool]]]:
    """Run a store as the service does; yields a graph on it and a task that ends when the store goes down once."""
    graph = Graph(store, limits)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(store.run())
        down = group.create_task(store.until(State.DOWN))
        await store.until(State.READY)
        try:
            yield graph, down
        finally:
            running.cancel()
            down.cancel()
            await graph.close()


async def recovered(store: EmbeddedStore, down: asyncio.Task[bool]) -> None:
    await down
    await store.until(State.READY)


async def test_a_store_that_was_never_started_is_told_at_once(tmp_path: Path) -> None:
    graph = Graph(EmbeddedStore(tmp_path))
    began = time.monotonic()
    for door in (graph.read, graph.write):
        with pytest.raises(GraphUnavailable, match="not available now: it was not started"):
            await door("RETURN 1")
    with pytest.raises(GraphUnavailable):
        await graph.schema()
    assert time.monotonic() - began < 25  # the driver would try for half a minute


async def write_until_it_fails(graph: Graph, kill: int, after: int) -> int:
    """Write numbered pairs, kill the child after so many, return how many were acknowledged when the graph was down."""
    acknowledged = 0
    while True:
        try:
            await graph.write("CREATE (:A {id: $id})-[:R]->(:B {id: $id})", {"id": acknowledged})
        except GraphUnavailable:
            return acknowledged
        acknowledged += 1
        if acknowledged == after:
            os.kill(kill, signal.SIGKILL)


async def test_kill_9_loses_nothing_acknowledged_and_is_mended_without_asking(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    async with supervised(store) as (graph, down):
        first = store.pid
        assert first is not None
        acknowledged = await write_until_it_fails(graph, first, after=60)
        assert acknowledged >= 60
        await recovered(store, down)
        assert store.pid != first
        found = await graph.read("MATCH (a:A)-[:R]->(b:B) WHERE a.id = b.id RETURN count(*) AS n")
        # The one that was under way may be there or not, and then whole.
        assert found.records[0]["n"] in {acknowledged, acknowledged + 1}


async def test_a_frozen_store_is_killed_and_started_anew(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    async with supervised(store, Limits(begin_seconds=1.0)) as (graph, down):
        await graph.write("CREATE (:A {x: 1})")
        assert store.pid is not None
        os.kill(store.pid, signal.SIGSTOP)
        with pytest.raises(GraphUnavailable, match="did not answer within 1 s"):
            await graph.read("RETURN 1")
        await recovered(store, down)
        assert (await graph.read("MATCH (a:A) RETURN a.x AS x")).records == [{"x": 1}]


async def test_one_that_froze_while_nobody_asked_is_killed_too(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    async with supervised(store) as (graph, down):
        await graph.write("CREATE (:A {x: 1})")
        await graph.close()  # as connections are that rested: the next statement opens one
        assert store.pid is not None
        os.kill(store.pid, signal.SIGSTOP)
        for _ in range(UNANSWERED):
            with pytest.raises(GraphUnavailable, match="it does not answer"):
                await graph.read("RETURN 1")
        await recovered(store, down)
        assert (await graph.read("MATCH (a:A) RETURN a.x AS x")).records == [{"x": 1}]


@pytest.mark.parametrize(
    "endless",
    [
        "RETURN " + "CASE WHEN true THEN " * 500 + "1" + " END" * 500,
        "WITH range(1, 9999) AS l RETURN reduce(a = 0, x IN l | reduce(b = 0, y IN l | reduce(c = 0, z IN l | c + z)))",
    ],
    ids=["the parser", "the runtime"],
)
async def test_a_statement_the_store_cannot_stop_costs_only_the_child(tmp_path: Path, endless: str) -> None:
    store = EmbeddedStore(tmp_path, statement_seconds=0.5)
    async with supervised(store, Limits(seconds=0.5)) as (graph, down):
        await graph.write("CREATE (:A {x: 1})")
        with pytest.raises(TooLarge, match=r"longer than 0\.5 s"):
            await graph.read(endless)
        await recovered(store, down)
        assert (await graph.read("MATCH (a:A) RETURN a.x AS x")).records == [{"x": 1}]


async def test_running_out_of_memory_ends_the_statement_not_the_store(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path, heap_megabytes=64) as store:
        graph = Graph(store)
        with pytest.raises((GraphUnavailable, TooLarge), match="nothing was changed"):
            await graph.write(
                "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b CREATE (:A {a: a, b: b, t: $t})", {"t": "x" * 99}
            )
        assert (await graph.read("MATCH (a:A) RETURN count(a) AS n")).records == [{"n": 0}]
        await graph.close()


async def test_a_cancelled_statement_leaves_the_graph_usable(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path) as store:
        graph = Graph(store)
        await graph.write("UNWIND range(1, 3000) AS x CREATE (:A {x: x})")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await graph.write("MATCH (a:A), (b:A) WHERE a.x * b.x % 7 = 1 SET a.y = b.x")
        assert (await graph.read("MATCH (a:A) RETURN count(a.y) AS n")).records == [{"n": 0}]
        await graph.close()


async def test_a_server_that_is_not_there_is_named(unused_tcp_port: int) -> None:
    graph = Graph(Neo4jServer(f"bolt://127.0.0.1:{unused_tcp_port}", "neo4j", "secret"))
    began = time.monotonic()
    with pytest.raises(GraphUnavailable, match=f"bolt://127.0.0.1:{unused_tcp_port} cannot be reached now") as caught:
        await graph.write("CREATE (:A)")
    assert time.monotonic() - began < 25  # the same
    assert "secret" not in str(caught.value)
    await graph.close()


async def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    hold: list[asyncio.StreamWriter] = []
    async with await asyncio.start_server(lambda _, writer: hold.append(writer), "127.0.0.1", 0) as silent:
        port = silent.sockets[0].getsockname()[1]
        graph = Graph(Neo4jServer(f"bolt://127.0.0.1:{port}"), Limits(begin_seconds=0.5))
        with pytest.raises(GraphUnavailable, match=r"did not answer within 0\.5 s|cannot be reached"):
            await graph.read("RETURN 1")
        await graph.close()
        for writer in hold:
            writer.close()


async def test_standing_still_itself_is_not_blamed_on_the_store(tmp_path: Path) -> None:
    greeted: list[asyncio.Task[None]] = []

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry a connection to the store; the first one's greeting comes just before nobody has the processor."""
        task = asyncio.current_task()
        assert task is not None
        greeted.append(task)
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)

        async def answers() -> None:
            while heard := await to_reader.read(65536):
                writer.write(heard)
                if len(greeted) == 1:
                    threading.Event().wait(CONNECT_SECONDS)  # the loop's own thread, as on a machine without time
            writer.close()

        async with asyncio.TaskGroup() as group:
            group.create_task(answers())
            with suppress(ConnectionError):  # whoever gave the first one up may reset it
                while asked := await reader.read(65536):
                    to_writer.write(asked)
            to_writer.close()

    async with (
        EmbeddedStore(tmp_path) as store,
        await asyncio.start_server(pass_on, "127.0.0.1", 0) as between,
    ):
        endpoint = await store.endpoint()
        port = int(endpoint.uri.rpartition(":")[2])
        connections = Connections()
        at = replace(endpoint, uri=f"bolt://127.0.0.1:{between.sockets[0].getsockname()[1]}")
        async with connections.transaction(at, writes=False, seconds=5.0) as transaction:
            assert await (await transaction.run("RETURN 7")).value() == [7]
        await connections.close()
        await asyncio.gather(*greeted)
    assert len(greeted) == 2


async def test_a_server_of_another_kind_is_told() -> None:
    answering: list[asyncio.Task[None]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        answering.append(task)
        await reader.read(1024)
        writer.write(b"\x00\x00\x08\x05")  # Bolt 5.8, and then no message
        await reader.read(1024)
        writer.write(b"\x00\x05hello\x00\x00")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        graph = Graph(Neo4jServer(f"bolt://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        with pytest.raises(GraphUnavailable, match=r"is no graph server that can be used .*check \[memory\] uri"):
            await graph.read("RETURN 1")
        with pytest.raises(GraphUnavailable, match="no graph server"):
            async with graph.transaction(writes=False, seconds=1.0):
                pass
        await graph.close()
        await asyncio.gather(*answering)


@pytest.mark.parametrize(
    ("scheme", "greeting", "sentence"),
    [
        ("bolt", b"\0\0\4\4", "it is older"),
        ("bolt", b"\0\0\0\0", "it speaks no Bolt, or one that is not known here"),
        ("neo4j", b"HTTP/1.1 400 Bad Request\r\n\r\n", "it is a web server; Bolt has a port of its own, 7687"),
        ("bolt+s", b"", r"was reached, but not with TLS \(it hung up\): \[memory\] uri begins with bolt://"),
        ("neo4j+s", b"no TLS\r\n", r"was reached, but not with TLS \(.*\): \[memory\] uri begins with bolt://"),
    ],
)
async def test_who_answers_otherwise_than_a_graph_server_is_told(scheme: str, greeting: bytes, sentence: str) -> None:
    async def hang_up_after(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(greeting)
        writer.close()

    async with await asyncio.start_server(hang_up_after, "127.0.0.1", 0) as other:
        graph = Graph(Neo4jServer(f"{scheme}://127.0.0.1:{other.sockets[0].getsockname()[1]}"))
        with pytest.raises(GraphUnavailable, match=sentence) as caught:
            await graph.read("RETURN 1")
        assert "\n" not in str(caught.value)
        await graph.close()


async def test_an_address_that_is_none_is_told(tmp_path: Path) -> None:
    for uri in ("", "nonsense", "bolt://", "ftp://127.0.0.1"):
        graph = Graph(Neo4jServer(uri))
        with pytest.raises(GraphUnavailable, match=r"\[memory\] uri|cannot be reached"):
            await graph.read("RETURN 1")
        await graph.close()


async def test_a_wrong_password_is_told_without_showing_it(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path) as store:
        server = Neo4jServer((await store.endpoint()).uri, "reader", "a-wrong-password", "graph")
        graph = Graph(server)
        with pytest.raises(
            GraphUnavailable, match=r"does not let us in.*check \[memory\] user and NAKARI_NEO4J_PASSWORD"
        ) as caught:
            await graph.read("RETURN 1")
        await graph.close()
        assert "a-wrong-password" not in f"{caught.value}{server!r}{await server.endpoint()!r}"


async def test_a_full_disk_is_told_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """A disk that is full without being root to make one: the store's files may grow no further."""
    store = EmbeddedStore(tmp_path)
    async with supervised(store) as (graph, _):
        await graph.write("CREATE (:A {id: 0, t: $t})", {"t": "x" * 2000})
        assert store.pid is not None
        largest = max(file.stat().st_size for file in files_of(tmp_path))
        limits = resource.prlimit(store.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        acknowledged, told = await fill_until_refused(graph)
        assert "could not finish the commit, as when the disk is full" in told
        if store.pid is not None:
            resource.prlimit(store.pid, resource.RLIMIT_FSIZE, limits)
        await store.restart()
        found = await graph.read("MATCH (a:A) RETURN count(DISTINCT a.id) AS n")
        assert found.records[0]["n"] in {acknowledged, acknowledged + 1}
        await graph.write("CREATE (:A {id: -1})")


async def fill_until_refused(graph: Graph) -> tuple[int, str]:
    """Return how many writes were acknowledged, one from before included, and what the one that was not was told."""
    for number in range(1, 3000):
        try:
            await graph.write("CREATE (:A {id: $id, t: $t})", {"id": number, "t": "x" * 2000})
        except (GraphUnavailable, GraphRefused) as error:
            return number, str(error)
    pytest.fail("the disk was never full")


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
