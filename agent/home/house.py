"""What is in the house: Home Assistant's entities with their names and places, and which of them can open it."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.errors import HomeRefused
from agent.intents.intent import Language, language_of
from agent.tools.mcp.schema import plain
from memory.chinese import simplified
from memory.json_value import Json, fields, listed, objects

Danger: TypeAlias = Literal["lock", "alarm", "door", "valve", "doubt"]
"""What an entity can open; `doubt` is one that may."""

OPENING: Final = frozenset({"lock", "alarm_control_panel", "valve", "cover"})
"""Domains of what can open a house by itself."""

ACTING: Final = frozenset({"switch", "button", "input_button", "input_boolean", "script", "scene", "group", "cover"})
"""Domains of what may open something under any name."""

_DOORS: Final = frozenset({"door", "garage", "gate"})
"""Device classes of covers that let people in."""

_OPENS: Final = re.compile(
    r"(?<![a-z])(doors?|gates?|garages?|(un)?locks?|(un)?latch|alarms?|disarm|valves?|entrance|safe|open(er|ing|s)?)(?![a-z])"
    r"|[门門锁鎖阀閥闸閘]|警报|警戒|报警|撤防|车库|保险柜",
    re.IGNORECASE,
)
"""What is in the names of things that open something."""

REGISTRIES: Final = ("entity", "device", "area", "floor")
"""What is asked, and whose changes are followed."""

MOST_THINGS: Final = 20_000
"""Entities that are looked at."""

MOST_WITH_ALIASES: Final = 500
"""Entities of which the other names are asked: first those that can open something, then what is exposed."""

NAME: Final = 80
"""Characters of a name."""

_BETWEEN: Final = re.compile(r"[\W_]+")

Ask = Callable[..., Awaitable[Json]]
"""Asks Home Assistant (`Connection.ask`)."""


def sounds_like_opening(words: str) -> bool:
    """Whether there is a word in it for opening something, or for what is opened."""
    return _OPENS.search(words) is not None


def danger_of(entity: "Entity", entities: "Mapping[str, Entity]", depth: int = 3) -> Danger | None:
    """Return what an entity can open, None for one that opens nothing. A group opens what its members do."""
    match entity.domain:
        case "lock":
            return "lock"
        case "alarm_control_panel":
            return "alarm"
        case "valve":
            return "valve"
        case "cover" if entity.device_class in _DOORS:
            return "door"
    members = (entities[one] for one in entity.members if one in entities)
    if depth and any(danger_of(member, entities, depth - 1) for member in members):
        return "doubt"
    is_plain = entity.domain not in ACTING or (entity.domain == "cover" and entity.device_class)
    names = (*entity.names, entity.id.replace("_", " "))
    return "doubt" if not is_plain and any(map(sounds_like_opening, names)) else None


class Entity(Struct, frozen=True):
    """Something in the house."""

    id: str
    """As lock.front_door; changes when somebody renames it there."""
    names: tuple[str, ...]
    """What it is called, the name it is shown by first."""
    device_class: str = ""
    places: frozenset[str] = frozenset()
    """Its area and its floor, folded, by id, name and other names."""
    registered: str = ""
    """Its name in the registry, which no renaming changes; "" where it has none."""
    members: tuple[str, ...] = ()
    """Ids of what a group or a scene acts upon."""
    is_hidden: bool = False
    """Whether somebody took it from the voice assistants."""

    @property
    def domain(self) -> str:
        """What kind of thing it is: light, lock, cover and so on."""
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.names[0] if self.names else self.id

    def called(self, language: Language) -> str:
        """Return what it is called in a language, where it has a name that looks so."""
        return next((name for name in self.names if language_of(name) == language), self.name)


class House(Struct, frozen=True):
    """All of it at one moment."""

    entities: Mapping[str, Entity] = {}
    named: Mapping[str, Sequence[Entity]] = {}
    """By each of their names, folded, and by their ids."""
    places: frozenset[str] = frozenset()
    """Every area and floor, folded, by id, name and other names."""
    areas: tuple[str, ...] = ()
    """Names of areas, with the other names of each."""
    exposed: frozenset[str] | None = None
    """Ids of what is exposed to voice assistants; None where the token's user may not know it."""
    guarded: Mapping[str, Danger] = {}
    """What can open something, by id."""


def folded(name: str) -> str:
    """Return a name as names are compared: small letters and digits only, so that "Front-Door" is "front door".

    Chinese ones are compared in simplified characters.
    """
    return simplified(_BETWEEN.sub("", name.casefold()))


