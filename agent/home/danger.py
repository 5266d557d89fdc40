"""What in a house can open it: locks, alarms, doors and valves, and what acts on them under another name."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from agent.home.house import Entity

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
