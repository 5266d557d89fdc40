"""What every store promises as a `Kept`: the state database, the store of the box, a server.

What only graphs promise is in graph/test_contract, on the last two; what mailboxes promise, each on such a store, is in
tests/agent/mailbox/test_contract.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memory.errors import MemoryFailure
from memory.graph.graph import Graph
from memory.kept import Kept
from memory.state.database import Database
from tests.memory.graph_looks import SESSION
from tests.memory.stores import KINDS, Trial

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("F15")]

MARKED = [pytest.param(name, marks=pytest.mark.neo4j) if name == "neo4j" else name for name in KINDS]


@pytest_asyncio.fixture(params=MARKED, loop_scope="session")
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Trial[Any]]:
    async with KINDS[request.param](tmp_path, lambda: str(request.getfixturevalue("neo4j_uri"))) as store:
        yield store


async def test_what_was_kept_is_there_for_the_next_process(store: Trial[Any]) -> None:
    await store.keep(2, 1)
    await store.keep(3)
    assert await store.kept() == [1, 2, 3]
    await store.leave()
    await store.come_back()
    assert await store.kept() == [1, 2, 3]


async def test_a_change_is_whole_or_not_at_all(store: Trial[Any]) -> None:
    with pytest.raises(Exception, match=r"nothing|zero"):
        await store.fail_after(1)
    assert await store.kept() == []
    await store.keep(1)
    assert await store.kept() == [1]


async def test_the_door_for_reading_changes_nothing(store: Trial[Any]) -> None:
    with pytest.raises(Exception, match=r"readonly|only reads"):
        await store.break_in(1)
    assert await store.kept() == []


async def test_changes_at_once_are_all_kept(store: Trial[Any]) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(12):
            group.create_task(store.keep(number))
    assert await store.kept() == [*range(12)]


async def test_a_change_that_was_cancelled_is_whole_or_not_there_and_the_next_one_is_kept(store: Trial[Any]) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(store.keep(*range(50)))
        await asyncio.sleep(0)
        task.cancel()
    await store.keep(99)
    assert await store.kept() in ([99], [*range(50), 99])


async def test_it_may_be_let_go_of_twice(store: Trial[Any]) -> None:
    await store.keep(1)
    await store.leave()
    await store.leave()
    await store.come_back()
    assert await store.kept() == [1]


async def test_each_store_of_the_program_is_on_trial() -> None:
    """A new one that declares the interface is to be added to `KINDS`."""
    assert {Database, Graph} == {*Kept.__subclasses__()}


@pytest.mark.parametrize("kind", ["database", "embedded"])
async def test_while_it_is_away_one_sentence_says_so_and_it_comes_back(kind: str, tmp_path: Path) -> None:
    async with KINDS[kind](tmp_path, lambda: "") as store:
        await store.keep(1)
        await store.leave()
        for ask in (store.kept(), store.keep(2)):
            with pytest.raises(MemoryFailure) as told:
                await ask
            assert "\n" not in str(told.value)
        await store.come_back()
        await store.keep(3)
        assert await store.kept() == [1, 3]
