"""A write cut off between its commit and the audit log's word of it, on a real store."""

import asyncio
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.graph.embedded.index_builder import IndexBuilder
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from tests.memory.history.test_writer import ME, told, writer_in


class Noticing(IndexBuilder):
    """Notices that a write was committed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.committed = asyncio.Event()

    def wrote(self, counters: Mapping[str, int]) -> None:
        super().wrote(counters)
        self.committed.set()


@pytest.mark.shows("C11", "C15")
async def test_a_write_that_is_cancelled_before_its_outcome_is_written_down_is_found_out(tmp_path: Path) -> None:
    """The log is busy, so that the outcome waits, and is taken back with who waits for it: yet it was kept."""
    noticing = Noticing(tmp_path / "graph")
    store = EmbeddedStore(tmp_path / "graph", indexes=noticing)
    busy = threading.Event()
    async with store:
        writer = writer_in(tmp_path, Graph(store))

        def now() -> datetime:
            writer.audit._thread.submit(busy.wait)  # behind the attempt, before the outcome
            return datetime.now(UTC)

        writer.audit._now = now
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(writer.write("CREATE (:A)", {}, ME))
            await noticing.committed.wait()
            writing.cancel()
        busy.set()
        await writer.write("CREATE (:B)", {}, ME)
        assert told(writer)[:4] == [("attempt", None), ("snapshot", None), ("outcome", None), ("attempt", None)]
        [snapshot] = await writer.snapshots.listed()
        assert snapshot.nodes == 1
        await writer.graph.close()
    writer.audit.close()
