"""A store that was stopped is sealed: what the disk changes in it afterwards is noticed, and nothing else is."""

import itertools
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from memory.errors import GraphUnavailable
from memory.graph.embedded import checksums
from memory.graph.embedded.checksums import Differs, Sum, compare, remove, write
from memory.graph.embedded.folder import DATABASE
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.history.server_integrity import Counts, counted
from tests.memory.graph_looks import SESSION, Process
from tests.memory.history.test_repair import ME, Home

PAGES = "A_0.1.16384.v0.bucket"
NOT_THE_STORES = {".instance.id", "schema.prev.json"}
"""What the engine leaves in its folder and does not read."""


def store_like(folder: Path, seed: int = 1) -> Path:
    """Make a folder with files named as the engine names them; return the database's."""
    database = folder / "databases" / DATABASE
    database.mkdir(parents=True)
    (folder / "config").mkdir()
    (folder / "config" / "server-users.jsonl").write_text("salt 1")
    chance = random.Random(seed)
    for name in (PAGES, "小明_0.2.16384.v0.bucket", "next_0_in_edges.3.16384.v0.bucket", "dictionary.0.65536.v1.dict"):
        (database / name).write_bytes(chance.randbytes(3000))
    (database / "schema.json").write_text('{"types": {}}')
    return database


def flip(file: Path, place: int, mask: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= mask
    file.write_bytes(content)


@pytest.mark.shows("C15")
def test_every_flipped_byte_is_noticed_and_named(tmp_path: Path) -> None:
    database = store_like(tmp_path)
    write(tmp_path, {})
    assert len(compare(tmp_path)) == 5
    chance = random.Random(20261121)
    for file in sorted(database.iterdir()):
        for _ in range(20):
            place, mask = chance.randrange(file.stat().st_size), 1 << chance.randrange(8)
            flip(file, place, mask)
            with pytest.raises(Differs, match=f"databases/graph/{file.name} was changed"):
                compare(tmp_path)
            flip(file, place, mask)
    assert len(compare(tmp_path)) == 5


def torn(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1000])


