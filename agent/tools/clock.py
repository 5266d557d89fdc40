"""What time it is, here and in UTC, as a tool."""

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from agent.context.block import format_time
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from memory.json_value import Json


def tools(context: ToolContext) -> list[Tool]:
    """Return current_time."""
    return [clock_tool(context.now, context.zone)]


def clock_tool(now: Callable[[], datetime], zone: str = "UTC") -> Tool:
    """Return current_time for a home in this zone (a name such as Europe/Berlin).

    Raises `zoneinfo.ZoneInfoNotFoundError` for a name that is none.
    """
    home = ZoneInfo(zone)

    async def current_time() -> Json:
        """Return the present time: in UTC, at home, and the day of the week at home."""
        at = now()
        local = at.astimezone(home)
        return {
            "utc": format_time(at),
            "local": f"{local:%Y-%m-%d %H:%M:%S %Z}",
            "zone": zone,
            "weekday": f"{local:%A}",
        }

    return tool(current_time, effect="pure")
