"""The device it lives in, as tools: how loud it speaks, and what a spoken word makes it do at once."""

from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import Field

from agent.errors import ToolFailed
from agent.event import HOUSEHOLD, Event
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from memory.json_value import Json

DeviceVerb: TypeAlias = Literal["stop", "wait", "go on", "repeat", "mute", "snooze", "forget"]
"""What `device` does. Not unmute: what a person switched off, no model switches on."""


class DeviceVerbs(Protocol):
    """What the tools act through: the same verbs as a spoken word and a command."""

    async def set_volume(self, percent: int | None, change: int | None) -> int:
        """Set the volume to so many percent, or change it by so many; return what it is then, 0 to 100."""

    async def act(self, verb: DeviceVerb, minutes: float | None = None) -> str:
        """Do it at once; return the sentence that says what came of it, "" when there was nothing to act upon."""


def tools(context: ToolContext) -> list[Tool]:
    """Return set_volume and device."""
    return device_tools(context.device)


def device_tools(verbs: DeviceVerbs) -> list[Tool]:
    """Return set_volume and device, for the household alone: another owner does not act on the room."""

    async def set_volume(
        event: Event,
        percent: Annotated[int | None, Field(ge=0, le=100)] = None,
        change: Annotated[int | None, Field(ge=-100, le=100, description="Louder (15) or quieter (-15).")] = None,
    ) -> Json:
        """Set how loud you speak, in percent, or change it."""
        _household_only(event)
        if (percent is None) == (change is None):
            raise ToolFailed("give either percent or change")
        return {"percent": await verbs.set_volume(percent, change)}

    async def device(
        event: Event, do: DeviceVerb, minutes: Annotated[float | None, Field(gt=0, le=720)] = None
    ) -> Json:
        """Act on your device at once: stop or pause your voice, mute the microphone, snooze what rings, forget this."""
        _household_only(event)
        return await verbs.act(do, minutes) or "there was nothing to do"

    return [tool(set_volume, effect="reversible"), tool(device, effect="reversible")]


def _household_only(event: Event) -> None:
    if event.owner_key != HOUSEHOLD:
        raise ToolFailed("only the household may do that")
