"""A tool that fails half of the time on purpose, off unless it is asked for: to see how the agent takes it."""

import random
from typing import Annotated

from pydantic import Field

from agent.errors import ToolFailed
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from memory.json_value import Json


def tools(context: ToolContext) -> list[Tool]:
    """Return test_tool where it is wanted."""
    return [faulty_tool(random.Random())] if context.has_test_tool else []


def faulty_tool(chance: random.Random) -> Tool:
    """Return the tool `test_tool`; whoever wants the same failures again gives a seeded `chance`."""

    async def test_tool(text: Annotated[str, Field(description="Comes back when it goes well.")] = "") -> Json:
        """Try whether tools work: it fails half of the time, on purpose. Use it only when somebody asks for a test."""
        if chance.random() < 0.5:
            raise ToolFailed("the test failed on purpose: try again, or tell that it failed")
        return {"echo": text}

    return tool(test_tool, effect="pure")
