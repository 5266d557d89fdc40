"""Voices: learning one with its owner's consent, telling who speaks, and correcting who spoke."""

from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

from agent.errors import ToolFailed
from agent.event import Event
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_household
from agent.tools.tool import Tool, tool
from memory.chinese import has_chinese
from memory.json_value import Json

VoiceVerb: TypeAlias = Literal["learn", "who", "correct", "forget"]

LONGEST_NAME: Final = 40
"""Characters."""

LEARN: Final = {
    False: "keep this voice as {name}'s, on this box only, to know who speaks",
    True: "记住这个声音是{name}的，只存在这台机器上，用来认出是谁在说话",
}
"""What is asked first, as words after "to"; True is Chinese."""


class SpeakerVoices(Protocol):
    """What the tool acts through (`appliance.speakers.speakers.Speakers`). Each raises `ToolFailed` with a sentence."""

    async def learn(self, name: str, event: Event) -> str:
        """Keep the voice of whoever speaks; return what came of it."""

    async def who(self, event: Event) -> Json:
        """Return the name of whoever speaks, "unknown" where nobody known is near, and who is known."""

    async def correct(self, name: str, event: Event, of: str) -> str:
        """Take it that somebody else said an event, "" for the one before; return what was changed."""

    async def forget(self, name: str, event: Event) -> str:
        """Keep nothing more of somebody's voice, "" for the speaker's own; return what came of it."""


def tools(context: ToolContext) -> list[Tool]:
    """Return voice, where nakari listens for who speaks."""
    return [] if context.voices is None else [voice_tool(context.voices)]


def voice_tool(voices: SpeakerVoices) -> Tool:
    """Return voice, for the household alone."""

    async def voice(event: Event, do: VoiceVerb, name: str = "", of: str = "") -> Json:
        """Voices: learn the speaker's as name's (asks them), who speaks, correct who said event of or the last."""
        name = " ".join(name.split())[:LONGEST_NAME]
        if not name and do in ("learn", "correct"):
            raise ToolFailed("give the name")
        match do:
            case "learn":
                return await voices.learn(name, event)
            case "who":
                return await voices.who(event)
            case "correct":
                return await voices.correct(name, event, of)
            case "forget":
                return await voices.forget(name, event)

    async def asks(arguments: Mapping[str, Json]) -> str:
        name = " ".join(str(arguments.get("name") or "").split())
        return LEARN[has_chinese(name)].format(name=name) if arguments.get("do") == "learn" and name else ""

    return for_household(tool(voice, effect="reversible", asks_first=asks))
