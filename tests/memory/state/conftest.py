"""What the tests of the state share: its database, new and open."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.state.database import Database
from memory.state.journal import SCHEMA


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    yield database
    await database.close()
