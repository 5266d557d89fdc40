"""Recall as the model has it: who said what when, with what stood around it, and only what is the owner's."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.event import Event
from agent.tools.journal import MAX_WORDS, recall_tool
from agent.tools.tool import Call, run_tool
from memory.json_value import Json
from memory.recall import Recall, index
from memory.state.database import Database
from memory.state.journal import SCHEMA, Entry, Journal
from memory.vectors.embedding import NoEmbedder
from tests.agent.clock import MORNING


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA, index.SCHEMA)
    yield Journal(database)
    await database.close()


async def ask(journal: Journal, owner_key: str = "household", **arguments: Json) -> str:
    tool = recall_tool(Recall(journal, NoEmbedder()), "Europe/Berlin")
    return await run_tool(tool, json.dumps(arguments), Call("c1", Event("x", owner_key=owner_key)))


async def recalled(journal: Journal, **arguments: Any) -> Any:
    return json.loads(await ask(journal, **arguments))


def heard(words: str, event_id: str = "e1", topic: str = "runs.new", hours: float = 0, **body: Json) -> Entry:
    at = MORNING + timedelta(hours=hours)
    return Entry(topic, {"words": words, **body}, event_id, session_id="room", owner_key="household", at=at)


@pytest.mark.shows("D4")
async def test_it_says_when_who_and_the_words_with_what_stood_around(journal: Journal) -> None:
    await journal.append(
        heard("我今天心情不太好", source="mic", speaker="安娜"),
        heard("今天怎么了？", topic="speech.written", call_id="c"),
        heard("没事", "e2"),
    )
    found = await recalled(journal, words="今天心情")
    assert {**found, "hits": found["hits"][:2]} == {
        "sureness": "sure",
        "hits": [
            {
                "id": "e1",
                "at": "2026-11-21 10:00:00 UTC",
                "speaker": "安娜",
                "words": "我今天心情不太好",
                "after": ["you: 今天怎么了？"],
            },
            {
                "id": "e1",
                "at": "2026-11-21 10:00:00 UTC",
                "speaker": "you",
                "words": "今天怎么了？",
                "before": ["安娜: 我今天心情不太好"],
                "after": ["没事"],
            },
        ],
    }


@pytest.mark.shows("D4", "G3")
async def test_what_nobody_ever_said_is_nothing(journal: Journal) -> None:
    await journal.append(heard("the boiler rattles"))
    assert await recalled(journal, words="piano lessons") == {"sureness": "nothing", "hits": []}


async def test_it_gives_as_many_as_asked_reads_on_and_cuts_a_speech(journal: Journal) -> None:
    await journal.append(*(heard(f"word {n}", f"e{n}") for n in range(30)), heard(f"word {'x' * 2000}", "long"))
    first = await recalled(journal, words="word")
    assert (len(first["hits"]), first["more"]) == (10, True)
    rest = await recalled(journal, words="word", skip=10, limit=50)
    assert len(rest["hits"]) == 21
    assert "more" not in rest
    assert not {hit["id"] for hit in first["hits"]} & {hit["id"] for hit in rest["hits"]}
    [long] = [hit for hit in [*first["hits"], *rest["hits"]] if hit["id"] == "long"]
    assert long["words"] == f"word {'x' * 2000}"[:MAX_WORDS] + "…"


async def test_of_much_it_gives_what_one_answer_holds_whole_and_reads_on(journal: Journal) -> None:
    await journal.append(*(heard(f"remember {n}: {'word ' * 90}", f"e{n}", hours=n) for n in range(50)))
    seen: list[str] = []
    more = True
    while more:
        page = await recalled(journal, words="remember", limit=50, skip=len(seen))
        seen += [hit["id"] for hit in page["hits"]]
        more = page.get("more", False)
        assert page["hits"]
    assert sorted(seen) == sorted(f"e{n}" for n in range(50))


async def test_a_time_a_speaker_and_a_session_narrow_it_and_need_no_words(journal: Journal) -> None:
    await journal.append(
        heard("we buy a boat", "e1", speaker="Ada"),
        heard("we buy a car", "e2", speaker="Ben", hours=24),
        heard("we buy a house", "e3", speaker="Ada", hours=48),
    )
    by_ada = await recalled(journal, words="we buy", speaker="ada")
    assert {hit["id"] for hit in by_ada["hits"]} == {"e1", "e3"}
    in_time = await recalled(journal, since="2026-11-22", until="2026-11-22")
    assert [hit["words"] for hit in in_time["hits"]] == ["we buy a car"]
    assert [hit["id"] for hit in (await recalled(journal))["hits"]] == ["e3", "e2", "e1"]
    assert (await recalled(journal, session="desk"))["hits"] == []
    assert (await ask(journal, since="yesterday")).startswith("error: 'yesterday' is no date")


@pytest.mark.shows("F12")
async def test_it_finds_only_what_belongs_to_the_owner_of_the_event(journal: Journal) -> None:
    await journal.append(heard("the secret door"))
    assert "secret" in await ask(journal, words="secret")
    assert "secret" not in await ask(journal, owner_key="alice", words="secret")
    assert "secret" not in await ask(journal, owner_key="alice")


@pytest.mark.parametrize("arguments", ['{"words": "x", "limit": 0}', '{"words": "x", "owner_key": "h"}'])
async def test_wrong_arguments_become_words(journal: Journal, arguments: str) -> None:
    tool = recall_tool(Recall(journal, NoEmbedder()))
    observation = await run_tool(tool, arguments, Call("c1", Event("x")))
    assert observation.startswith("error: recall was called with wrong arguments")
