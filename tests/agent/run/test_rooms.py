"""Words for another room: said by the tool there, and not where somebody spoke."""

import json
from pathlib import Path

import pytest

from agent.event import Event
from agent.model.messages import Message
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("V28", "X16")

THERE = {"room": "study", "text": "Come and eat."}

CALLED = calls(("reply", json.dumps(THERE)), prefix="a")


def saying(words: str) -> Message:
    """Return a reply to whoever spoke."""
    return calls(("reply", json.dumps({"text": words})), prefix="b")


async def opened(folder: Path, model: ScriptedModel, event: Event) -> list[tuple[str, str]]:
    """Return what was said for an event, and in which room it was wanted."""
    async with a_mind(folder, [model]) as mind:
        await mind.handle(event)
        assert await mind.state_of(event) == "completed"
        wanted = [reply.room for reply in mind.outlet.replies]
        return list(zip(wanted, mind.outlet.said, strict=True))


async def test_words_for_another_room_are_not_spoken_while_they_are_written(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("reply", json.dumps(THERE)), ("reply", '{"text": "They know."}')))
    said = sorted(await opened(tmp_path, model, spoken("call them")))
    assert said == [("", "They know."), ("study", "Come and eat.")]


async def test_a_room_that_is_named_behind_the_words_hears_them_too(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("reply", json.dumps(dict(reversed(THERE.items()))))))
    assert await opened(tmp_path, model, spoken("call them")) == [("", "Come and eat."), ("study", "Come and eat.")]


async def test_whoever_asked_may_be_told_of_it_afterwards(tmp_path: Path) -> None:
    model = ScriptedModel(CALLED, saying("Done."))
    assert await opened(tmp_path, model, spoken("call them")) == [("study", "Come and eat."), ("", "Done.")]


async def test_or_the_event_is_over_with_it(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("reply", json.dumps(THERE)), ("complete_event", '{"summary": "called"}')))
    assert await opened(tmp_path, model, spoken("call them")) == [("study", "Come and eat.")]


async def test_no_other_owner_speaks_in_a_room(tmp_path: Path) -> None:
    model = ScriptedModel(CALLED, saying("No."))
    theirs = Event("user_text", "call them", owner_key="a" * 64, session_id="theirs", source="http")
    assert await opened(tmp_path, model, theirs) == [("", "No.")]
