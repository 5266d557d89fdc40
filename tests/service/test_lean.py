"""What is installed but not used is not loaded."""

import asyncio
from pathlib import Path

import pytest

from agent.context.tokens import TokenCounter
from tests.service.living import living
from tests.service.process import Household

pytestmark = pytest.mark.shows("H9")

LONG = "a long story about the house and everybody in it " * 200


async def test_tokens_are_estimated_until_a_conversation_is_long(tmp_path: Path) -> None:
    async with living(Household(tmp_path, {"memory": {"enabled": False}})) as box:
        counter = box.box.agent.tokens
        for _ in range(2):
            assert await box.asked("How are you?") == "Very well, thank you."
        assert await off_the_loop(counter) > 4, "by bytes"
        for number in range(8):
            assert await box.asked(f"{number}: {LONG}") == "Very well, thank you."
        async with asyncio.timeout(120):
            while await off_the_loop(counter) != 4:
                pass


async def off_the_loop(counter: TokenCounter) -> int:
    """Count a sentence of four tokens in a thread, as the vocabulary is loaded in one."""
    return await asyncio.to_thread(counter.count, "a house that listens")
