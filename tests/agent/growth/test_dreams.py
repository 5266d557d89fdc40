"""What it dreamt, in one sentence, with and without a model."""

from datetime import UTC
from pathlib import Path

import pytest

from agent.growth.dreams import Dreams
from agent.intents.reading.understanding import load_understanding
from agent.tools.growth import dream_tool
from memory.history.audit import AuditLog
from tests.agent.intents.test_mind import a_house, hear

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    "words",
    ["What did you dream?", "what did you dream about last night", "Did you dream anything?", "你梦到什么了",
     "你昨晚做了什么梦", "昨晚你做梦了吗"],
)  # fmt: skip
def test_it_understands_the_question(words: str) -> None:
    assert UNDERSTAND(words).name == "dreamt"


@pytest.mark.parametrize("words", ["I had a dream", "what is a dream", "我昨晚做了个梦"])
def test_other_dreams_are_not_it(words: str) -> None:
    assert UNDERSTAND(words).name != "dreamt"


@pytest.mark.shows("G16")
async def test_without_a_model_it_says_whether_there_was_a_night(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        database = house.journal.database
        house.mind.registry.join("growth", [dream_tool(Dreams(database, AuditLog(tmp_path / "audit"), UTC))])
        assert await hear(house, "What did you dream?") == "I have not gone over my memory at night yet."
        assert await hear(house, "你梦到什么了？") == "我还没有在夜里整理过记忆。"
