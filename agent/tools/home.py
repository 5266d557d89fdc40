"""The house as tools: a sentence to Home Assistant, and what happens there told when it has come."""

from collections.abc import Callable, Mapping
from typing import Annotated, Final

from msgspec import Struct
from pydantic import Field

from agent.errors import ToolFailed
from agent.event import Event
from agent.home.asking import Sentences
from agent.home.home import Home
from agent.home.house import Entity, House, folded
from agent.home.watches import MOST_WATCHES, Watch, Watches, watch_of
from agent.tools.mcp.schema import plain
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_members
from agent.tools.tool import Tool, from_outside, render, tool
from memory.json_value import Json

NOT_SHARED: Final = "the house is the household's, and whoever speaks is no member of it: do without it"

_SECONDS: Final = 25.0
"""For two questions and the devices that carry out what they ask."""

_SAY: Final = "Have Home Assistant carry out a short sentence about the house, such as: turn off the kitchen light."

_NEAR: Final = 5
"""Names that are given where one is not known."""

Which = Annotated[str, Field(max_length=200, description="Its name or its id there.")]


class HomeTools(Struct, frozen=True):
    """What the tools of the house act through."""

    home: Home
    sentences: Sentences
    watches: Watches

    async def home_say(self, sentence: Annotated[str, Field(max_length=500)]) -> Json:
        """Have Home Assistant carry out a short sentence about the house, as a person would say it there.

        Use the home_Hass tools where there are any; this understands less.
        """
        return await self.sentences.carry_out(sentence)

    async def home_watch(
        self,
        event: Event,
        name: Which,
        tell: Annotated[str, Field(max_length=200, description="What they want to hear then, in their language.")],
        state: Annotated[str, Field(max_length=100, description="Its state then; empty for any other than now.")] = "",
        above: float | None = None,
        below: float | None = None,
    ) -> Json:
        """Be told by an event when something in the house has another state: the washing machine is done.

        `above` and `below` are for a number: power below 5 W. It lasts over restarts, and comes once.
        """
        entity, now = await self._state_of(name)
        if len(await self.watches.all()) >= MOST_WATCHES:
            raise ToolFailed(f"{MOST_WATCHES} things are watched, and no more can be: forget one first")
        watch = Watch(entity.id, entity.registered, entity.name, now, state, above, below)
        if (state or above is not None or below is not None) and watch.has_come(now):
            raise ToolFailed(from_outside(f"{entity.name} is {now} already", "home"))
        return _shown(await self.watches.add(event, watch, tell))

    async def home_watches(self, event: Event, forget: str = "") -> Json:
        """List what is watched for in the house; `forget` ends one, by its id or name."""
        waiting = await self.watches.all(event.owner_key)
        if not forget:
            return [_shown(each) for each, _ in waiting] or "nothing is watched"
        chosen = (each for each, watch in waiting if forget == each.id or folded(forget) == folded(watch.name))
        if (found := next(chosen, None)) is None or not await self.watches.remove(found):
            raise ToolFailed("no such thing is watched")
        return {"forgotten": _shown(found)}

    async def _state_of(self, name: str) -> tuple[Entity, str]:
        """Return the entity of a name, and the state that it is in."""
        house = await self.home.known()
        if house is not None and folded(name) not in house.named:
            house = await self.home.known(anew=True)
        if house is None:
            raise ToolFailed(f"unavailable: Home Assistant: {self.home.reason}")
        meant = house.named.get(folded(name), ())
        if len(meant) != 1:
            raise ToolFailed(_not_one(name, house))
        states = await self.home.states_of(meant[0].id)
        return meant[0], states.get(meant[0].id, "")


def tools(context: ToolContext) -> list[Tool]:
    """Return home_say, home_watch and home_watches; nothing where there is no Home Assistant."""
    return home_tools(context.home, context.shares) if context.home else []


def home_tools(own: HomeTools, shares: Callable[[str], bool]) -> list[Tool]:
    """Return the tools over the house, for members."""

    async def asks_first(arguments: Mapping[str, Json]) -> str:
        return await own.sentences.asks_first(str(arguments.get("sentence", "")))

    made = [
        tool(own.home_say, timeout=_SECONDS, brief=_SAY, asks_first=asks_first, outside="home"),
        tool(own.home_watch, effect="reversible", outside="home"),
        tool(own.home_watches, effect="reversible", outside="home"),
    ]
    return [for_members(each, shares, NOT_SHARED) for each in made]


def _not_one(name: str, house: House) -> str:
    wanted = folded(name)
    near = [each for key, each in house.named.items() if wanted and (wanted in key or key in wanted)]
    there = [f"{entity.name} ({entity.id})" for entities in near[:_NEAR] for entity in entities[:_NEAR]]
    said = from_outside("; ".join(there), "home") if there else "nothing like it"
    return f"nothing there has exactly the name {plain(name, 100)!r}; there is: {said}"


def _shown(event: Event) -> Json:
    watch = watch_of(event)
    if watch is None:
        return {"id": event.id}
    waits: dict[str, Json] = {key: value for key, value in watch.to_json().items() if value not in ("", None)}
    del waits["entity"]
    waits.pop("registered", None)
    return {"id": event.id, "tell": str(event.metadata.get("tell", "")), "watched": from_outside(render(waits), "home")}
