"""What the network read, said in the plain words of a command: what people put in a hundred ways, put in one."""

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any, Final

from msgspec import Struct

from agent.intents.intent import Language, Understand
from agent.intents.learned.network import Reading
from agent.tables import table

_LEADING: Final[Mapping[str, re.Pattern[str]]] = {
    "time": re.compile(r"^(?:at|around|about|by|for|till|until) ", re.IGNORECASE),
    "duration": re.compile(r"^(?:in|for|by|about|another|of) ", re.IGNORECASE),
    "label": re.compile(r"^(?:(?:to|for|about|the|my|our) )+", re.IGNORECASE),
    "item": re.compile(r"^(?:the|my|our) ", re.IGNORECASE),
    "list": re.compile(r"^(?:the|my|our) ", re.IGNORECASE),
    "which": re.compile(r"^the ", re.IGNORECASE),
    "old": re.compile(r"^(?:at|the) ", re.IGNORECASE),
}
"""What a plain sentence says itself before a slot."""

_TRAILING: Final[Mapping[str, re.Pattern[str]]] = {
    "duration": re.compile(r" (?:more|extra|longer|less|earlier|sooner)$", re.IGNORECASE),
    "list": re.compile(r" list$|清单$|单子$", re.IGNORECASE),
}
"""What it says behind one."""

_NUMBER: Final = re.compile(r"[\d.]+|[a-z]+(?:[- ][a-z]+)?|[零一二两三四五六七八九十百\d]+", re.IGNORECASE)

_UNIT: Final = re.compile(
    r"hour|min|sec|quarter|half|day|week|month|year|分|秒|钟|刻|时|半|天|周|星期|礼拜|月", re.IGNORECASE
)

_ONE_ONLY: Final = frozenset({"time", "duration", "level", "label"})
"""Slots of which a plain sentence has one, the last that was said: at seven, no, at eight."""

_AROUND: Final = " ,.?!，。？！;；:：、\"'“”"


class Plain(Struct, frozen=True):
    """A plain sentence for a reading."""

    words: str
    is_whole: bool
    """Whether it says all that was read: each slot, and one time or length where only one can be meant."""


def plainly(reading: Reading, language: Language, understand: Understand) -> Plain | None:
    """Return the plain sentence of what was read, one that is understood as that; None where there is none."""
    wish = _wishes()["wishes"].get(reading.name)
    if wish is None:
        return None
    slots, means = _slots(reading, language), wish.get("means", (reading.name,))
    joint = _wishes()["and"][language]
    said = {slot: each[-1] if slot in _ONE_ONLY else joint.join(each) for slot, each in slots.items()}
    for frame in wish[language]:
        wanted = {name for _, name, _, _ in Formatter().parse(frame) if name}
        if wanted <= said.keys() and understand(words := str(frame).format(**said)).name in means:
            return Plain(words, wanted == said.keys() and all(len(slots[slot]) == 1 for slot in _ONE_ONLY & wanted))
    return None


def _slots(reading: Reading, language: Language) -> dict[str, list[str]]:
    """Return the words of each slot, as a plain sentence says them."""
    found: dict[str, list[str]] = {}
    for slot, words in reading.slots:
        found.setdefault(slot, []).append(_trimmed(slot, words, language))
    return found


def _trimmed(slot: str, words: str, language: Language) -> str:
    for pattern in (_LEADING.get(slot), _TRAILING.get(slot)):
        words = pattern.sub("", words).strip(_AROUND) if pattern else words.strip(_AROUND)
    if slot == "duration" and _NUMBER.fullmatch(words) and not _UNIT.search(words):
        words += _wishes()["minutes"][language]
    return words


def _wishes() -> Mapping[str, Any]:
    return table(__package__, "plain.yaml")
