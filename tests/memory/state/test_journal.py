import asyncio
import hashlib
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from memory.errors import StateUnusable
from memory.json_value import Json
from memory.state.database import Database
from memory.state.journal import ERASED, Entry, Journal, Stored

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def journal(database: Database) -> Journal:
    return Journal(database)


def everything_in(folder: Path) -> bytes:
    """Return all files of a folder, one behind the other."""
    return b"".join(file.read_bytes() for file in folder.iterdir())


def numbers(entries: list[Stored]) -> list[Json]:
    return [entry.body["n"] for entry in entries]


def spoken(entries: list[Stored]) -> list[Json]:
    return [entry.body["words"] for entry in entries]


@pytest.mark.shows("F11")
async def test_an_entry_comes_back_as_it_was_written(journal: Journal) -> None:
    body: dict[str, Json] = {"z": [1, 2.5, None, True], "a": {"你好": "\0 \U0001f600 </tag>"}, "half": "\ud83d"}
    written = Entry("context.message", body, "event", "run", "room", "household", id="one", at=NOON)
    await journal.append(written)
    [stored] = await journal.entries()
    assert Stored(**asdict(written), seq=stored.seq) == stored
    assert json.dumps(stored.body) == json.dumps(body)  # the order of keys too: message lists are rebuilt byte for byte


async def test_a_moment_is_kept_in_utc(journal: Journal) -> None:
    in_beijing = NOON.astimezone(timezone(timedelta(hours=8)))
    await journal.append(Entry("a", at=in_beijing))
    [stored] = await journal.entries()
    assert (stored.at, stored.at.tzinfo) == (NOON, UTC)


def test_an_entry_without_topic_or_with_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="topic"):
        Entry("")
    with pytest.raises(ValueError, match="aware"):
        Entry("a", at=datetime(2026, 11, 21))  # noqa: DTZ001  the naive time is the point


async def test_a_known_id_is_left_out_whole(journal: Journal) -> None:
    await journal.append(Entry("a", {"n": 1, "words": "first"}, owner_key="o", id="same"))
    await journal.append(
        Entry("a", {"n": 2, "words": "second"}, owner_key="o", id="same"), Entry("a", {"n": 3}, id="other")
    )
    assert numbers(await journal.entries()) == [1, 3]
    assert await journal.search("second", "o") == []


async def test_entries_are_written_together_or_not_at_all(journal: Journal) -> None:
    with pytest.raises(TypeError):
        await journal.append(Entry("a", {"n": 1}), Entry("a", {"n": object()}))  # type: ignore[dict-item]
    assert await journal.entries() == []


@pytest.mark.shows("A24")
async def test_what_goes_along_with_entries_is_written_after_them_or_nothing_is(
    journal: Journal, database: Database
) -> None:
    seen: list[list[str]] = []

    def count(connection: sqlite3.Connection) -> None:
        seen.append([entry.topic for entry in journal.entries_within(connection, event_id="e")])

    def fail(connection: sqlite3.Connection) -> None:
        raise ValueError("not this")

    await journal.append(Entry("runs.new", event_id="e"), in_transaction=count, durable=False)
    with pytest.raises(ValueError, match="not this"):
        await journal.append(Entry("llm.requests", event_id="e"), in_transaction=fail)
    assert seen == [["runs.new"]], "in one transaction with it"
    assert [entry.topic for entry in await journal.entries(event_id="e")] == ["runs.new"]


async def test_a_body_changed_after_the_call_is_not_changed_in_the_journal(journal: Journal) -> None:
    body: dict[str, Json] = {"n": 1}
    async with asyncio.TaskGroup() as together:
        together.create_task(journal.append(Entry("a", body)))
        together.create_task(_change(body))
    assert numbers(await journal.entries()) == [1]


async def _change(body: dict[str, Json]) -> None:
    body["n"] = 2


