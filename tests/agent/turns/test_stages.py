"""The stages of a turn, marked by the loop itself, in the journal and on the bus."""

from datetime import datetime
from pathlib import Path

import pytest

from agent.bus import Observer
from agent.event import Event, utc_now
from agent.tools.tool import tool
from agent.turns.stages import TURN_ENDED, Arrivals, Stages
from agent.turns.waterfall import turns_of
from memory.errors import StateUnusable
from memory.json_value import Json
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("V25")

HELLO = ("reply", '{"text": "Hello."}')


async def seen(observer: Observer) -> Event:
    """The next envelope of an observer."""
    async for envelope in observer:
        return envelope
    raise AssertionError("an observer never ends")


async def test_a_written_turn_has_every_stage_in_its_order_on_the_bus_and_in_the_journal(tmp_path: Path) -> None:
    async def look(where: str) -> Json:
        """Look somewhere."""
        return where

    model = ScriptedModel(calls(("look", '{"where": "outside"}'), prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model], [tool(look, effect="pure")]) as mind:
        ended = mind.mind.bus.observe(TURN_ENDED)
        event = Event("user_text", "what is outside?", source="cli", priority=10)
        before = utc_now()
        await mind.handle(event)
        shown = await seen(ended)
        [turn] = await turns_of(mind.journal, "household")
        seconds_of_writes = [topic for topic in await mind.topics(event) if topic == TURN_ENDED]
    assert list(turn.stages) == ["received", "filed", "taken", "context", "asked", "first_token", "done"]
    assert list(turn.stages.values()) == sorted(turn.stages.values())
    assert turn.stages["received"] == 0.0
    assert turn.event_id == event.id
    assert turn.run_id
    assert dict(shown.metadata) == {**turn.body, "run_id": turn.run_id}
    assert (turn.body["kind"], turn.body["status"]) == ("written", "COMPLETED")
    assert abs((datetime.fromisoformat(str(turn.body["began"])) - before).total_seconds()) < 5
    models, tools = turn.body["models"], turn.body["tools"]
    assert isinstance(models, list)
    assert isinstance(tools, list)
    assert [each["model"] for each in models if isinstance(each, dict)] == ["scripted", "scripted"]
    assert [each["tool"] for each in tools if isinstance(each, dict)] == ["look"]
    assert len(seconds_of_writes) == 1


async def test_work_that_no_person_asked_for_is_no_turn(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(("complete_event", '{"summary": "x"}')))]) as mind:
        await mind.handle(Event("self_created", "think"))
        assert await turns_of(mind.journal, "household") == []


async def test_what_was_erased_takes_no_other_turns_place(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(*[calls(HELLO, prefix=str(number)) for number in range(5)])]) as mind:
        events = [Event("user_text", str(number), source="cli", priority=10) for number in range(5)]
        for event in events:
            await mind.handle(event)
        ended = await mind.journal.entries(topic=TURN_ENDED, owner_key="household")
        await mind.journal.erase(*[entry.id for entry in ended[2:]])
        found = await turns_of(mind.journal, "household", last=2)
        assert [turn.event_id for turn in found] == [event.id for event in events[:2]]
        assert len(await turns_of(mind.journal, "household", last=1)) == 1


async def test_the_marks_of_the_ears_are_taken_along_on_the_same_clock(tmp_path: Path) -> None:
    early = {"speech_started": 1.0, "speech_ended": 2.0, "committed": 2.5, "text": 2.4}
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO))]) as mind:
        await mind.handle(spoken("hello", metadata={"timing": early}))
        [turn] = await turns_of(mind.journal, "household")
    assert turn.is_spoken
    assert [(name, turn.stages[name]) for name in list(turn.stages)[:4]] == [
        ("speech_started", -1.0),
        ("speech_ended", 0.0),
        ("text", 0.4),
        ("committed", 0.5),
    ]


async def test_an_event_that_comes_back_begins_when_it_is_taken_again(tmp_path: Path) -> None:
    suspend = ("suspend_event", '{"note": "later", "wake_on": "person"}')
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO, suspend), calls(HELLO), calls(HELLO))]) as mind:
        await mind.handle(Event("user_text", "do it later", source="cli", priority=10))
        await mind.handle(Event("user_text", "now", source="cli", priority=10, session_id="other"))
        first, *rest = await turns_of(mind.journal, "household")
    assert "filed" in first.stages
    assert first.body["status"] == "SUSPENDED"
    assert all("filed" in turn.stages or "taken" in turn.stages for turn in rest)


def test_of_several_marks_the_first_counts_and_all_is_told_from_the_end_of_speech() -> None:
    now = iter([5.0, 6.0, 7.0, 8.0, 9.0])
    stages = Stages(lambda: next(now), {"speech_ended": 4.0})
    stages.mark("first_sound")
    stages.mark("first_sound")
    stages.mark("synthesized", 4.5)
    body = stages.body("COMPLETED")
    assert body["stages"] == {"speech_ended": 0.0, "synthesized": 0.5, "first_sound": 1.0}


def test_only_so_many_arrivals_are_remembered() -> None:
    arrivals = Arrivals(lambda: 1.0)
    for number in range(1000):
        arrivals(Event("user_text", str(number)))
    assert len(arrivals) == 256


async def test_a_disk_that_refuses_the_waterfall_takes_back_the_end_and_it_is_told_once(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO, prefix="a"), calls(HELLO, prefix="b"))]) as mind:
        event = Event("user_text", "hello", source="cli", priority=10)
        mind.disk.full_at = TURN_ENDED
        with pytest.raises(StateUnusable):
            await mind.handle(event)
        assert await mind.state_of(event) == "in_hand"
        assert await turns_of(mind.journal, "household") == []
        await mind.handle_next()
        assert await mind.state_of(event) == "completed"
        assert len(await turns_of(mind.journal, "household")) == 1


async def test_a_turn_goes_with_the_words_that_are_forgotten(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO))]) as mind:
        event = Event("user_text", "hello", source="cli", priority=10)
        await mind.handle(event)
        await mind.journal.erase(*(entry.id for entry in await mind.journal.entries(event_id=event.id)))
        assert await turns_of(mind.journal, "household") == []
