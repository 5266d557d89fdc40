"""What may not be done in the house without a yes: unlocking, disarming, opening doors and valves."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agent.home.house import ACTING, OPENING, Danger, Entity, House, folded, sounds_like_opening
from agent.intents.intent import Language
from agent.tools.mcp.schema import plain
from memory.json_value import Json, fields, listed

READING: Final = frozenset(
    {
        *("GetLiveContext", "GetDateTime", "HassGetState", "HassGetTemperature", "HassGetWeather", "todo_get_items"),
        *("calendar_get_events", "HassGetCurrentTime", "HassGetCurrentDate", "HassClimateGetTemperature"),
    }
)
"""Tools and intents of Home Assistant that change nothing."""

_OF_THEIR_OWN: Final = frozenset(
    {
        *("HassLightSet", "HassClimateSetTemperature", "HassFanSetSpeed", "HassHumidifierMode"),
        *("HassHumidifierSetpoint", "HassMediaNext", "HassMediaPause", "HassMediaPlayerMute", "HassMediaPlayerUnmute"),
        *("HassMediaPrevious", "HassMediaSearchAndPlay", "HassMediaUnpause", "HassSetVolume", "HassSetVolumeRelative"),
        *("HassBroadcast", "HassListAddItem", "HassListCompleteItem", "HassListRemoveItem", "HassShoppingListAddItem"),
        *("HassShoppingListCompleteItem", "HassVacuumReturnToBase", "HassVacuumStart", "HassLawnMowerDock"),
        *("HassLawnMowerStartMowing", "HassNevermind", "HassRespond"),
    }
)
"""Those that act on things of one kind, none of which opens anything."""

_SHUTTING: Final[Mapping[str, frozenset[Danger]]] = {
    "HassTurnOn": frozenset({"lock"}),  # which locks it; turning it off unlocks it
    "HassTurnOff": frozenset({"door", "valve"}),
    "HassCloseCover": frozenset({"door"}),
    "HassStopMoving": frozenset({"door", "valve"}),
}
"""What shuts, by the tool or intent that does it to them."""

_WHOLE: Final = frozenset({"HassTurnOn", "HassTurnOff", "HassToggle", "HassSetPosition", "HassOpenCover"})
"""Those that act on whatever is meant, on everything where nothing is named."""

_SHUTS: Final = re.compile(
    r"lock\.lock|(cover|valve)\.(close|stop)_\w+|alarm_control_panel\.alarm_arm_\w+|(lock|cover|valve)\.reload"
)
"""Actions that open nothing, of the domains that do."""

_REACHING_ON: Final = frozenset({"homeassistant", "script", "automation", "python_script", "shell_command", "pyscript"})
"""Domains of actions that may do anything."""

_TARGETS: Final = ("name", "area", "floor", "domain", "device_class")

MOST_NAMED: Final = 3
"""Things that a question names; of the others it gives the number."""

_LONGEST: Final = 60
"""Characters of a name in a question."""

_WORDS: Final[Mapping[Danger, tuple[str, str]]] = {
    "lock": ("unlock {name}", "把{name}解锁"),
    "alarm": ("change the alarm {name}", "更改警报{name}"),
    "door": ("open {name}", "打开{name}"),
    "valve": ("open {name}", "打开{name}"),
    "doubt": ("switch {name}, which may open a lock or a door", "操作{name}，它可能会打开锁或门"),
}
_MORE: Final = ("{count} more things like that", "另外{count}个这样的东西")
_UNKNOWN: Final = (
    "do this at home, which may open a lock or a door: {what}",
    "在家里做这件事，它可能会打开锁或门：{what}",
)


def is_harmless(tool: str, arguments: Mapping[str, Json]) -> bool:
    """Whether a tool of Home Assistant, by its own name, opens nothing whatever is in the house."""
    domains = _texts(arguments.get("domain"))
    only_others = bool(domains) and not (OPENING | ACTING) & {*domains}
    return tool in READING or tool in _OF_THEIR_OWN or (tool in _WHOLE and only_others)


def opened(house: House, tool: str, arguments: Mapping[str, Json]) -> list[tuple[Entity, Danger]]:
    """Return what a call of a tool may open, by all that it names: names, areas, floors, kinds, or everything."""
    if is_harmless(tool, arguments):
        return []
    shut = _shut_by(tool, arguments)
    there = ((house.entities[one], danger) for one, danger in house.guarded.items() if danger not in shut)
    found = [
        (entity, danger)
        for entity, danger in there
        if not entity.is_hidden and _is_meant(entity, house, tool, arguments)
    ]
    exposed = [(entity, danger) for entity, danger in found if entity.id in (house.exposed or ())]
    return exposed or found  # some are exposed by default, and not listed before they were first looked at


def opened_among(
    house: House, tool: str, arguments: Mapping[str, Json], ids: Iterable[str]
) -> list[tuple[Entity, Danger]]:
    """Return what of these an intent may open."""
    shut = _shut_by(tool, arguments)
    return [(house.entities[one], danger) for one in ids if (danger := house.guarded.get(one)) and danger not in shut]


def is_unclear(house: House, tool: str, arguments: Mapping[str, Json]) -> bool:
    """Whether nobody can tell what a call means, and its words sound like opening something.

    So is one that names what is not in the house, and a tool that is none of Home Assistant's own.
    """
    if is_harmless(tool, arguments):
        return False
    unknown = [name for name in _texts(arguments.get("name")) if name != "all" and folded(name) not in house.named]
    words = [*unknown, *([] if tool in _WHOLE or tool in _SHUTTING else [re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", tool)])]
    return any(map(sounds_like_opening, words))


def opens_by(script: Json, house: House) -> bool:
    """Whether what a script does, by its configuration, may open something; by templates, nobody can tell."""
    match script:
        case list():
            return any(opens_by(each, house) for each in script)
        case dict():
            action = script.get("action") or script.get("service") or ""
            is_device = script.get("domain") in OPENING and script.get("type") not in {"lock", "close"}
            return (
                is_device or _opens_by(action, script, house) or any(opens_by(each, house) for each in script.values())
            )
    return False


def _opens_by(action: Json, script: Mapping[str, Json], house: House) -> bool:
    if not isinstance(action, str) or not action:
        return isinstance(scene := script.get("scene"), str) and scene in house.guarded
    domain = action.partition(".")[0]
    if domain in OPENING or domain in _REACHING_ON or "{" in action:
        return not _SHUTS.fullmatch(action)
    given = (script.get("target"), script.get("data"), script.get("entity_id"))
    return any(text in house.guarded for each in given for text in _texts(each))


def question(found: Sequence[tuple[Entity, Danger]], language: Language) -> str:
    """Return what is about to be done, as words after "to"; "" for nothing."""
    index = 1 if language == "zh" else 0
    called = ((danger, plain(entity.called(language), _LONGEST)) for entity, danger in found)
    every = dict.fromkeys(_WORDS[danger][index].format(name=name) for danger, name in called)
    parts = [*every][:MOST_NAMED]
    if len(every) > MOST_NAMED:
        parts.append(_MORE[index].format(count=len(every) - MOST_NAMED))
    return ("，并且" if index else " and ").join(parts)


def unclear(what: str, language: Language) -> str:
    """Return the words for what nobody knows the effect of."""
    return _UNKNOWN[1 if language == "zh" else 0].format(what=plain(what, 2 * _LONGEST))


def _shut_by(tool: str, arguments: Mapping[str, Json]) -> frozenset[Danger]:
    if tool == "HassSetPosition" and str(arguments.get("position")) in {"0", "0.0"}:
        return frozenset({"door", "valve"})
    return _SHUTTING.get(tool, frozenset())


def _is_meant(entity: Entity, house: House, tool: str, arguments: Mapping[str, Json]) -> bool:
    if tool not in _WHOLE and tool not in _SHUTTING:
        return _is_named(entity, arguments.values())
    given = {key: _texts(arguments.get(key)) for key in _TARGETS}
    if (domains := given["domain"]) and entity.domain not in domains:
        return False
    if (classes := given["device_class"]) and entity.device_class not in classes:
        return False
    if (names := [folded(name) for name in given["name"] if name != "all"]) and not _has_name(entity, names):
        return False
    places = [folded(place) for place in (*given["area"], *given["floor"])]
    return all(place in entity.places or place not in house.places for place in places)


def _is_named(entity: Entity, values: Iterable[Json]) -> bool:
    """Whether any of these texts is a name of it, or of where it stands."""
    texts = [folded(text) for value in values for text in _texts(value)]
    return _has_name(entity, texts) or any(text in entity.places for text in texts)


def _has_name(entity: Entity, texts: Sequence[str]) -> bool:
    return any(folded(name) in texts for name in (*entity.names, entity.id))


def _texts(value: Json) -> list[str]:
    """Return the texts in a value, however deep."""
    if isinstance(value, str):
        return [value]
    return [text for each in (*listed(value), *fields(value).values()) for text in _texts(each)]