def grown(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("harm", [torn, grown, a_folder, Path.unlink])
def test_other_harm_is_noticed_too(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    database = store_like(tmp_path)
    write(tmp_path, {})
    harm(database / PAGES)
    with pytest.raises(Differs, match=PAGES):
        compare(tmp_path)


@pytest.mark.shows("C15")
def test_what_is_not_the_engines_is_nobodys_damage(tmp_path: Path) -> None:
    database = store_like(tmp_path)
    for name in (".DS_Store", f"._{PAGES}", f"{PAGES}~", "schema.json.bak", "Thumbs.db", "schema.prev.json"):
        (database / name).write_text("foreign")
    (database / f"a.9.{PAGES}").mkdir()
    write(tmp_path, {})
    assert len(compare(tmp_path)) == 5
    for file in filter(Path.is_file, list(database.iterdir())):
        if file.read_bytes() == b"foreign":
            file.unlink()
    assert len(compare(tmp_path)) == 5


def test_a_seal_of_another_start_says_nothing(tmp_path: Path) -> None:
    """As where a program that knows no seal had the store since, or another copy was laid over the folder."""
    database = store_like(tmp_path)
    write(tmp_path, {})
    (tmp_path / "config" / "server-users.jsonl").write_text("salt 2")
    grown(database / PAGES)
    assert compare(tmp_path) == {}


def test_a_flipped_seal_says_nothing(tmp_path: Path) -> None:
    store_like(tmp_path)
    write(tmp_path, {})
    whole = (tmp_path / checksums.FILE).read_bytes()
    chance = random.Random(7)
    for _ in range(300):
        flip(tmp_path / checksums.FILE, chance.randrange(len(whole)), 1 << chance.randrange(8))
        assert len(compare(tmp_path)) in (0, 5)  # upper and lower case are the same number
        (tmp_path / checksums.FILE).write_bytes(whole)
    (tmp_path / checksums.FILE).write_bytes(whole[:-20])
    assert compare(tmp_path) == {}


def test_what_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    database = store_like(tmp_path)
    write(tmp_path, {})
    known = {name: Sum(each.size, 12345, each.changed) for name, each in compare(tmp_path).items()}
    grown(database / PAGES)
    remove(tmp_path)
    write(tmp_path, known)
    sealed = json.loads((tmp_path / checksums.FILE).read_bytes().partition(b" ")[2])["files"]
    assert {name for name, (_, crc) in sealed.items() if crc != 12345} == {f"databases/graph/{PAGES}"}


def test_what_there_was_no_time_to_read_is_not_known_of(tmp_path: Path) -> None:
    database = store_like(tmp_path)
    (database / "schema.json").write_bytes(b"{}")  # the smallest, read first
    ticks = itertools.count()
    write(tmp_path, {}, seconds=3.5, clock=lambda: float(next(ticks)))
    torn(database / PAGES)
    assert list(compare(tmp_path)) == ["databases/graph/schema.json"]


def test_a_start_compares_sizes_where_there_is_no_time_to_read(tmp_path: Path) -> None:
    database = store_like(tmp_path)
    write(tmp_path, {})
    ticks = itertools.count()
    flip(database / PAGES, 5, 1)
    known = compare(tmp_path, seconds=0, clock=lambda: float(next(ticks)))
    remove(tmp_path)
    write(tmp_path, known)
    with pytest.raises(Differs, match=PAGES):  # what was not read has the checksum that it had
        compare(tmp_path)
    grown(database / PAGES)
    with pytest.raises(Differs, match=PAGES):
        compare(tmp_path, seconds=0, clock=lambda: float(next(ticks)))


async def grow(store: EmbeddedStore) -> None:
    graph = Graph(store)
    await graph.write("UNWIND range(1, 40) AS i CREATE (:A {i: i, name: 'somebody'})-[:next]->(:B {at: datetime()})")
    await graph.write("CREATE INDEX FOR (a:A) ON (a.i)")
    await graph.close()


@pytest.mark.shows("C15")
async def test_the_real_store_is_sealed_whole_at_each_stop_and_at_none_else(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "graph")
    async with store:
        await grow(store)
        assert not (store.folder / checksums.FILE).exists()
    for _ in range(2):
        files = {path for path in (store.folder / "databases").rglob("*") if path.is_file()}
        assert len(compare(store.folder)) == len({path for path in files if path.name not in NOT_THE_STORES})
        async with store:
            assert not (store.folder / checksums.FILE).exists()
    async with store:
        assert store.pid is not None
        child = Process(store.pid)
        os.kill(store.pid, 9)
        assert child.ends_within(5)
    assert not (store.folder / checksums.FILE).exists()
    async with store:
        graph = Graph(store)
        assert await counted(graph) == Counts(80, 40)
        await graph.close()


@pytest.mark.shows("C15")
async def test_what_lies_about_in_the_real_stores_folder_is_left_alone(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "graph")
    async with store:
        await grow(store)
    database = store.folder / "databases" / DATABASE
    [records] = database.glob("A_0.*.bucket")
    for name in (f"._{records.name}", ".DS_Store", f"{records.name}~", "schema.json.bak"):
        (database / name).write_text("foreign")
    for name in ("subfolder", f"Z_0.99.{records.name}", "../lost+found", "../../log/server-event-log-1.jsonl"):
        (database / name).mkdir()
    (store.folder / f"{checksums.FILE}.bak").mkdir()
    async with store:
        graph = Graph(store)
        assert await counted(graph) == Counts(80, 40)
        await graph.close()
    assert compare(store.folder)
    assert (store.folder / f"._{records.name}").read_text() == "foreign"
    (store.folder / checksums.FILE).unlink()
    (store.folder / checksums.FILE).mkdir()  # a folder where a file should be: nothing is known, and it starts
    async with store:
        assert store.state is State.READY


@pytest.mark.shows("C15", "C12")
async def test_a_copy_of_the_folder_is_as_good(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "graph")
    async with store:
        await grow(store)
    ways = {"sealed": shutil.copy, "as after a crash": shutil.copy2}  # the second one keeps the times of the files
    for name, way in ways.items():
        shutil.copytree(store.folder, tmp_path / name, copy_function=way)
    (tmp_path / "as after a crash" / checksums.FILE).unlink()
    async with store:
        graph = Graph(store)
        await graph.write("MATCH (a:A) SET a.name = 'somebody else, of a longer name'")
        await graph.close()
    for name, way in ways.items():  # an older copy laid over the folder, as people do it
        shutil.copytree(tmp_path / name, store.folder, copy_function=way, dirs_exist_ok=True)
        async with store:
            graph = Graph(store)
            assert (await graph.read("MATCH (a:A {name: 'somebody'}) RETURN count(a) AS n")).records == [{"n": 40}]
            await graph.close()


@pytest.mark.shows("C15", "C11")
@SESSION
async def test_a_value_that_the_disk_changed_is_made_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await home.writer.write("UNWIND range(1, 40) AS i CREATE (:A {i: i, name: 'somebody'})-[:next]->(:B)", {}, ME)
        grown = await home.looks("grown")
    [records] = (home.store.folder / "databases" / DATABASE).glob("A_0.*.bucket")
    flip(records, records.read_bytes().index(b"somebody"), 1)
    with capture_logs() as told:
        async with home.supervised():
            assert await home.looks("again") == grown
    [damage] = [line for line in told if line["log_level"] == "error"]
    assert damage["event"] == "graph_damaged"
    assert f"databases/graph/{records.name} was changed since it was stopped" in damage["reason"]
    assert home.store.folder_before.is_dir()


@pytest.mark.shows("C15", "C11")
@SESSION
async def test_what_nothing_better_can_be_made_of_is_taken_as_it_is_and_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await home.writer.graph.write("CREATE (:A {name: 'somebody'})")  # no audit log knows of it
    [records] = (home.store.folder / "databases" / DATABASE).glob("A_0.*.bucket")
    flip(records, records.read_bytes().index(b"somebody"), 1)
    with pytest.raises(GraphUnavailable, match="was changed since it was stopped"):
        await EmbeddedStore(home.store.folder).start()
    with capture_logs() as told:
        async with home.supervised():
            assert (await home.writer.graph.read("MATCH (a:A) RETURN a.name AS n")).records == [{"n": "romebody"}]
    assert [line["event"] for line in told if line["log_level"] == "error"] == ["graph_damaged", "graph_not_rebuilt"]
    async with home.supervised():
        assert home.store.state is State.READY
    assert not home.store.folder_before.exists()
