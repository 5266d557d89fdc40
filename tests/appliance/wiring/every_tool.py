"""The tools of a box as it comes, over nothing: to look at what a model is told of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from agent.context.epochs import Contexts
from agent.context.remembered import Remembered
from agent.event import utc_now
from agent.mailbox import Mailbox
from agent.replies import ReplySink
from agent.run.budget import RunLimits
from agent.run.run_state import RunState
from agent.tools.device import DeviceVerbs
from agent.tools.memory import remember_tool
from agent.tools.registry.context import ToolContext
from agent.tools.registry.discovery import discover
from agent.tools.tool import Tool
from appliance.config.load import Config
from appliance.wiring.memory.graph import graph_side
from memory.recall import Recall
from memory.state.journal import Journal


@asynccontextmanager
async def every_tool(config: Config) -> AsyncIterator[list[Tool]]:
    """Make every tool, to be looked at and not called; no store is started."""
    async with graph_side(config) as graph:
        yield [*graph.tools, remember_tool(cast("Remembered", None)), *discover(over_nothing()).tools]


def over_nothing() -> ToolContext:
    """Return a context whose tools can be looked at and not called."""
    nothing: object = None
    return ToolContext(
        cast("Mailbox", nothing),
        cast("Journal", nothing),
        cast("Recall", nothing),
        cast("Contexts", nothing),
        RunState(),
        cast("ReplySink", nothing),
        cast("DeviceVerbs", nothing),
        RunLimits(),
        utc_now,
        bool,
    )
