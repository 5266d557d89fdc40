"""What differs between two readings of the configuration, and what of that can change while nakari runs."""

from typing import Final

from msgspec import Struct
from msgspec.structs import fields

from appliance.config.sections import Settings

LIVE: Final = frozenset(
    ("log.level", "log.words", "log.file", "voice.volume", "announcements.per_day", "announcements.urgent_wait")
)
"""Keys that `nakari config reload` takes over; every other one holds from the next start on."""


def changed(before: Settings, after: Settings) -> list[str]:
    """Return what is set otherwise, in the file's order: keys as "section.key", and whole tables such as "models"."""
    found: list[str] = []
    for section in fields(Settings):
        old, new = getattr(before, section.name), getattr(after, section.name)
        if isinstance(old, Struct):
            keys = (field.name for field in fields(old) if getattr(old, field.name) != getattr(new, field.name))
            found += [f"{section.name}.{key}" for key in keys]
        elif old != new:
            found.append(section.name)
    return found
