"""The store of the box as a process of ours: started, served to us alone, stopped, started again."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import asdict
from structlog.testing import capture_logs

from memory.errors import GraphUnavailable
from memory.graph.embedded import checksums
from memory.graph.embedded.folder import DATABASE, Unstartable
from memory.graph.embedded.server import Settings, groups, held
from memory.graph.embedded.store import (
    EmbeddedStore,
    State,
)
from memory.graph.graph import Graph
from tests.memory.graph_looks import Process
from tests.room.virtual_time import passed

ROOT = Path(__file__).resolve().parents[4]


def contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


def waits(pid: int) -> dict[str, int]:
    """Return how often each thread of a process has waited for something so far."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            told = re.search(
                r"^voluntary_ctxt_switches:\s*(\d+)", (thread / "status").read_text("ascii", "replace"), re.M
            )
            assert told
            found[thread.name] = int(told[1])
    return found


def libraries(pid: int | None) -> str:
    """Return what a process has mapped into its memory, by the names of the files."""
    return Path(f"/proc/{pid}/maps").read_text("utf-8")


async def test_it_starts_serves_and_stops(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "graph")
    async with store:
        assert store.state is State.READY
        assert store.pid is not None
        child = Process(store.pid)
        endpoint = await store.endpoint()
        assert endpoint.uri.startswith("bolt://127.0.0.1:")
    assert child.ends_within(0)
    with pytest.raises(GraphUnavailable, match="it was stopped"):
        await store.endpoint()


@pytest.mark.shows("H9")
async def test_it_loads_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path / "graph") as store:
        loaded = libraries(store.pid)
    assert "libarcadedb" in loaded
    assert [name for name in ("numpy", "_asyncio") if name in loaded] == []


async def test_nobody_asks_it_and_it_hardly_wakes(tmp_path: Path) -> None:
    """Its engine's clock alone would wake a hundred times a second, and fifty on a machine that is very busy."""
    async with EmbeddedStore(tmp_path / "graph") as store:
        assert store.pid is not None
        before = waits(store.pid)
        assert not Process(store.pid).ends_within(2.0)
        after = waits(store.pid)
    assert sum(after[each] - before[each] for each in before.keys() & after.keys()) < 2 * 35


async def test_one_that_takes_longer_than_it_may_is_ended_and_may_be_tried_again(tmp_path: Path) -> None:
    impatient = EmbeddedStore(tmp_path / "graph", start_seconds=0.001)
    with pytest.raises(GraphUnavailable, match=r"it did not start within 0\.001 s"):
        await impatient.start()
    assert impatient.state is State.DOWN
    async with EmbeddedStore(tmp_path / "graph") as store:
        assert store.state is State.READY


@pytest.mark.parametrize("name", ["graph", "a folder with spaces", "记忆"])
async def test_what_was_written_is_there_after_a_restart(tmp_path: Path, name: str) -> None:
    """Two starts, two ports, two sets of passwords, one graph object."""
    store = EmbeddedStore(tmp_path / name / "graph")
    graph = Graph(store)
    async with store:
        await graph.write("CREATE (:`人` {名字: $n})", {"n": "小明"})
        first = await store.endpoint()
    async with store:
        assert (await graph.read("MATCH (a:`人`) RETURN a.名字 AS n")).records == [{"n": "小明"}]
        second = await store.endpoint()
    await graph.close()
    assert first.writer != second.writer


async def test_a_restart_that_was_asked_for_is_no_error_in_the_log(tmp_path: Path) -> None:
    with capture_logs() as told:
        store = EmbeddedStore(tmp_path)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(store.run())
            await store.until(State.READY)
            await store.restart()
            running.cancel()
    assert ("graph_store_ended", "info") in [(each["event"], each["log_level"]) for each in told]
    assert "error" not in {each["log_level"] for each in told}


async def test_two_stores_are_two_graphs(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path / "one") as one, EmbeddedStore(tmp_path / "two") as two:
        first, second = Graph(one), Graph(two)
        await first.write("CREATE (:A)")
        assert (await second.read("MATCH (n) RETURN count(n) AS n")).records == [{"n": 0}]
        await first.close()
        await second.close()


