"""The device it lives in, as tools: how loud it speaks, and what a spoken word makes it do at once."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Protocol, TypeAlias

from pydantic import Field

from agent.errors import ToolFailed
from agent.event import Event
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_household
from agent.tools.tool import Tool, tool
from memory.chinese import has_chinese
from memory.json_value import Json

DeviceVerb: TypeAlias = Literal["stop", "wait", "go on", "repeat", "mute", "snooze", "forget"]
"""What `device` does. Not unmute: what a person switched off, no model switches on."""

FORGET: Final = {False: "forget {words}", True: "忘掉{words}"}
"""What is asked first, as words after "to"; True is Chinese."""


class DeviceVerbs(Protocol):
    """What the tools act through: the same verbs as a spoken word and a command."""

    async def set_volume(self, percent: int | None, change: int | None) -> int:
        """Set the volume to so many percent, or change it by so many; return what it is then, 0 to 100."""

    async def act(self, verb: DeviceVerb, minutes: float | None = None) -> str:
        """Do it at once; return the sentence that says what came of it, "" when there was nothing to act upon."""

    async def forget(self, event: Event, about: str = "", minutes: float | None = None) -> str:
        """Forget, when the run of this event is over, it and the turn before it, or all with these words or since then.

        Return the sentence that names what goes, "" when there is nothing.
        """

    async def would_forget(self, about: str, minutes: float | None) -> str:
        """Return the beginnings of what was said with all of these words, or in the last minutes, in quotes."""


def tools(context: ToolContext) -> list[Tool]:
    """Return set_volume and device."""
    return device_tools(context.device)


def device_tools(verbs: DeviceVerbs) -> list[Tool]:
    """Return set_volume and device, for the household alone: another owner does not act on the room."""

    async def set_volume(
        percent: Annotated[int | None, Field(ge=0, le=100)] = None,
        change: Annotated[int | None, Field(ge=-100, le=100, description="Louder (15) or quieter (-15).")] = None,
    ) -> Json:
        """Set how loud you speak, in percent, or change it."""
        if (percent is None) == (change is None):
            raise ToolFailed("give either percent or change")
        return {"percent": await verbs.set_volume(percent, change)}

    async def device(
        event: Event,
        do: DeviceVerb,
        minutes: Annotated[float | None, Field(gt=0, le=720)] = None,
        about: Annotated[str, Field(description="Forget all said with these words; none: what was said last.")] = "",
    ) -> Json:
        """Act on your device at once: stop or pause your voice, mute the microphone, snooze what rings, forget."""
        told = await (verbs.forget(event, about, minutes) if do == "forget" else verbs.act(do, minutes))
        return told or "there was nothing to do"

    async def asks(arguments: Mapping[str, Json]) -> str:
        about = str(arguments.get("about") or "")
        minutes = arguments.get("minutes")
        since = float(minutes) if isinstance(minutes, int | float) else None
        if arguments.get("do") != "forget" or not (about.strip() or since):
            return ""
        words = await verbs.would_forget(about, since)
        return FORGET[has_chinese(about)].format(words=words) if words else ""

    return [
        for_household(tool(set_volume, effect="reversible")),
        for_household(tool(device, effect="reversible", asks_first=asks)),
    ]
