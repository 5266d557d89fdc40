"""Says of a call or a sentence to Home Assistant what it is about to open, so that somebody is asked first."""

from collections.abc import Iterable, Mapping
from typing import Final

from agent.errors import ToolFailed
from agent.home.guard import is_harmless, is_unclear, opened, opened_among, opens_by, question, unclear
from agent.home.home import Home
from agent.home.house import Danger, Entity, House, folded
from agent.intents.intent import Language
from agent.tools.mcp.server import Offered
from memory.json_value import Json, fields

RECOGNIZE: Final = "conversation/agent/homeassistant/debug"
"""Has a sentence understood without carrying it out."""

MOST_SCRIPTS: Final = 5
"""Of those in one call that are looked into."""


class Consent:
    """Judges calls by the house as it is now; where nobody can tell how it is, what may open something is asked."""

    def __init__(self, home: Home, language: Language) -> None:
        """`language` is the house's, for the words of a question about a tool."""
        self._home = home
        self._language: Language = language

    async def tool(self, offered: Offered, arguments: Mapping[str, Json]) -> str:
        """Return what a call of one of its tools is about to open, as words after "to"; "" for nothing."""
        if is_harmless(offered.name, arguments):
            return ""
        house = await self._home.known()
        if house is not None and is_unclear(house, offered.name, arguments):
            house = await self._home.known(anew=True)  # it may have been renamed just now
        if house is None:
            return unclear(_described(offered.name, arguments), self._language)
        found = opened(house, offered.name, arguments)
        found += await self._through(house, _named(house, offered.name, arguments))
        if not found and is_unclear(house, offered.name, arguments):
            return unclear(_described(offered.name, arguments), self._language)
        return question(found, self._language)

    async def sentence(self, sentence: str, understood: Mapping[str, Json], language: Language) -> str:
        """Return what carrying out a sentence is about to open, by how it was understood there; "" for nothing."""
        house = await self._home.known()
        intent, targets, details = (understood.get(key) for key in ("intent", "targets", "details"))
        if house is None or not isinstance(intent, dict):  # a sentence of an automation: nobody knows what that does
            return unclear(sentence, language) if house is None or house.guarded else ""
        name = str(intent.get("name"))
        given = fields(details)
        arguments = {key: each.get("value") for key, each in given.items() if isinstance(each, dict)}
        if is_harmless(name, arguments):
            return ""
        ids = [*targets] if isinstance(targets, dict) else []
        found = opened_among(house, name, arguments, ids) if ids else opened(house, name, arguments)
        found += await self._through(house, (house.entities[one] for one in ids if one in house.entities))
        if not found and is_unclear(house, name, arguments):
            return unclear(sentence, language)
        return question(found, language)

    async def _through(self, house: House, entities: Iterable[Entity]) -> list[tuple[Entity, Danger]]:
        """Return those scripts that open something."""
        scripts = [each for each in entities if each.domain == "script" and each.id not in house.guarded]
        return [(each, "doubt") for each in scripts[:MOST_SCRIPTS] if await self._opens(house, each)]

    async def _opens(self, house: House, script: Entity) -> bool:
        try:
            return opens_by(await self._home.ask("script/config", entity_id=script.id), house)
        except ToolFailed:
            return bool(house.guarded)


def _named(house: House, tool: str, arguments: Mapping[str, Json]) -> list[Entity]:
    """Return what a call names, and the script that a tool is."""
    names = [folded(value) for value in arguments.values() if isinstance(value, str)]
    found = [entity for name in names for entity in house.named.get(name, ())]
    script = house.entities.get(f"script.{tool.lower()}")
    return [*found, *([script] if script else [])]


def _described(tool: str, arguments: Mapping[str, Json]) -> str:
    given = ", ".join(str(value) for value in arguments.values() if isinstance(value, str | int | float))
    return f"{tool} ({given})" if given else tool
