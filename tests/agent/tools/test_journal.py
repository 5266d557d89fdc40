"""Searching the journal: who said what when, once each, and only what belongs to the owner of the event."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.event import Event
from agent.tools.journal import MAX_WORDS, journal_tool
from agent.tools.tool import Call, run_tool
from memory.json_value import Json
from memory.state.database import Database
from memory.state.journal import SCHEMA, Entry, Journal
from tests.agent.clock import MORNING


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    yield Journal(database)
    await database.close()


async def search(journal: Journal, owner_key: str = "household", **arguments: Json) -> str:
    return await run_tool(journal_tool(journal), json.dumps(arguments), Call("c1", Event("x", owner_key=owner_key)))


def heard(words: str, event_id: str = "e1", topic: str = "runs.new", **body: Json) -> Entry:
    return Entry(topic, {"words": words, **body}, event_id, owner_key="household", at=MORNING)


@pytest.mark.shows("D4")
async def test_it_says_when_who_and_the_words(journal: Journal) -> None:
    await journal.append(
        heard("我今天心情不太好", source="mic"), heard("今天怎么了？", topic="speech.ended"), heard("x", "e2")
    )
    found = json.loads(await search(journal, words="今天"))
    assert found == [
        {"when": "2026-11-21 10:00:00 UTC", "who": "you", "words": "今天怎么了？"},
        {"when": "2026-11-21 10:00:00 UTC", "who": "mic", "words": "我今天心情不太好"},
    ]


async def test_what_is_in_the_journal_as_begun_and_as_ended_is_told_once(journal: Journal) -> None:
    await journal.append(heard("Good morning.", topic="speech.sentence_started"))
    await journal.append(heard("Good morning.", topic="speech.ended"), heard("Good morning.", who="Ada"))
    await journal.append(heard("Good morning.", "e2", topic="speech.ended"))
    found = json.loads(await search(journal, words="morning", limit=5))
    assert [line["who"] for line in found] == ["you", "Ada", "you"]


async def test_it_gives_as_many_as_asked_and_cuts_a_speech(journal: Journal) -> None:
    await journal.append(*(heard(f"word {n}", f"e{n}") for n in range(30)), heard(f"word {'x' * 2000}", "long"))
    assert len(json.loads(await search(journal, words="word"))) == 10
    [newest] = json.loads(await search(journal, words="word", limit=1))
    assert newest["words"] == f"word {'x' * 2000}"[:MAX_WORDS] + "…"


@pytest.mark.shows("F12")
async def test_it_finds_only_what_belongs_to_the_owner_of_the_event(journal: Journal) -> None:
    await journal.append(heard("the secret door"))
    assert "secret" in await search(journal, words="secret")
    assert await search(journal, owner_key="alice", words="secret") == (
        "nothing with these words was said; try other words, or one alone"
    )


@pytest.mark.parametrize(
    "arguments", ["{}", '{"words": ""}', '{"words": "x", "limit": 0}', '{"words": "x", "owner_key": "h"}']
)
async def test_wrong_arguments_become_words(journal: Journal, arguments: str) -> None:
    observation = await run_tool(journal_tool(journal), arguments, Call("c1", Event("x")))
    assert observation.startswith("error: journal_search was called with wrong arguments")
