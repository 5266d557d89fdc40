"""Why the last answer was slow, asked of the agent: by its tool, and without any model."""

from pathlib import Path

import pytest

from agent.event import Event
from agent.intents.reading.understanding import load_understanding
from agent.tools.turns import slow_tool
from tests.agent.intents.test_mind import a_house, hear
from tests.agent.mind import a_mind, typed
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("V25")

UNDERSTAND = load_understanding()
HELLO = ("reply", '{"text": "Hello."}')


@pytest.mark.parametrize(
    "words",
    ["Why was that slow?", "why was that so slow", "Why did that take so long?", "what took you so long",
     "Why did you take so long to answer?", "刚才为什么这么慢？",
     "你怎么这么慢", "为什么要等这么久", "刚刚怎么反应得这么慢"],
)  # fmt: skip
def test_it_understands_the_question(words: str) -> None:
    assert UNDERSTAND(words).name == "why_slow"


@pytest.mark.parametrize("words", ["why is the sky blue", "why was he late", "this is slow", "为什么天是蓝的"])
def test_other_questions_are_not_it(words: str) -> None:
    assert UNDERSTAND(words).name != "why_slow"


async def test_the_tool_tells_of_the_turn_before_and_of_no_other_owners(tmp_path: Path) -> None:
    models = [ScriptedModel(calls(HELLO, prefix="a"), calls(HELLO, prefix="b"), calls(("why_slow", "{}"), prefix="c"),
                            calls(HELLO, prefix="d"))]  # fmt: skip
    async with a_mind(tmp_path, models, lambda journal, _: [slow_tool(journal)]) as mind:
        await mind.handle(typed("hello"))
        await mind.handle(Event("user_text", "hi", source="cli", owner_key="somebody", session_id="x", priority=10))
        asked = typed("why was that slow?")
        await mind.handle(asked)
        told = next(message for message in mind.mind.contexts.loaded("household", "client").messages[::-1]
                    if message.role == "tool" and "answer" in message.content)  # fmt: skip
    assert "never came to an answer" in told.content


async def test_without_a_model_it_says_what_the_tool_says(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        house.mind.registry.join("turns", [slow_tool(house.journal)])
        assert await hear(house, "Why was that slow?") == "There is no answer yet whose time I know."
        assert await hear(house, "刚才为什么这么慢？") == "那一次没有得到回答。"
