"""Things named one after the other without a comma, as speech has none: bread milk and eggs; 牛奶鸡蛋面包."""

import re
from functools import cache
from typing import Final

from agent.intents.intent import language_of
from agent.tables import table

_JOINED: Final = "\x1f"
"""Stands for the "and" within a name while the things are taken apart."""

_NUMBER_ZH: Final = "一二两三四五六七八九十百半几0-9"
_COUNTED_ZH: Final = f"[{_NUMBER_ZH}]+(?:公斤|[把瓶斤个箱盒袋包条只块份碗罐桶打双支卷张本根颗棵片串])"
_EACH_COUNTED_ZH: Final = re.compile(f"{_COUNTED_ZH}[^{_NUMBER_ZH}]{{1,6}}")


def with_pairs_kept(words: str) -> str:
    """Return words in which no "and" is left that belongs to a name: mac and cheese."""
    pairs = re.compile(rf"\b(?:{_any('pairs')}|(?:{_any('pairs_before')}) (?:{_any('of_pairs')}))\b", re.IGNORECASE)
    return pairs.sub(lambda found: re.sub(r"\band\b", _JOINED, found.group()), words)


def with_pairs_told(thing: str) -> str:
    """Return a thing with the "and" that its name has."""
    return thing.replace(_JOINED, "and")


def each_of(thing: str) -> list[str]:
    """Return the things that stand side by side in what was said as one; the thing itself where it is one."""
    return _each_chinese(thing) if language_of(thing) == "zh" else _each_english(thing)


USED_UP_ZH: Final = "(?:用完|吃完|喝完|没有?|见底|剩?不多)了"
"""What says that there is no more of a thing, as a regular expression."""

_NO_NAME: Final = re.compile(
    r"\b(?:my|our|your|his|her|their|the|this|that|these|those|it|me|you|him|them|is|are|was|were|to|at|on|in|by|from|for|about|"
    r"\w+day|today|tomorrow|tonight)\b|\w's\b|\d{3}",
    re.IGNORECASE,
)
_NAMES: Final = re.compile(r"[a-z][a-z'-]*(?:(?:,? and |, | )[a-z'-]+){0,7}[.!]?", re.IGNORECASE)
_NAMES_ZH: Final = re.compile(
    "(?!.*[我你他她它这那是在有叫姓住点号第的了会要能不去来])[^，。？]{1,6}(?:[、，和跟][^，。？]{1,6}){0,5}[。！]?"
)
"""Things and nothing said of them."""


def names_things(words: str) -> bool:
    """Say whether words name things and tell nothing of them: bin bags and milk; a fact would tell something."""
    if language_of(words) == "zh":
        return _NAMES_ZH.fullmatch(words) is not None
    return _NAMES.fullmatch(words) is not None and _NO_NAME.search(words) is None


def is_thing(thing: str) -> bool:
    """Say whether a Chinese thing is one that stands on shopping lists."""
    return re.fullmatch(f"(?:{_COUNTED_ZH})?(?:{_any('foods_zh')}|[盐糖米油醋])", thing) is not None


def _each_english(thing: str) -> list[str]:
    words = thing.split()
    if len(words) < 2 or not all(word.lower() in _things() for word in words):
        return [thing]
    compound = re.compile(_any("compounds"), re.IGNORECASE)
    found: list[str] = []
    while words:
        size = 2 if compound.fullmatch(" ".join(words[:2])) else 1
        found.append(" ".join(words[:size]))
        words = words[size:]
    return found


def _each_chinese(thing: str) -> list[str]:
    counted = _EACH_COUNTED_ZH.findall(thing)
    if len(counted) > 1 and "".join(counted) == thing:
        return counted
    found = re.findall(f"(?:{_COUNTED_ZH})?(?:{_any('foods_zh')})", thing)
    is_one = re.fullmatch(f"(?:{_any('tastes_zh')})(?:{_any('made_of_zh')})", thing) is not None
    return found if len(found) > 1 and "".join(found) == thing and not is_one else [thing]


@cache
def _any(name: str) -> str:
    return "|".join(table(__package__, "things.yaml")[name])


@cache
def _things() -> frozenset[str]:
    return frozenset(table(__package__, "things.yaml")["things"].split())
