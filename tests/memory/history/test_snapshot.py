"""Snapshots in a real folder, of a real store: whole and named in the audit log, or nothing of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.snapshot import Snapshots
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [pytest.mark.shows("C12"), SESSION]


@pytest_asyncio.fixture(loop_scope="session")
async def snapshots(tmp_path: Path) -> AsyncIterator[Snapshots]:
    audit = AuditLog(tmp_path / "audit")
    yield Snapshots(tmp_path / "snapshots", audit)
    audit.close()


def files(snapshots: Snapshots) -> list[str]:
    return sorted(file.name for file in snapshots.folder.iterdir())


async def test_what_a_kill_left_half_written_is_gone_with_the_next(embedded: Graph, snapshots: Snapshots) -> None:
    snapshots.folder.mkdir()
    (snapshots.folder / "20261121T080000000000Z.graph.new").write_bytes(b"words of somebody")
    (snapshots.folder / "20261120T080000000000Z.graph.gz").write_bytes(b"put there by somebody")
    taken = await snapshots.take(embedded, "asked for")
    assert files(snapshots) == ["20261120T080000000000Z.graph.gz", taken.path.name]


async def test_every_file_is_named_in_the_log_before_it_is_there(embedded: Graph, snapshots: Snapshots) -> None:
    """Cut off in between, a file that the log does not name would be thinned, and cleaned of forgotten words, never."""
    seen: list[list[str]] = []
    now = snapshots._audit._now

    def look() -> object:
        seen.append(files(snapshots))
        return now()

    snapshots._audit._now = look  # type: ignore[assignment]
    taken = await snapshots.take(embedded, "asked for")
    assert seen == [[taken.path.with_suffix(".new").name]]
    assert await snapshots.listed() == [taken]


async def test_one_that_is_cancelled_leaves_nothing(embedded: Graph, snapshots: Snapshots) -> None:
    await embedded.write("UNWIND range(1, 2000) AS i CREATE (:A {i: i, t: 'tea ' + i})")
    begun = asyncio.Event()
    at = snapshots._now()

    def now() -> object:
        begun.set()
        return at

    snapshots._now = now  # type: ignore[assignment]
    async with asyncio.TaskGroup() as group:
        taking = group.create_task(snapshots.take(embedded, "asked for"))
        await begun.wait()
        taking.cancel()
    assert await snapshots.listed() == []
    assert not snapshots.folder.exists() or files(snapshots) == []
