"""An audit log that a household's machines share: each has all of it, and one that no longer leads adds nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memory.errors import AuditBroken, Superseded
from memory.history.audit import AuditLog
from memory.history.audit_anchor import AuditLines
from memory.state.replicated import ReplicatedDatabase
from tests.engine_fake import FakeEngine, FakeServer

pytestmark = pytest.mark.shows("H10")


@dataclass
class Machine:
    """A machine, its copy of the state, and the audit logs that it opened."""

    folder: Path
    state: ReplicatedDatabase
    behind: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def log(self) -> AsyncIterator[AuditLog]:
        """Open the log, as the box does when this machine leads."""
        shared = (AuditLines(self.state), lambda: self.behind.append("put aside"))
        log = AuditLog(self.folder / "audit", shared=shared)
        try:
            yield log
        finally:
            log.close()

    def lines(self) -> bytes:
        """Return the files' content."""
        return b"".join(file.read_bytes() for file in sorted((self.folder / "audit").glob("*.jsonl")))


@asynccontextmanager
async def two(folder: Path) -> AsyncIterator[tuple[Machine, Machine]]:
    server, machines = FakeServer(), []
    for name in ("attic", "cellar"):
        engine = FakeEngine(server)
        await engine.open()
        state = ReplicatedDatabase(folder / name / "nakari.db", engine, household="home", machine=name)
        await state.open()
        machines.append(Machine(folder / name, state))
    try:
        yield machines[0], machines[1]
    finally:
        for machine in machines:
            await machine.state.close()


async def wrote(log: AuditLog, words: str) -> None:
    """Have a write in the log, as the writer of the graph does."""
    attempt = await log.append("attempt", {"event_id": "e"}, {"cypher": words, "params": {}})
    await log.append("outcome", {"of": attempt.seq, "committed": True})


async def test_the_second_has_the_whole_log_of_the_first_and_goes_on_with_it(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, cellar):
        await attic.state.lead(1)
        async with attic.log() as log:
            await wrote(log, "CREATE (:Fact)")
            await log.append("attempt", {"event_id": "e"}, {"cypher": "CREATE (:Open)", "params": {}})
        await cellar.state.lead(2)
        async with cellar.log() as log:
            assert [record.seq for record in await log.open()] == [3], "what was under way has no outcome there either"
            assert cellar.lines() == attic.lines()
            assert cellar.behind == ["put aside"], "its graph lacks what the other wrote"
            await log.append("outcome", {"of": 3, "committed": None})
            await wrote(log, "CREATE (:Other)")
            assert await log.verify() == 6
        await attic.state.lead(3)
        async with attic.log() as log:
            assert await log.open() == []
            assert attic.behind == ["put aside"]
            assert attic.lines() == cellar.lines()


async def test_who_leads_again_with_nothing_new_keeps_its_graph(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, _):
        for epoch in (1, 2):
            await attic.state.lead(epoch)
            async with attic.log() as log:
                await wrote(log, "CREATE (:Fact)")
        assert attic.behind == []


async def test_a_stale_mind_writes_nothing_down_and_so_changes_nothing(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, cellar):
        await attic.state.lead(1)
        async with attic.log() as log:
            await wrote(log, "CREATE (:Fact)")
            before = attic.lines()
            await cellar.state.lead(2)
            with pytest.raises(Superseded):
                await log.append("attempt", {"event_id": "e"}, {"cypher": "CREATE (:Stale)", "params": {}})
        assert attic.lines() == before


async def test_a_line_that_came_late_is_taken_up_and_not_written_twice(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, _):
        await attic.state.lead(1)
        async with attic.log() as log:
            await wrote(log, "CREATE (:Fact)")
        (last,) = [*(tmp_path / "attic" / "audit").glob("*.jsonl")]
        whole = last.read_bytes()
        last.write_bytes(whole[: whole.index(b"\n") + 1])  # it died between the engine's disk and its own
        async with attic.log() as log:
            await wrote(log, "CREATE (:Next)")
            assert await log.verify() == 4
        assert attic.lines().startswith(whole)
        assert attic.behind == [], "it was its own"


async def test_what_is_erased_leaves_every_machine(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, cellar):
        await attic.state.lead(1)
        async with attic.log() as log:
            await wrote(log, "CREATE (:Secret)")
        await cellar.state.lead(2)
        async with cellar.log() as log:
            assert await log.erase([1]) == 1
        await attic.state.lead(3)
        async with attic.log() as log:
            await log.open()
            assert await log.verify() == 3
        rows = await attic.state.read(lambda c: c.execute("SELECT line FROM audit_lines").fetchall())
        for copy in (attic.lines(), cellar.lines(), b"".join(row["line"] for row in rows)):
            assert b"Secret" not in copy
            assert copy.count(b"\n") == 3


async def test_a_log_of_one_machine_is_shared_when_it_gets_company(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, cellar):
        log = AuditLog(tmp_path / "attic" / "audit")
        await wrote(log, "CREATE (:Before)")
        log.close()
        await attic.state.lead(1)
        async with attic.log() as log:
            await wrote(log, "CREATE (:Fact)")
        await cellar.state.lead(2)
        async with cellar.log() as log:
            assert await log.verify() == 0, "nothing is read before it is opened"
            await log.open()
            assert await log.verify() == 4


async def test_the_log_of_another_graph_is_not_mixed_with_the_household_s(tmp_path: Path) -> None:
    async with two(tmp_path) as (attic, cellar):
        await attic.state.lead(1)
        async with attic.log() as log:
            await wrote(log, "CREATE (:Fact)")
        other = AuditLog(tmp_path / "cellar" / "audit")
        await wrote(other, "CREATE (:Other)")
        other.close()
        await cellar.state.lead(2)
        async with cellar.log() as log:
            with pytest.raises(AuditBroken, match="another graph"):
                await log.open()
        assert cellar.behind == []