@pytest.mark.shows("E17")
async def test_the_order_is_the_order_of_commits_whatever_the_times_say(journal: Journal) -> None:
    async with asyncio.TaskGroup() as together:
        for n in range(50):
            together.create_task(journal.append(Entry("a", {"n": n}, at=NOON - timedelta(seconds=n))))
    found = await journal.entries()
    assert numbers(found) == list(range(50))
    assert [entry.seq for entry in found] == sorted({entry.seq for entry in found})


async def test_entries_are_selected_by_all_that_is_given(journal: Journal) -> None:
    await journal.append(
        Entry("a", {"n": 1}, event_id="e1", session_id="room", owner_key="h"),
        Entry("b", {"n": 2}, event_id="e1", session_id="room", owner_key="h", run_id="r"),
        Entry("c", {"n": 3}, event_id="e2", session_id="desk", owner_key="h"),
        Entry("a", {"n": 4}, event_id="e2", session_id="room", owner_key="other"),
        Entry("b", {"n": 5}, session_id="room", owner_key="h"),
    )
    assert numbers(await journal.entries(topic="a")) == [1, 4]
    assert numbers(await journal.entries(topic=("b", "a", "b"))) == [1, 2, 4, 5]
    assert numbers(await journal.entries(topic=())) == []
    assert numbers(await journal.entries(event_id="e1")) == [1, 2]
    assert numbers(await journal.entries(run_id="r")) == [2]
    assert numbers(await journal.entries(session_id="room", owner_key="h")) == [1, 2, 5]
    assert numbers(await journal.entries(session_id="room", owner_key="h", topic=("a", "b"))) == [1, 2, 5]
    assert numbers(await journal.entries(event_id="e2", topic="b")) == []


async def test_pages_go_forward_and_the_newest_are_still_in_order(journal: Journal) -> None:
    await journal.append(*(Entry("ab"[n % 2], {"n": n}) for n in range(10)))
    first = await journal.entries(limit=4)
    assert numbers(first) == [0, 1, 2, 3]
    assert numbers(await journal.entries(after=first[-1].seq, limit=3)) == [4, 5, 6]
    assert numbers(await journal.entries(newest=True, limit=3)) == [7, 8, 9]
    assert numbers(await journal.entries(topic=("a", "b"), newest=True, limit=3)) == [7, 8, 9]
    assert numbers(await journal.entries(topic="b", newest=True, limit=2, after=first[-1].seq)) == [7, 9]
    assert numbers(await journal.entries(topic="b", newest=True, limit=1, before=first[-1].seq)) == [1]
    assert await journal.entries(after=first[-1].seq + 100) == []


@pytest.mark.shows("D4")
async def test_words_are_found_in_english_and_chinese(journal: Journal) -> None:
    for words in (
        "The keys are in the blue bowl",
        "我今天心情不太好",
        "Für Käthe: Kaffee",
        "明天去北京开会",
        "two timers",
    ):
        await journal.append(Entry("events.accepted", {"words": words}, owner_key="h"))
    await journal.append(Entry("tools.results", {"text": "the blue bowl again"}, owner_key="h"))

    assert spoken(await journal.search("BLUE keys", "h")) == ["The keys are in the blue bowl"]
    assert spoken(await journal.search("timer", "h")) == ["two timers"]
    assert spoken(await journal.search("kathe", "h")) == ["Für Käthe: Kaffee"]
    assert spoken(await journal.search("心情", "h")) == ["我今天心情不太好"]
    assert spoken(await journal.search("好", "h")) == ["我今天心情不太好"]
    assert spoken(await journal.search("在北京有什么会", "h")) == ["明天去北京开会"]
    assert await journal.search("red", "h") == []
    assert await journal.search("", "h") == []


async def test_whole_matches_come_first_the_newest_before_the_older(journal: Journal) -> None:
    for words in ("keys in the car", "the car is red", "keys in the drawer", "no match"):
        await journal.append(Entry("a", {"words": words}, owner_key="h"))
    assert spoken(await journal.search("keys", "h")) == ["keys in the drawer", "keys in the car"]
    assert spoken(await journal.search("car keys", "h"))[0] == "keys in the car"
    assert len(await journal.search("car keys", "h")) == 3
    assert spoken(await journal.search("car keys", "h", limit=1)) == ["keys in the car"]


