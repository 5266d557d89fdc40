"""The tools of a box as it comes, over nothing: to look at what a model is told of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from agent.context.epochs import Contexts
from agent.event import utc_now
from agent.mailbox import Mailbox
from agent.replies import ReplySink
from agent.run.budget import RunLimits
from agent.run.run_state import RunState
from agent.tools.clock import clock_tool
from agent.tools.device import DeviceVerbs, device_tools
from agent.tools.events import event_tools
from agent.tools.journal import journal_read_tool, journal_tool, recall_tool
from agent.tools.reply import reply_tool
from agent.tools.timers import timer_tools
from agent.tools.tool import Tool
from appliance.config.load import Config
from appliance.wiring.graph import graph_side
from memory.state.journal import Journal
from memory.state.recall import Recall


@asynccontextmanager
async def every_tool(config: Config) -> AsyncIterator[list[Tool]]:
    """Make every tool, to be looked at and not called; no store is started."""
    nothing: object = None
    mailbox, journal, run_state = cast("Mailbox", nothing), cast("Journal", nothing), RunState()
    async with graph_side(config) as graph:
        yield [
            *graph.tools,
            *event_tools(mailbox, run_state, cast("Contexts", nothing), RunLimits()),
            reply_tool(run_state, cast("ReplySink", nothing)),
            *timer_tools(mailbox, utc_now),
            clock_tool(utc_now),
            journal_tool(journal),
            journal_read_tool(journal),
            recall_tool(cast("Recall", nothing)),
            *device_tools(cast("DeviceVerbs", nothing)),
        ]