async def read_house(ask: Ask) -> House:
    """Ask for everything and return it. Raises as `ask` does where the states cannot be had."""
    states = await ask("get_states")
    told = {registry: await _allowed(ask(f"config/{registry}_registry/list")) for registry in REGISTRIES}
    told["exposure"] = await _allowed(ask("homeassistant/expose_entity/list"))
    registered = [str(row.get("entity_id")) for row in objects(told["entity"])]
    shown = _exposed(told["exposure"]) or frozenset()
    opening = (one for one in registered if one.partition(".")[0] in OPENING)
    ids = [*dict.fromkeys((*opening, *(one for one in registered if one in shown)))][:MOST_WITH_ALIASES]
    more = await _allowed(ask("config/entity_registry/get_entries", entity_ids=[*ids])) if ids else {}
    return await asyncio.to_thread(_built, states, told, fields(more))


async def _allowed(answer: Awaitable[Json]) -> Json:
    """Return an answer, None where this user may not have it, or this version has no such question."""
    try:
        return await answer
    except HomeRefused:
        return None


def _built(states: Json, told: Mapping[str, Json], more: Mapping[str, Json]) -> House:
    registry = {str(row.get("entity_id")): row for row in objects(told["entity"])}
    in_device = {str(row.get("id")): row.get("area_id") for row in objects(told["device"])}
    floors = {str(row.get("floor_id")): _folded(row, "floor_id") for row in objects(told["floor"])}
    areas = {
        str(row.get("area_id")): _folded(row, "area_id") | floors.get(str(row.get("floor_id")), frozenset())
        for row in objects(told["area"])
    }
    entities: dict[str, Entity] = {}
    for state in objects(states)[:MOST_THINGS]:
        one = str(state.get("entity_id"))
        row = registry.get(one, {})
        area = row.get("area_id") or in_device.get(str(row.get("device_id")))
        places = areas.get(str(area), frozenset())
        entities[one] = _entity(state, row, more.get(one), places)
    named: defaultdict[str, list[Entity]] = defaultdict(list)
    for entity in entities.values():
        for name in {folded(name) for name in (*entity.names, entity.id)}:
            named[name].append(entity)
    every = frozenset[str]().union(*areas.values(), *floors.values())
    names = tuple(name for row in objects(told["area"]) for each in _called(row) if (name := plain(each, NAME)))
    guarded = {one: danger for one, entity in entities.items() if (danger := danger_of(entity, entities))}
    return House(entities, dict(named), every, names, _exposed(told["exposure"]), guarded)


def _entity(state: Mapping[str, Json], row: Mapping[str, Json], more: Json, places: frozenset[str]) -> Entity:
    told = fields(state.get("attributes"))
    given = (told.get("friendly_name"), row.get("name"), *listed(fields(more).get("aliases")))
    assist = fields(fields(row.get("options")).get("conversation"))
    return Entity(
        str(state.get("entity_id")),
        tuple(dict.fromkeys(name for each in given if (name := _name(each)))),
        _name(told.get("device_class")),
        places,
        str(row.get("id") or ""),
        tuple(map(str, listed(told.get("entity_id")))),
        assist.get("should_expose") is False,
    )


def _name(given: Json) -> str:
    """Return a name on one line; most are so already, and there are thousands."""
    if not given or (isinstance(given, str) and len(given) <= NAME and given.isprintable() and "  " not in given):
        return str(given or "").strip()
    return plain(given, NAME)


def _exposed(answer: Json) -> frozenset[str] | None:
    exposed = fields(answer).get("exposed_entities")
    if not isinstance(exposed, dict):
        return None
    return frozenset(one for one, to in exposed.items() if isinstance(to, dict) and to.get("conversation"))


def _folded(row: Mapping[str, Json], key: str) -> frozenset[str]:
    return frozenset(folded(name) for name in (row.get(key), *_called(row)) if isinstance(name, str) and folded(name))


def _called(row: Mapping[str, Json]) -> tuple[Json, ...]:
    return row.get("name"), *listed(row.get("aliases"))


def spoken_names(house: House) -> Iterator[str]:
    """Yield names that people may say: of the areas, then of what is exposed."""
    yield from house.areas
    exposed = (house.entities[one] for one in sorted(house.exposed or ()) if one in house.entities)
    yield from (name for entity in exposed for name in entity.names)
