"""The weather as a tool: now and the coming days, at the house or anywhere."""

from typing import Annotated, Final

from pydantic import Field

from agent.replies import Source
from agent.run.run_state import RunState
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from agent.web.weather import MOST_DAYS, OpenMeteo
from memory.json_value import Json

OPEN_METEO: Final = Source("Weather data by Open-Meteo.com", "https://open-meteo.com/")
"""As its licence (CC BY 4.0) wants it named."""


def tools(context: ToolContext) -> list[Tool]:
    """Return weather, where somebody may be asked for it."""
    return [weather_tool(context.weather, context.run_state)] if context.weather else []


def weather_tool(service: OpenMeteo, run_state: RunState) -> Tool:
    """Return weather. Its answer is numbers and the short names of places, so that it is not marked as a stranger's."""

    async def weather(
        place: Annotated[str, Field(max_length=100, description="A town, where it is not here.")] = "",
        days: Annotated[int, Field(ge=1, le=MOST_DAYS, description="Today is the first.")] = 3,
    ) -> Json:
        """Tell the weather now and of the coming days, here or at another place. Say only what they asked, rounded."""
        told = await service.weather(place, days)
        run_state.sources.asked(OPEN_METEO)
        return told

    return tool(weather, effect="pure", timeout=18.0, brief="Tell the weather now and of the coming days.")
