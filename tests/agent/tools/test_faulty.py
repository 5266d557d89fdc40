"""The tool that fails on purpose, and what the law of the loop does not bound: how much it thinks over all events."""

import json
import random
import re
from pathlib import Path

import pytest

from agent.event import Event
from agent.model.messages import Message
from agent.tools.faulty import faulty_tool
from agent.tools.tool import Call, run_tool
from tests.agent.mind import a_mind
from tests.architecture.source import ROOT, sources
from tests.fakes import ScriptedModel, calls

FRAMEWORKS = re.compile(
    r"^\s*(from|import) (langchain|langgraph|llama_index|autogen|crewai|smolagents|pydantic_ai|agents|haystack)\b",
    re.MULTILINE,
)


async def tried(chance: random.Random, times: int) -> list[str]:
    tool = faulty_tool(chance)
    return [await run_tool(tool, '{"text": "hello"}', Call("c", Event("user_text"))) for _ in range(times)]


@pytest.mark.shows("F10", "B1")
async def test_it_fails_half_of_the_time_and_the_same_seed_fails_alike() -> None:
    said = await tried(random.Random(7), 400)
    good = [text for text in said if not text.startswith("error")]
    assert 160 < len(good) < 240
    assert {json.loads(text)["echo"] for text in good} == {"hello"}
    assert all("on purpose" in text for text in said if text.startswith("error"))
    assert await tried(random.Random(7), 400) == said


@pytest.mark.shows("F10", "B2")
async def test_its_failure_is_an_observation_that_it_tells(tmp_path: Path) -> None:
    failing = next(seed for seed in range(50) if random.Random(seed).random() < 0.5)

    def tell(messages: object) -> Message:
        last = messages[-1].content  # type: ignore[index]
        return calls(("reply", json.dumps({"text": f"It went so: {last}"})), prefix="told")

    model = ScriptedModel(calls(("test_tool", '{"text": "x"}')), tell)
    async with a_mind(tmp_path, [model], [faulty_tool(random.Random(failing))]) as mind:
        await mind.handle(Event("user_text", "test the tools", source="cli"))
    assert "on purpose" in mind.outlet.said[0]


@pytest.mark.shows("B5")
def test_no_agent_framework_is_imported() -> None:
    assert [path for path in sources() if FRAMEWORKS.search((ROOT / path).read_text(encoding="utf-8"))] == []
    assert FRAMEWORKS.search("import json\n    from langchain.agents import Agent\n")


@pytest.mark.shows("B6")
async def test_nothing_bounds_the_rounds_over_all_events(tmp_path: Path) -> None:
    rounds = 40
    script = [calls(("test_tool", "{}"), ("reply", '{"text": "ok"}'), prefix=f"call{n}") for n in range(rounds)]
    ends = [calls(("complete_event", "{}"), prefix=f"end{n}") for n in range(rounds)]
    model = ScriptedModel(*[message for pair in zip(script, ends, strict=True) for message in pair])
    async with a_mind(tmp_path, [model], [faulty_tool(random.Random(1))]) as mind:
        for number in range(rounds):
            await mind.handle(Event("user_text", f"number {number}", source="cli", max_tool_calls=2))
    assert len(model.requests) == 2 * rounds


@pytest.mark.shows("B4")
async def test_what_is_done_is_what_the_model_decides(tmp_path: Path) -> None:
    said = []
    for number, text in enumerate(("Yes.", "No.")):
        model = ScriptedModel(calls(("reply", json.dumps({"text": text}))))
        async with a_mind(tmp_path / str(number), [model]) as mind:
            await mind.handle(Event("user_text", "the same words", source="cli"))
        said.append(mind.outlet.said)
    assert said == [["Yes."], ["No."]]
