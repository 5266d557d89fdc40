"""A disk that is full stops neither the tiers nor, with them, the service: they go on once there is room."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from memory.recall import keep_filled
from memory.state.database import Database
from tests.memory.state.test_tiers import until
from tests.memory.tier_fixtures import a_memory, task

MANY = 200


async def room_for(database: Database, pages: int) -> None:
    """Let a state database grow by no more than so many pages."""

    def limit(connection: sqlite3.Connection) -> None:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {used + pages}").fetchone()

    await database.read(limit)


@pytest.mark.shows("C15", "E13")
async def test_while_the_disk_is_full_they_wait_and_then_go_on(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        for number in range(MANY):
            await memory.journal.append(task(f"{number} {'word ' * 200}", f"e{number}"))
        await room_for(memory.database, 0)
        with capture_logs() as logs:
            async with asyncio.timeout(120), asyncio.TaskGroup() as group:
                loop = group.create_task(keep_filled(memory.tiers, memory.recall, again=0.01))
                while not [line for line in logs if line["event"] == "tiers_not_filled"]:
                    await memory.counts()
                assert not loop.done()
                await room_for(memory.database, 100_000)
                await until(memory, "L1", 50)
                loop.cancel()
    assert "free some disk space" in logs[0]["reason"]
