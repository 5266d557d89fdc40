"""A sentence traced to its event, the model's calls and the tools' results, out of a real journal."""

from pathlib import Path

import pytest

from agent.event import Event
from agent.record import step
from agent.replies import INTERRUPTED, SENTENCE_STARTED
from agent.tools.tool import tool
from appliance.errors import Problem
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.insight.insight import Insight, lines_of
from appliance.output.voice import SENTENCE_ENDED
from appliance.recorder.store import Limits, Recordings
from memory.json_value import Json
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("G5", "X14")

SAID = "It is three degrees."


async def thermometer() -> Json:
    """Read the thermometer."""
    return {"degrees": 3}


def a_model() -> ScriptedModel:
    asked = calls(("thermometer", "{}"), prefix="a")
    return ScriptedModel(asked, calls(("reply", f'{{"text": "{SAID}"}}'), prefix="b"))


async def asked(mind: TestMind, **fields: object) -> Event:
    """Have a person ask, and the mouth say the answer; half of it is heard."""
    event = spoken("how cold is it?", metadata={"evidence": {"confidence": "normal", "score": 0.97}}, **fields)
    await mind.handle(event)
    said: dict[str, Json] = {"call_id": "b0", "number": 1}
    await mind.mind.bus.publish(step(SENTENCE_STARTED, event, "", said, SAID))
    await mind.mind.bus.publish(step(SENTENCE_ENDED, event, "", {**said, "whole": False, "heard": "It is"}))
    await mind.mind.bus.publish(step(INTERRUPTED, event, "", {"heard": "It is", "unsaid": "three degrees."}))
    return event


def insight_of(mind: TestMind) -> Insight:
    return Insight(mind.journal, mind.mailbox, Recordings(Path("nowhere"), Limits(0, 0)))


def of_kind(told: dict[str, Json], kind: str) -> list[dict[str, Json]]:
    steps = told["steps"]
    assert isinstance(steps, list)
    return [each for each in steps if isinstance(each, dict) and each["kind"] == kind]


async def test_a_spoken_sentence_is_traced_to_event_models_calls_results_and_what_was_heard(tmp_path: Path) -> None:
    model = a_model()
    async with a_mind(tmp_path, [model], [tool(thermometer, effect="pure")]) as mind:
        event = await asked(mind)
        told = await insight_of(mind).why("household", "three degrees")
    first, second = of_kind(told, "model")
    assert told["event"] == {
        "id": event.id, "type": "asr_transcript", "source": "mic", "session": "room", "words": "how cold is it?",
        "at": "2026-11-21T12:00:00.000000+00:00", "state": "completed",
        "evidence": {"confidence": "normal", "score": 0.97},
    }  # fmt: skip
    assert told["sentence"] == {
        "text": SAID, "at": of_kind(told, "said")[0]["at"], "by": "it",
        "request_id": second["request_id"], "model": "scripted",
    }  # fmt: skip
    assert first["tool_calls"] == ["thermometer"]
    assert first["epoch"] == second["epoch"] != ""
    assert (first["prompt_tokens"], first["completion_tokens"]) == (100, 10)
    assert "cost_usd" in first
    [used, *_] = of_kind(told, "tool")
    assert (used["tool"], used["args"], used["result"]) == ("thermometer", "{}", '{"degrees":3}')
    assert of_kind(told, "said")[0]["heard"] == "It is"
    assert of_kind(told, "interrupted")[0]["unsaid"] == "three degrees."
    assert "COMPLETED" in str(of_kind(told, "turn"))


async def test_it_is_found_by_each_of_its_ids_and_by_the_words_of_both_sides(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [a_model()], [tool(thermometer, effect="pure")]) as mind:
        event = await asked(mind)
        insight = insight_of(mind)
        [run] = await mind.journal.entries(topic="runs.new")
        [used, *_] = await mind.journal.entries(topic="tools.requests")
        names = [
            event.id,
            event.id[:8],
            run.run_id,
            run.id,
            str(used.body["call_id"]),
            "b0",
            "how cold is it?",
            "It is three",
        ]
        found = [await insight.why("household", name) for name in names]
        with pytest.raises(Problem, match="nothing here is called 'unheard-of'"):
            await insight.why("household", "unheard-of")
    assert [each["event"]["id"] for each in found if isinstance(each["event"], dict)] == [event.id] * len(names)


async def test_another_owners_is_not_shown_by_any_name(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [a_model()], [tool(thermometer, effect="pure")]) as mind:
        event = await asked(mind, owner_key="a" * 64, session_id="x")
        insight = insight_of(mind)
        [run] = await mind.journal.entries(topic="runs.new")
        for name in (event.id, event.id[:8], run.run_id, run.id, "b0", "how cold is it?", "three degrees"):
            with pytest.raises(Problem):
                await insight.why("household", name)
            assert (await insight.why("a" * 64, name))["event"]


async def test_what_was_erased_is_told_as_gone(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [a_model()], [tool(thermometer, effect="pure")]) as mind:
        event = await asked(mind)
        entries = await mind.journal.entries(event_id=event.id)
        await mind.journal.erase(*(each.id for each in entries))
        await mind.mailbox.erase(event.id)
        told = await insight_of(mind).why("household", event.id)
        turns = await insight_of(mind).turns("household")
    assert "degrees" not in str(told)
    assert "cold" not in str(told)
    assert {each["why"] for each in of_kind(told, "gone")} == {"erased"}
    assert turns["turns"] == []


async def test_words_that_were_held_back_are_told_with_reason_and_evidence(tmp_path: Path) -> None:
    body: dict[str, Json] = {"reason": "its own voice", "text_spoken": "four", "evidence": {"score": 0.1}}
    async with a_mind(tmp_path, [ScriptedModel()]) as mind:
        held_back = Event(EARS_SUPPRESSED, source="mic", metadata=body)
        await mind.mind.bus.publish(held_back)
        told = await insight_of(mind).why("household", held_back.id)
    assert {name: of_kind(told, "held_back")[0][name] for name in body} == body
    assert ("held_back", "four  (its own voice)") in list(lines_of(told))


async def test_for_people_it_is_a_line_a_step(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [a_model()], [tool(thermometer, effect="pure")]) as mind:
        await asked(mind)
        lines = list(lines_of(await insight_of(mind).why("household", "three degrees")))
    titles = [title for title, _ in lines]
    assert titles[:3] == ["sentence", "event", "heard"]
    assert ("tool", 'thermometer {} -> {"degrees":3}') in lines
    assert ("said", "It is three degrees.  (heard up to: It is)") in lines
    assert any(title == "model" and text.startswith("scripted: 100 tokens in") for title, text in lines)


@pytest.mark.shows("V25", "X14")
async def test_turns_and_why_one_was_slow_are_answered_of_the_owners_own(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [a_model(), a_model()], [tool(thermometer, effect="pure")]) as mind:
        event = await asked(mind)
        insight = insight_of(mind)
        told, others = await insight.turns("household"), await insight.turns("b" * 64)
        turn = await insight.turn("household", event.id[:8])
        with pytest.raises(Problem, match="no turn is called 'x'"):
            await insight.turn("household", "x")
        with pytest.raises(Problem, match="there was no turn yet"):
            await insight.turn("b" * 64)
    turns = told["turns"]
    assert isinstance(turns, list)
    assert [each["event_id"] for each in turns if isinstance(each, dict)] == [event.id]
    assert others == {
        "spoken": {"turns": 0, "seconds": {}}, "written": {"turns": 0, "seconds": {}}, "turns": [],
    }  # fmt: skip
    assert turn["run_id"]
    assert isinstance(turn["why"], str)
