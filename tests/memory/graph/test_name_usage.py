"""Names that were asked for: by whom, until when they are kept, and what the state database has of them."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from memory.graph.name_usage import MOST_NAMES, PAUSE, SCHEMA, Asked
from memory.json_value import Json
from memory.state.database import Database

pytestmark = pytest.mark.shows("C5")

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
HOUSE, MEMBER = "household", "k" * 43


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "state.sqlite")
    await database.open(SCHEMA)
    yield database
    await database.close()


async def again(database: Database, graph: str = "", days: int = 0) -> Asked:
    """Return what a process that starts so many days later knows."""
    asked = Asked(database, graph, lambda: MORNING + timedelta(days=days))
    await asked.load()
    return asked


async def rows(database: Database) -> list[tuple[str, ...]]:
    def look(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
        return [tuple(row) for row in connection.execute("SELECT owner_key, digest, day FROM graph_asked")]

    return await database.read(look)


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def named(*names: str) -> str:
    return "MATCH " + ", ".join(f"(:`{name}`)" for name in names)


def test_what_a_query_names_or_returns_was_asked_for() -> None:
    asked = Asked(now=lambda: MORNING)
    node: Json = {"elementId": "1", "labels": ["L", "M"], "properties": {"p": 1}}
    link: Json = {"elementId": "2", "type": "R", "start": "1", "end": "1", "properties": {"w": 1}}
    query = "MATCH (n:`my label`)-[:KNOWS]->() WHERE n.x = 'hidden' // comment"
    asked.saw(HOUSE, query, [{"path": {"nodes": [node]}, "r": [link]}])
    names = ["my label", "KNOWS", "x", "L", "M", "p", "R", "w", "hidden", "comment", "other"]
    assert asked.never(names) == ["comment", "hidden", "other"]
    assert asked.since == "2026-11-21T09:00:00+00:00"


async def test_what_was_asked_for_is_known_after_a_restart_and_since_when(database: Database) -> None:
    first = await again(database)
    first.saw(HOUSE, named("Cup"), [])
    await first.save()
    second = await again(database, days=3)
    second.saw(MEMBER, named("Tea"), [])
    await second.save()
    third = await again(database, days=5)
    assert third.never(["Cup", "Tea", "Dust"]) == ["Dust"]
    assert third.since == first.since == "2026-11-21T09:00:00+00:00"


async def test_what_was_seen_before_the_old_was_read_is_kept_with_it(database: Database) -> None:
    first = await again(database)
    first.saw(HOUSE, named("Cup"), [])
    await first.save()
    second = Asked(database, now=lambda: MORNING + timedelta(days=1))
    second.saw(HOUSE, named("Tea"), [])
    await second.save()
    assert second.since == first.since
    assert (await again(database)).never(["Cup", "Tea"]) == []


async def test_a_name_costs_one_row_and_a_write_a_day(database: Database) -> None:
    asked = await again(database)
    asked.saw(HOUSE, named("Cup"), [])
    await asked.save()
    written = await rows(database)
    asked.saw(HOUSE, named("Cup"), [])
    assert asked._unsaved == set()
    later = await again(database, days=1)
    later.saw(HOUSE, named("Cup"), [])
    await later.save()
    assert len(await rows(database)) == len(written)
    assert {day for owner, _, day in await rows(database) if owner} == {"2026-11-22"}


async def test_an_owner_is_forgotten_and_nobody_else_is(database: Database) -> None:
    house, own = await again(database), await again(database, MEMBER)
    house.saw(HOUSE, named("Cup"), [])
    house.saw(MEMBER, named("Tea"), [])
    own.saw(MEMBER, named("Secret"), [])
    await house.save()
    await own.save()
    await house.forget(MEMBER)
    assert house.never(["Cup", "Tea"]) == ["Tea"]
    await house.save()
    assert {owner for owner, _, _ in await rows(database)} == {"", HOUSE}
    assert (await again(database)).never(["Cup", "Tea"]) == ["Tea"]


async def test_graphs_do_not_know_of_each_other_and_no_word_is_kept(database: Database, tmp_path: Path) -> None:
    own = await again(database, MEMBER)
    own.saw(MEMBER, named("Diagnosis"), [])
    await own.save()
    assert (await again(database)).never(["Diagnosis"]) == ["Diagnosis"]
    assert (await again(database, MEMBER)).never(["Diagnosis"]) == []
    assert "Diagnosis" not in str(await asyncio.to_thread(everything, tmp_path))


def see_many(asked: Asked, letter: str, most: int) -> None:
    for first in range(0, most, 1000):
        labels: list[Json] = [f"{letter}{first + i}" for i in range(1000)]
        asked.saw(HOUSE, "RETURN 1", [{"elementId": "", "labels": labels, "properties": {}}])


async def test_what_is_kept_has_an_end_and_the_newest_is_taken_up(database: Database) -> None:
    asked = await again(database)
    see_many(asked, "k", MOST_NAMES - 1000)
    await asked.save()
    later = await again(database, days=1)
    later.saw(HOUSE, named("Cup"), [])
    await later.save()
    assert len(await rows(database)) == MOST_NAMES // 2 + 2  # MATCH and Cup
    assert (await again(database, days=2)).since == asked.since


async def test_past_the_most_the_oldest_give_way_to_the_new_in_the_database_too(database: Database) -> None:
    today = MORNING
    asked = Asked(database, now=lambda: today)
    await asked.load()
    asked.saw(HOUSE, named("Old"), [])
    see_many(asked, "k", MOST_NAMES // 2)
    await asked.save()
    today += timedelta(days=1)
    see_many(asked, "l", MOST_NAMES // 2)
    asked.saw(HOUSE, named("New"), [])
    assert asked.never(["Old", "New", "l0", "l9999"]) == ["Old"]
    await asked.save()
    assert len(await rows(database)) == len(asked._days) <= MOST_NAMES
    assert {(owner, digest): day for owner, digest, day in await rows(database)} == asked._days
    assert asked.since == "2026-11-21T09:00:00+00:00"


async def test_it_is_written_down_a_while_after_it_was_seen(database: Database) -> None:
    asked, pauses, go_on = await again(database), list[float](), asyncio.Event()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await go_on.wait()
        go_on.clear()

    saved = asyncio.Event()

    class Watched(Asked):
        async def save(self) -> None:
            await super().save()
            saved.set()

    asked = Watched(database, now=lambda: MORNING)
    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(asked.keep(pause))
        asked.saw(HOUSE, named("Cup"), [])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (pauses, await rows(database)) == ([PAUSE], [])
        go_on.set()
        await saved.wait()
        keeping.cancel()
    assert (await again(database)).never(["Cup"]) == []


async def test_a_state_that_takes_nothing_costs_no_answer(tmp_path: Path) -> None:
    asked = Asked(Database(tmp_path / "closed.sqlite"), now=lambda: MORNING)
    asked.saw(HOUSE, named("Cup"), [])
    await asked.load()
    await asked.save()
    assert asked.never(["Cup", "Tea"]) == ["Tea"]


async def test_a_writing_down_that_is_cancelled_is_done_again(database: Database) -> None:
    busy = threading.Event()
    asked = await again(database)
    asked.saw(HOUSE, named("tea"), [])
    async with asyncio.TaskGroup() as group:
        held = group.create_task(database.write(lambda _: busy.wait()))
        saving = group.create_task(asked.save())
        await asyncio.sleep(0)
        saving.cancel()
        busy.set()
    assert held.done()
    await asked.save()
    assert (await again(database)).never(["tea", "cake"]) == ["cake"]
