"""What the journal drops with age, what it keeps for ever, and that the file gets smaller for it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.errors import StateUnusable
from memory.state.database import Database, DatabaseView
from memory.state.journal import THINNED, Entry, Journal, Stored
from memory.state.retention import PERIOD, Keep, Retention

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=100)
KEEP = Keep(details_days=90)


def entry(topic: str, at: datetime, session: str = "room", name: str = "", **body: object) -> Entry:
    more = {"id": name} if name else {}
    return Entry(topic, body, "event", "run", session, "household", at=at, **more)  # type: ignore[arg-type]


def epoch(name: str, at: datetime, session: str = "room") -> Entry:
    return entry("context.epoch", at, session, name, epoch=name, messages=["a prompt"] * 20, tools=[])


def message(of: str, at: datetime, session: str = "room") -> Entry:
    return entry("context.message", at, session, epoch=of, message="words " * 20)


async def thinned(database: Database, *entries: Entry, keep: Keep = KEEP) -> list[Stored]:
    journal = Journal(database)
    await journal.append(*entries)
    await Retention(database, keep, is_busy=lambda: False, now=lambda: NOW).once()
    return await journal.entries()


@pytest.mark.shows("D1")
async def test_the_details_of_an_old_closed_context_go_and_what_was_said_stays(database: Database) -> None:
    left = await thinned(
        database,
        epoch("one", OLD),
        entry("runs.new", OLD, words="where are my keys"),
        message("one", OLD),
        entry("llm.requests", OLD, epoch="one"),
        entry("llm.results", OLD, prompt_tokens=7),
        entry("tools.requests", OLD),
        entry("ui.events", OLD),
        epoch("two", NOW),
        message("two", NOW),
        entry("tools.requests", NOW),
    )
    kept = "context.epoch runs.new llm.requests llm.results context.epoch context.message tools.requests"
    assert [each.topic for each in left] == kept.split()
    assert left[0].body == {"epoch": "one", THINNED: True}
    assert [each.body["words"] for each in await Journal(database).search("keys", "household")] == ["where are my keys"]


async def test_an_old_context_that_is_still_used_is_left_whole(database: Database) -> None:
    used = await thinned(database, epoch("one", OLD), message("one", OLD), message("one", NOW))
    assert len(used) == 3
    assert THINNED not in used[0].body


async def test_the_newest_context_of_the_room_stays_however_old_and_that_of_a_client_does_not(
    database: Database,
) -> None:
    left = await thinned(
        database, epoch("room", OLD), message("room", OLD), epoch("client", OLD, "c1"), message("client", OLD, "c1")
    )
    assert [(each.id, THINNED in each.body) for each in left if each.topic == "context.epoch"] == [
        ("room", False),
        ("client", True),
    ]
    assert sum(each.topic == "context.message" for each in left) == 1


async def test_words_are_kept_for_ever_unless_somebody_sets_days(database: Database) -> None:
    said = [entry("runs.new", OLD, words="old words"), entry("runs.new", NOW, words="new words")]
    assert len(await thinned(database, *said)) == 2
    await Retention(database, Keep(details_days=90, words_days=30), is_busy=lambda: False, now=lambda: NOW).once()
    journal = Journal(database)
    assert [each.body["words"] for each in await journal.entries()] == ["new words"]
    assert [each.body["words"] for each in await journal.search("words", "household")] == ["new words"]
    checked = await database.read(
        lambda connection: connection.execute("SELECT count(*) FROM journal_words").fetchone()[0]
    )
    assert checked == 1


async def test_with_days_for_words_no_detail_outlives_them(database: Database) -> None:
    week = NOW - timedelta(days=8)
    left = await thinned(
        database, epoch("one", week), message("one", week), epoch("two", NOW), keep=Keep(details_days=90, words_days=7)
    )
    assert "words words" not in json.dumps([dict(each.body) for each in left])
    only = await thinned(database, message("two", week), keep=Keep(0, words_days=1))
    assert "words words" in json.dumps([dict(each.body) for each in only]), "what is still in use stays"


async def test_nothing_is_dropped_where_everything_is_kept(database: Database) -> None:
    kept = await thinned(database, epoch("one", OLD), message("one", OLD), epoch("two", NOW), keep=Keep(0, 0))
    assert len(kept) == 3
    assert not any(THINNED in each.body for each in kept)


async def pages(database: Database) -> int:
    """Return how many pages the database's file has."""
    return int(await database.read(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0]))


async def test_the_file_gets_smaller(database: Database) -> None:
    journal = Journal(database)
    many = [entry("ui.events", OLD, text="x" * 2_000) for _ in range(500)]
    await journal.append(*many)
    before = await pages(database)
    await Retention(database, KEEP, is_busy=lambda: False, now=lambda: NOW).once()
    assert await pages(database) < before / 4
    whole = await database.read(lambda connection: connection.execute("PRAGMA integrity_check").fetchone()[0])
    assert whole == "ok"


async def test_nothing_is_dropped_while_somebody_speaks_and_it_comes_round_by_itself(database: Database) -> None:
    journal = Journal(database)
    await journal.append(*(entry("ui.events", OLD) for _ in range(3)))
    slept: list[float] = []
    looked = asyncio.Event()
    busy = [True, True, False]

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 4:
            looked.set()
            await asyncio.Event().wait()

    retention = Retention(database, KEEP, now=lambda: NOW, is_busy=lambda: busy.pop(0) if busy else False, sleep=sleep)
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        running = group.create_task(retention.run())
        await looked.wait()
        running.cancel()
    assert slept[1] == slept[2] < PERIOD
    assert slept[3] == PERIOD
    assert await journal.entries() == []
    assert retention.describe()["dropped"] == 3


async def test_an_unusable_state_costs_a_round_and_nothing_else(database: Database) -> None:
    ended = asyncio.Event()
    rounds = 0

    async def sleep(_: float) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 3:
            ended.set()
            await asyncio.Event().wait()

    await database.close()
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        running = group.create_task(
            Retention(database, KEEP, is_busy=lambda: False, now=lambda: NOW, sleep=sleep).run()
        )
        await ended.wait()
        running.cancel()


@pytest.mark.shows("D1")
async def test_a_view_reads_beside_the_service_and_changes_nothing(database: Database) -> None:
    await Journal(database).append(entry("runs.new", NOW, name="one", words="hello"))
    view = DatabaseView(database.path)
    await view.open()
    try:
        found = await Journal(view).entry("one")
        assert found is not None
        with pytest.raises(Exception, match="readonly"):
            await view.write(lambda connection: connection.execute("DELETE FROM journal"))
    finally:
        await view.close()


async def test_a_view_of_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateUnusable, match="nothing was kept yet"):
        await DatabaseView(tmp_path / "none.db").open()