async def test_a_folder_has_one_store_at_a_time(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path) as first:
        second = EmbeddedStore(tmp_path)
        with pytest.raises(GraphUnavailable, match="in use by another nakari"):
            await second.start()
        assert second.state is State.DOWN
        graph = Graph(first)
        assert (await graph.read("RETURN 1 AS x")).records == [{"x": 1}]
        await graph.close()


async def test_a_port_that_is_asked_for_is_served(tmp_path: Path, unused_tcp_port: int) -> None:
    store = EmbeddedStore(tmp_path, unused_tcp_port)
    for _ in range(2):  # again at once: connections of the first start may still be in TIME_WAIT
        async with store:
            assert (await store.endpoint()).uri == f"bolt://127.0.0.1:{unused_tcp_port}"
            graph = Graph(store)
            await graph.read("RETURN 1")
            await graph.close()


@pytest.mark.shows("C15")
async def test_a_busy_port_is_named_with_its_setting_and_taken_once_it_is_free(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        store = EmbeddedStore(tmp_path, port)
        with pytest.raises(GraphUnavailable, match=rf"port {port} of 127\.0\.0\.1.*\[memory\] bolt_port"):
            await store.start()
        assert (store.state, store.pid) == (State.DOWN, None)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(store.run())
            await store.until(State.STARTING)
            await store.until(State.DOWN)
            assert f"port {port}" in store.reason
            busy.close()
            await store.until(State.READY)
            running.cancel()
    assert store.state is State.STOPPED


async def test_a_port_lost_while_it_starts_is_named_and_no_damage(tmp_path: Path) -> None:
    with socket.socket() as rival:
        rival.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        rival.bind(("127.0.0.1", 0))
        port = rival.getsockname()[1]
        store = EmbeddedStore(tmp_path, port)

        async def refused() -> None:
            with pytest.raises(GraphUnavailable, match=rf"port {port} of 127\.0\.0\.1.*\[memory\] bolt_port"):
                await store.start()

        async with asyncio.TaskGroup() as group:
            group.create_task(refused())
            while not (tmp_path / "config" / "server-groups.json").exists():  # written once it has its ports
                await passed(0.001)
            rival.listen()
    assert not store.is_damaged


def test_a_held_port_is_nobody_elses_and_can_be_listened_on() -> None:
    with held(0) as port:
        with pytest.raises(OSError, match="in use"), socket.socket() as another:
            another.bind(("127.0.0.1", port))
        with socket.create_server(("127.0.0.1", port)) as listening:  # sets SO_REUSEADDR, as Java does
            assert listening.getsockname()[1] == port
            with pytest.raises(Unstartable, match=f"port {port}"), held(port):
                pass


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(GraphUnavailable, match=r"file/graph of the memory cannot be written.*\[state\] folder"):
        await EmbeddedStore(tmp_path / "file" / "graph").start()


@pytest.mark.parametrize(
    ("file", "is_sealed", "told"),
    [
        ("schema.json", True, "is damaged .*schema.json was changed since it was stopped"),
        ("schema.json", False, "is damaged, .*schema.json cannot be read"),
        ("configuration.json", False, "does not open"),
    ],
)
async def test_a_damaged_store_says_so_and_is_left_as_it_is(
    tmp_path: Path, file: str, is_sealed: bool, told: str
) -> None:
    async with EmbeddedStore(tmp_path) as store:
        graph = Graph(store)
        await graph.write("CREATE (:A)")
        await graph.close()
    damaged = tmp_path / "databases" / "graph" / file
    sound = damaged.read_text(encoding="utf-8")
    damaged.write_text("{ not json{ not json", encoding="utf-8")
    if not is_sealed:
        (tmp_path / checksums.FILE).unlink()  # as after a crash
    with pytest.raises(GraphUnavailable, match=told):
        await EmbeddedStore(tmp_path).start()
    damaged.write_text(sound, encoding="utf-8")
    async with EmbeddedStore(tmp_path) as store:
        graph = Graph(store)
        assert (await graph.read("MATCH (a:A) RETURN count(a) AS n")).records == [{"n": 1}]
        await graph.close()


async def test_it_listens_on_this_machine_only_and_tells_nobody_its_passwords(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path) as store:
        assert store.pid is not None
        child, endpoint = Process(store.pid), await store.endpoint()
        assert len(child.listens_on()) == 2
        assert set(child.listens_on()) <= {
            "0100007F",
            "0000000000000000FFFF00000100007F",
        }  # 127.0.0.1, ::ffff:127.0.0.1
        for login in (endpoint.reader, endpoint.writer):
            assert login is not None
            assert login[1] not in child.of_it("cmdline") + child.of_it("environ") + repr(endpoint)
            assert login[1].encode() not in b"".join(contents(tmp_path))


def test_its_files_are_ours_alone(tmp_path: Path) -> None:
    async def start() -> None:
        async with EmbeddedStore(tmp_path):
            pass

    asyncio.run(start())
    assert [path for path in tmp_path.rglob("*") if path.stat().st_mode & 0o077] == []


async def test_it_may_open_many_files(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path) as store:
        assert store.pid is not None
        found = re.search(r"Max open files\s+(\d+)\s+(\d+)", Process(store.pid).of_it("limits"))
        assert found is not None
        assert int(found[1]) == min(65_536, int(found[2]))


async def test_ctrl_c_a_closed_terminal_and_systemds_sigterm_are_not_for_the_child(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path) as store:
        assert store.pid is not None
        os.kill(store.pid, signal.SIGINT)
        os.kill(store.pid, signal.SIGTERM)
        os.kill(store.pid, signal.SIGHUP)
        graph = Graph(store)
        await graph.write("CREATE (:A)")
        assert store.state is State.READY
        await graph.close()


def test_too_little_memory_is_no_damage(tmp_path: Path) -> None:
    limited = ["sh", "-c", 'ulimit -v 1500000; exec "$0" -m memory.graph.embedded.server', sys.executable]
    settings = Settings(
        folder=str(tmp_path / "graph"),
        bolt_port=0,
        heap_megabytes=64,
        statement_seconds=5.0,
        reader_password="r" * 16,
        writer_password="w" * 16,
        root_password="o" * 16,
        as_it_is=False,
        parent=os.getpid(),
    )
    line = json.dumps(asdict(settings)) + "\n"
    done = subprocess.run(limited, input=line, capture_output=True, text=True, cwd=ROOT, timeout=30, check=False)
    told = json.loads(done.stdout)
    assert told["error"].startswith("there is not enough memory to start the memory's own store"), told
    assert not told["damaged"]


def test_kill_9_of_the_parent_leaves_no_orphan_and_no_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.memory.embedded_parent", str(tmp_path)]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
            assert parent.stdout is not None
            pid = next(line.split()[1] for line in parent.stdout if line.startswith("child "))
            child = Process(int(pid))
            parent.kill()
            assert child.ends_within(5)

    async def count() -> object:
        async with EmbeddedStore(tmp_path) as store:
            graph = Graph(store)
            found = await graph.read("MATCH (a:A) RETURN count(a) AS n")
            await graph.close()
        return found.records

    assert asyncio.run(count()) == [{"n": 2}]


@pytest.mark.network
async def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    """Without the flush mode set on the handle the store never asks for it."""
    trace = tmp_path / "trace"
    async with EmbeddedStore(tmp_path / "graph") as store:
        graph = Graph(store)
        await graph.write("CREATE (:A {x: 0})")
        assert store.pid is not None
        command = ["strace", "-f", "-e", "trace=fsync,fdatasync,msync", "-o", str(trace), "-p", str(store.pid)]
        strace = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        assert strace.stderr is not None
        assert b"attached" in await strace.stderr.readline()
        for x in range(1, 11):
            await graph.write("CREATE (:A {x: $x})", {"x": x})
        strace.terminate()
        await strace.communicate()
        await graph.close()
    assert len(re.findall(r"\b(?:fsync|fdatasync|msync)\(", trace.read_text(encoding="utf-8"))) >= 10


def test_the_reader_may_only_read() -> None:
    found = json.loads(json.dumps(groups()))["databases"][DATABASE]["groups"]
    assert found["reader"]["access"] == []
    assert found["reader"]["types"] == {"*": {"access": ["readRecord"]}}
    assert "updateSecurity" not in found["writer"]["access"]
    assert found["*"]["types"] == {"*": {"access": []}}
