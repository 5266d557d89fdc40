"""Names that were asked for: by whom, until when they are kept, and what the state database has of them."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from memory.graph.cypher import Statement
from memory.graph.name_usage import MOST_NAMES, PAUSE, SCHEMA, NameUsage
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


def again(database: Database | None, graph: str = "", days: int = 0) -> NameUsage:
    """Return what a process that starts so many days later knows."""
    return NameUsage(database, graph, lambda: MORNING + timedelta(days=days))


async def rows(database: Database) -> list[tuple[str, ...]]:
    def look(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
        return [tuple(row) for row in connection.execute("SELECT owner_key, digest, day FROM graph_asked")]

    return await database.read(look)


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def named(*names: str) -> Statement:
    return Statement.parse("MATCH " + ", ".join(f"(:`{name}`)" for name in names))


async def never(usage: NameUsage, *names: str) -> list[str]:
    return (await usage.never(names))[0]


async def test_what_a_query_names_or_returns_was_asked_for() -> None:
    usage = NameUsage(now=lambda: MORNING)
    node: Json = {"elementId": "1", "labels": ["L", "M"], "properties": {"p": 1}}
    link: Json = {"elementId": "2", "type": "R", "start": "1", "end": "1", "properties": {"w": 1}}
    query = Statement.parse("MATCH (n:`my label`)-[:KNOWS]->() WHERE n.x = 'hidden' // comment")
    usage.saw(HOUSE, query, [{"path": {"nodes": [node]}, "r": [link]}])
    names = ["my label", "KNOWS", "x", "L", "M", "p", "R", "w", "hidden", "comment", "other"]
    assert await usage.never(names) == (["comment", "hidden", "other"], "2026-11-21T09:00:00+00:00")


async def test_what_was_asked_for_is_known_after_a_restart_and_since_when(database: Database) -> None:
    for days, name in ((0, "Cup"), (3, "Tea")):
        usage = again(database, days=days)
        usage.saw(MEMBER, named(name), [])
        await usage.save()
    assert await again(database, days=5).never(["Cup", "Tea", "Dust"]) == (["Dust"], "2026-11-21T09:00:00+00:00")


async def test_a_name_costs_one_row_and_a_write_a_day(database: Database) -> None:
    usage = again(database)
    usage.saw(HOUSE, named("Cup"), [])
    await usage.save()
    written = await rows(database)
    usage.saw(HOUSE, named("Cup"), [])
    assert usage._unsaved == set()
    later = again(database, days=1)
    later.saw(HOUSE, named("Cup"), [])
    await later.save()
    assert len(await rows(database)) == len(written)
    assert {day for owner, _, day in await rows(database) if owner} == {"2026-11-22"}


async def test_an_owner_is_forgotten_and_nobody_else_is(database: Database) -> None:
    house, own = again(database), again(database, MEMBER)
    house.saw(HOUSE, named("Cup"), [])
    house.saw(MEMBER, named("Tea"), [])
    own.saw(MEMBER, named("Secret"), [])
    await house.save()
    await own.save()
    await house.forget(MEMBER)
    assert await never(house, "Cup", "Tea") == ["Tea"]
    await house.save()
    assert {owner for owner, _, _ in await rows(database)} == {"", HOUSE}
    assert await never(again(database), "Cup", "Tea") == ["Tea"]


async def test_graphs_do_not_know_of_each_other_and_no_word_is_kept(database: Database, tmp_path: Path) -> None:
    own = again(database, MEMBER)
    own.saw(MEMBER, named("Diagnosis"), [])
    await own.save()
    assert await never(again(database), "Diagnosis") == ["Diagnosis"]
    assert await never(again(database, MEMBER), "Diagnosis") == []
    assert "Diagnosis" not in str(await asyncio.to_thread(everything, tmp_path))


async def test_what_is_kept_has_an_end_and_the_oldest_give_way(database: Database) -> None:
    today = MORNING
    usage = NameUsage(database, now=lambda: today)
    usage.saw(HOUSE, named("Old"), [])
    await usage.save()
    today += timedelta(days=1)
    for letter in "kl":
        labels: list[Json] = [f"{letter}{number}" for number in range(MOST_NAMES // 2)]
        usage.saw(HOUSE, named("New"), [{"elementId": "", "labels": labels, "properties": {}}])
        await usage.save()
    assert await never(usage, "Old", "New", "l0", "l9999") == ["Old"]
    assert len(await rows(database)) == MOST_NAMES + 1  # and when counting began
    assert (await usage.never([]))[1] == "2026-11-21T09:00:00+00:00"
    assert len(usage._days) <= MOST_NAMES


async def test_it_is_written_down_a_while_after_it_was_seen(database: Database) -> None:
    pauses, go_on = list[float](), asyncio.Event()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await go_on.wait()
        go_on.clear()

    saved = asyncio.Event()

    class Watched(NameUsage):
        async def save(self) -> None:
            await super().save()
            saved.set()

    usage = Watched(database, now=lambda: MORNING)
    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(usage.run(pause))
        usage.saw(HOUSE, named("Cup"), [])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (pauses, await rows(database)) == ([PAUSE], [])
        go_on.set()
        await saved.wait()
        keeping.cancel()
    assert await never(again(database), "Cup") == []


async def test_a_state_that_takes_nothing_costs_no_answer(tmp_path: Path) -> None:
    usage = NameUsage(Database(tmp_path / "closed.sqlite"), now=lambda: MORNING)
    usage.saw(HOUSE, named("Cup"), [])
    await usage.save()
    assert await never(usage, "Cup", "Tea") == ["Tea"]


async def test_a_writing_down_that_is_cancelled_is_done_again(database: Database) -> None:
    busy = threading.Event()
    usage = again(database)
    usage.saw(HOUSE, named("tea"), [])
    async with asyncio.TaskGroup() as group:
        held = group.create_task(database.write(lambda _: busy.wait()))
        saving = group.create_task(usage.save())
        await asyncio.sleep(0)
        saving.cancel()
        busy.set()
    assert held.done()
    await usage.save()
    assert await never(again(database), "tea", "cake") == ["cake"]