@pytest.mark.shows("F12")
async def test_a_search_never_leaves_its_owner(journal: Journal) -> None:
    await journal.append(Entry("a", {"words": "my secret"}, owner_key="alice"))
    await journal.append(Entry("a", {"words": "my secret too"}, owner_key="bob"))
    assert spoken(await journal.search("secret", "alice")) == ["my secret"]
    assert await journal.search("secret", "") == []


async def test_what_building_a_context_costs_does_not_grow_with_the_journal(
    journal: Journal, database: Database
) -> None:
    async def steps() -> int:
        ticks: list[int] = []
        await database.read(lambda connection: connection.set_progress_handler(lambda: ticks.append(1), 10))
        await journal.entries(session_id="room", owner_key="h", topic=("m", "epoch"), newest=True, limit=50)
        await journal.entries(session_id="room", owner_key="h", topic="m", after=mark, limit=50)
        await journal.entries(event_id="e7")
        await database.read(lambda connection: connection.set_progress_handler(None, 0))
        return len(ticks)

    def steps_of_a_day(first: int, last: int, session_id: str) -> list[Entry]:
        return [
            Entry(("m", "llm.requests", "tools.results")[n % 3], {"n": n}, f"e{n}", "", session_id, "h")
            for n in range(first, last)
        ]

    await journal.append(*steps_of_a_day(0, 600, "room"))
    mark = (await journal.entries(newest=True, limit=301))[0].seq
    small = await steps()
    await journal.append(*steps_of_a_day(600, 20_000, "desk"))
    assert small > 10
    assert await steps() <= 1.1 * small


@pytest.mark.shows("V29")
async def test_what_is_erased_is_gone_from_the_search_and_from_the_disk_and_its_digest_stays(
    tmp_path: Path, journal: Journal, database: Database
) -> None:
    await journal.append(*(Entry("said", {"words": f"rhubarb number {n}"}, id=f"other-{n}") for n in range(50)))
    body: dict[str, Json] = {"words": "the xylophone is buried 在花园里", "text": "xylophone"}
    await journal.append(Entry("said", body, "event", session_id="room", owner_key="household", id="one", at=NOON))
    before = (await journal.entries(event_id="event"))[0]
    assert await journal.erase("one", "unknown") == 1
    [after] = await journal.entries(event_id="event")
    assert await journal.search("xylophone", "household") == []
    assert await journal.search("花园", "household") == []
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    assert after.body == {ERASED: hashlib.sha256(text.encode()).hexdigest()}, "who kept the words can prove them"
    assert replace(after, body=body) == before, "place, time and owner stay"
    left = everything_in(tmp_path)
    assert b"rhubarb" in left
    assert b"xylophone" not in left
    assert "花园".encode() not in left


async def test_erasing_twice_keeps_the_first_digest(journal: Journal) -> None:
    await journal.append(Entry("said", {"words": "plums"}, id="one"))
    await journal.erase("one")
    first = await journal.entries()
    assert await journal.erase("one") == 0
    assert await journal.entries() == first


@pytest.mark.shows("V29")
async def test_while_another_program_reads_the_file_erasing_says_that_its_log_holds_the_words_yet(
    tmp_path: Path, journal: Journal, database: Database
) -> None:
    await database.read(lambda c: c.execute("PRAGMA busy_timeout = 10").fetchone())
    await journal.append(Entry("said", {"words": "the xylophone is buried"}, id="one"))
    with closing(sqlite3.connect(database.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM journal").fetchone()
        with pytest.raises(StateUnusable, match="close the other program that reads it, and try again"):
            await journal.erase("one")
        assert b"xylophone" in everything_in(tmp_path)
    assert await journal.erase("one") == 0
    assert b"xylophone" not in everything_in(tmp_path)
