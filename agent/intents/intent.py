"""What a sentence asks for, as the rules of the offline model see it."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from memory.chinese import has_chinese

Language = Literal["en", "zh"]
Slot = str | int | float

_SECONDS: Final = (("hours", 3600), ("minutes", 60), ("seconds", 1))


class Intent(Struct, frozen=True):
    """What a sentence asks for."""

    name: str
    """An intent of the sentence files, e.g. timer_start; `unknown` when no sentence fits."""
    slots: Mapping[str, Slot] = {}
    """Values by slot; free text as it was said."""

    def number(self, slot: str) -> int:
        """Return a slot's number, 0 when it is not there."""
        value = self.slots.get(slot, 0)
        return 0 if isinstance(value, str) else int(value)

    def text(self, slot: str) -> str:
        """Return a slot's text, "" when it is not there."""
        return str(self.slots.get(slot, ""))

    def seconds(self, prefix: str = "") -> int:
        """Return the length of time in the slots hours, minutes and seconds, which may have a prefix; in seconds."""
        return sum(self.number(prefix + unit) * size for unit, size in _SECONDS)


Understand: TypeAlias = Callable[[str], Intent]

UNKNOWN: Final = Intent("unknown")

TIMED: Final = frozenset({"timer_start", "alarm"})
"""Intents that want a time, and ring."""


def language_of(words: str) -> Language:
    """Return Chinese for words with a Chinese character in them, else English."""
    return "zh" if has_chinese(words) else "en"
