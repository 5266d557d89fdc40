"""A store that opens as if less had been in it is noticed by the audit log's figures, and made again."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import AuditBroken, GraphRefused
from memory.graph.embedded import checksums
from memory.graph.embedded.folder import DATABASE
from memory.history.audit_record import Kind, Record
from memory.history.erasure import finish_later
from memory.history.repair import rebuild, repair_incomplete
from memory.history.schedule import keep_snapshots
from memory.history.server_integrity import Counts, counted, expected
from memory.json_value import Json
from tests.memory.contract_writes import WRITES
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_repair import ME, Home
from tests.memory.history.test_schedule import Clock, Over

NOW = datetime(2026, 11, 21, tzinfo=UTC)
FIGURES: dict[str, Json] = {"nodes": 10, "relationships": 4}


def told(*records: tuple[Kind, dict[str, Json]]) -> list[Record]:
    return [Record(number, NOW, kind, facts, "", "") for number, (kind, facts) in enumerate(records, 1)]


def kept(**stats: int) -> tuple[Kind, dict[str, Json]]:
    return "outcome", {"of": 1, "committed": True, "stats": {**stats}}


@pytest.mark.parametrize(
    ("records", "should"),
    [
        ([], Counts(0, 0)),
        ([("attempt", {}), kept(nodesCreated=3, relationshipsCreated=2)], Counts(3, 2)),
        ([("snapshot", FIGURES), kept(nodesDeleted=1, relationshipsDeleted=3), kept()], Counts(9, 1)),
        ([kept(nodesCreated=3), ("snapshot", FIGURES)], Counts(10, 4)),
        ([kept(nodesCreated=3), ("attempt", {}), ("outcome", {"of": 2, "committed": False})], Counts(3, 0)),
        ([("snapshot", FIGURES), ("restoring", {}), ("restored", {})], None),
        ([("snapshot", FIGURES), ("erased", {}), kept(nodesCreated=1)], None),
        ([("snapshot", FIGURES), ("erased", {}), ("snapshot", FIGURES), kept(nodesCreated=1)], Counts(11, 4)),
    ],
)
def test_what_must_be_there(records: list[tuple[Kind, dict[str, Json]]], should: Counts | None) -> None:
    assert expected(told(*records)) == should


def test_what_lacks_of_another() -> None:
    assert Counts(1, 5).lacks(Counts(2, 0))
    assert Counts(5, 1).lacks(Counts(0, 2))
    assert not Counts(2, 2).lacks(Counts(2, 2))


def _zeros(content: bytes) -> bytes:
    return b"\0" * len(content)


def _torn(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _bits(content: bytes) -> bytes:
    """Turn a byte over in every fifty, at the beginning, where the records are."""
    turned = bytearray(content)
    for place in range(100, min(len(turned), 4000), 50):
        turned[place] ^= 0xFF
    return bytes(turned)


def damage(home: Home, how: Callable[[bytes], bytes]) -> None:
    """Damage the records of one label, and nothing that is read at the start, as a crash leaves it: without a seal."""
    (home.store.folder / checksums.FILE).unlink()
    files = [file for file in (home.store.folder / "databases" / DATABASE).glob("A_*") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(how(file.read_bytes()))


@pytest.mark.shows("C15", "C11")
@SESSION
@pytest.mark.parametrize("how", [_zeros, _torn, _bits])
async def test_a_store_that_opens_with_less_in_it_is_made_again(tmp_path: Path, how: Callable[[bytes], bytes]) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
        should = await counted(home.writer.graph)
    assert should == Counts(80, 40)
    damage(home, how)
    async with home.supervised():
        found = await counted(home.writer.graph)
        assert found is None or found.lacks(should)
        await finish_later(home.writer, home.store)
        assert await counted(home.writer.graph) == should
        assert await home.looks("again") == grown
        assert (await home.snapshots.listed())[-1].reason == "after it was made again"
    assert home.store.folder_before.is_dir()


@pytest.mark.shows("C12", "C15")
@SESSION
async def test_a_snapshot_on_schedule_is_not_taken_of_a_damaged_store(tmp_path: Path) -> None:
    home, clock = Home(tmp_path), Clock(6 * 24 * 2, datetime.now(UTC))  # as its audit log has it
    async with home.supervised():
        await home.grow()
    damage(home, _zeros)
    async with home.supervised():
        with pytest.raises(Over):
            await keep_snapshots(
                home.writer, clock.now, clock.pause, see_whole=lambda: repair_incomplete(home.writer, home.store)
            )
        last = (await home.snapshots.listed())[-1]
        assert (last.reason, last.nodes, last.relationships) == ("on schedule", 80, 40)


@pytest.mark.shows("C15")
@SESSION
async def test_a_store_that_is_whole_is_left_alone_also_where_the_figures_are_wrong(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await home.grow()
        pid = home.store.pid
        await repair_incomplete(home.writer, home.store)
        taken = len(await home.snapshots.listed())
        await home.audit.append("outcome", {"of": 1, "committed": True, "stats": {"nodesCreated": 7}})
        for _ in range(2):
            await repair_incomplete(home.writer, home.store)
        assert home.store.pid == pid
        reasons = [one.reason for one in await home.snapshots.listed()][taken:]
        assert reasons == ["counted anew"]


@pytest.mark.shows("C15", "C4")
@SESSION
async def test_the_figures_of_statements_as_models_write_them_are_the_stores(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await home.writer.write("UNWIND range(1, 4) AS i CREATE (:A {id: i})-[:L {w: i}]->(:A {id: -i})", {}, ME)
        for case in WRITES:
            with suppress(GraphRefused):
                await home.writer.write(case.cypher, case.params, ME)
            assert await counted(home.writer.graph) == expected(home.audit.records()), case.cypher


@pytest.mark.shows("C11", "C15")
@SESSION
async def test_with_a_damaged_audit_log_nothing_is_made_again_and_writing_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await home.grow()
    [file] = (tmp_path / "audit").iterdir()
    first, _, last = file.read_bytes().rpartition(b'"kind":"attempt"')
    file.write_bytes(first + b'"kind":"attempu"' + last)
    home = Home(tmp_path)
    async with home.supervised():
        pid = home.store.pid
        await repair_incomplete(home.writer, home.store)
        await finish_later(home.writer, home.store)
        assert (home.store.pid, await counted(home.writer.graph)) == (pid, Counts(80, 40))
        await home.writer.write("CREATE (:C)", {}, ME)
        [*_, saved] = await home.snapshots.listed()
        assert saved.reason == "after a write of which nobody knows whether it was kept"
        grown = await home.looks("goes on")
    shutil.rmtree(home.store.folder)
    assert (await rebuild(home.store, home.audit, home.snapshots)).is_exact
    async with home.supervised():
        assert await home.looks("again") == grown
    saved.path.unlink()  # then what was lost is needed
    with pytest.raises(AuditBroken, match="record 4 of the audit log is lost"):
        await rebuild(home.store, home.audit, home.snapshots)
