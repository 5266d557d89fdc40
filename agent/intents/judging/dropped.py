"""What a guess leaves out of a sentence: a verb that wants something else, by which the guess is none of it."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agent.intents.intent import Language
from agent.intents.language.house import is_of_house, names_device
from agent.intents.language.patterns import patterns
from agent.intents.learned.network import Reading

_QUIET: Final[Mapping[Language, str]] = {
    "en": (
        r"(?:(?:be|keep|stay|go) (?:quiet|silent)|shut up|hush|silence|mute|"
        r"(?:don't|do not|stop) (?:talk|speak|say|mak)\w*|zip it|pipe down)"
    ),
    "zh": "(?:安静|闭嘴|静音|别说话|不要说话|别出声|别吵)",
}

_ELSE: Final[Mapping[Language, str]] = {
    "en": (
        r"^(?:please |can you |could you |just |and |now )*(?:play|sing|read|call|phone|text|message|email|send|show|"
        r"find|search|google|translate|spell|explain|describe|book|cook|clean|wash|feed|walk|drive|eat|drink|talk|listen|"
        r"watch|look|count (?:up )?to|charge|print|scan|record|film|draw|tell me a|let's|"
        r"take(?! (?:.* )?(?:off|from|out of|away)\b))\b"
    ),
    "zh": "^(?:请|帮我|给我|把|你|去|再|先|那)*"
    "(?:播|唱|打电话|打个电话|发[个条短微邮]|翻译|洗|扫|拖|擦|喂|遛|拍|录|充电|打印|搜|数到|数数|会数)",
}
"""What begins a sentence that wants something which no guess does."""

_OF_QUIET: Final = frozenset({"quiet", "mute", "volume_down", "volume_set"})
_OF_SOUND: Final = frozenset({"volume_up", "volume_down", "volume_set"})
_OF_CANCELLING: Final = frozenset({"ring_cancel", "ring_cancel_all"})

_ASKS_NOTHING: Final = frozenset(
    {"ring_left", "ring_list", "time", "date", "days_until", "list_tell", "list_has", "convert"}
)
"""Wishes that are told; a verb in their words may be what is asked about."""

_LISTING: Final = patterns(
    en=r"\b(?:add|put|stick|pop|chuck|write|note|list|shopping|needs?|needed|wants?|wanted|out of|run|running|ran|low|"
    r"buy|get|grab|pick up|order|more|and|also|plus|oh|finished|used|last|empty|gone|left|remember|forget|"
    r"could do with|short|missing|nearly|almost|another|some)\b",
    zh="[加添写记买要缺没完单还再来补囤也需少带光空拿差和]|见底",
)
"""Of which one stands in what wants a thing on a list, beside the thing."""

_TO_DO: Final = re.compile(r"\b(?:need|needs|have|has|want|wants|got|ought|going|like|try|time) to $", re.IGNORECASE)
"""Behind which stands what somebody does, and no thing: we need to talk."""

_BUYING: Final = re.compile(
    r"^(?:please |and |can you |could you )*(?:buy|get)\b|\blist\b|^(?:再|去|要|帮我|给我|也)*买|清单|单子", re.I
)
"""What the box is asked for that a house cannot do: to buy, which puts it on the list."""


def wants_else(reading: Reading, words: str, language: Language, *, is_outside: bool) -> bool:
    """Say whether the words want something else than the reading, which leaves out a verb or what it is said of.

    `is_outside`: a sentence fits that asks for what some other box could do; buying alone may be meant for a list.
    """
    if reading.name in _ASKS_NOTHING:
        return is_outside
    if is_outside and not (reading.name.startswith("list_") and _BUYING.search(words)):
        return True
    rest = _rest(words, [said for _, said in reading.slots])
    if reading.name not in _OF_QUIET | _OF_SOUND and re.search(_ELSE[language], rest, re.IGNORECASE):
        return True
    if reading.name not in _OF_QUIET and re.search(_QUIET[language], rest, re.IGNORECASE):
        return True
    is_ended = reading.name in _OF_CANCELLING | _OF_SOUND and not names_device(words, language)
    if not is_ended and reading.name not in {"remind", "remember"} and is_of_house(rest, language):
        return True
    return reading.name == "list_add" and _is_no_thing(reading, words, rest, language)


def _is_no_thing(reading: Reading, words: str, rest: str, language: Language) -> bool:
    """Say whether what is read as a thing for a list is what somebody does, or nothing shows that a list is meant."""
    slots = dict(reading.slots)
    item = slots.get("item", "")
    if "list" in slots or not item:
        return False
    before = words[: words.find(item)] if item in words else ""
    return bool(_TO_DO.search(before)) or is_of_house(item, language) or _LISTING[language].search(rest) is None


def _rest(words: str, said: Sequence[str]) -> str:
    """Return the words without those that stand in slots."""
    for each in said:
        words = words.replace(each, " ", 1)
    return words.strip()
