"""The words by which people open, close, correct and go on: the part `wording` of the sentence files."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from agent.intents.intent import Language
from agent.intents.language.clock_times import corrected
from agent.intents.language.every_day import but_some_days
from agent.intents.language.lengths import readable_lengths
from agent.tables import table

_APART: Final = r"[\s,.!?;:—–\-，。！？；：、…]"
"""What stands between words and says nothing."""

_LONGEST: Final[Mapping[Language, int]] = {"en": 500, "zh": 160}
"""Characters of what may be a command, half a minute of speech; what is longer is a story, and matching takes long."""

LEAST: Final = 5
"""Characters before a comma that may be an order by themselves; "right" and "no" are not."""

RUNG_FOR: Final = ("wake", "timer", "remind")
"""Names of the wordings that ask to be rung for."""

PAUSE: Final = " ,，、"
"""What parts words within a sentence."""

_BREAK: Final = re.compile(r"[,.?!] |[，。？！]")
"""Between an order and what is only told behind it."""

_NEVER: Final = "(?!)"
"""What stands for a wording that a language has none of."""

_EDGE: Final[Mapping[Language, str]] = {"en": r"\b(?!')", "zh": ""}
"""Where a word ends."""

_BEFORE: Final[Mapping[Language, str]] = {"en": f"{_APART}+", "zh": f"{_APART}*"}
"""What parts a word from the one before it."""


def sentence_file(language: Language) -> Mapping[str, Any]:
    """Return what stands in the sentence file of a language."""
    return table(__package__, f"sentences/{language}.yaml")


@cache
def beginning(name: str, language: Language) -> re.Pattern[str]:
    """Return a pattern for wordings of a name at the beginning, with what parts them from the rest."""
    return re.compile(f"^{_APART}*(?:(?:{_any(name, language)}){_EDGE[language]}{_APART}*)+", re.IGNORECASE)


@cache
def ending(name: str, language: Language) -> re.Pattern[str]:
    """Return a pattern for wordings of a name at the end, with what parts them from the rest.

    It takes each wording as it comes and none back: of "so about that so about that" there are many readings.
    """
    each = f"(?:{_BEFORE[language]}|^)(?:{_any(name, language)}){_EDGE[language]}"
    return re.compile(f"(?:{each})++{_APART}*$", re.IGNORECASE)


@cache
def anywhere(language: Language, *names: str) -> re.Pattern[str]:
    """Return a pattern for a wording of any of the names; the group that matched has its name."""
    each = "|".join(f"(?P<{name}>{_any(name, language)})" for name in names)
    return re.compile(f"{_EDGE[language][:2]}(?:{each}){_EDGE[language]}", re.IGNORECASE)


def bare(words: str) -> str:
    """Return words without the marks at their end."""
    return words.strip().rstrip(".?!,。？！， ")


def without(words: str, opening: str, closing: str, language: Language) -> str:
    """Return the words without the wordings of these two names at their beginning and their end."""
    opened = beginning(opening, language).match(words)
    return ending(closing, language).sub("", words[opened.end() if opened else 0 :]).strip(" \t\n,.!?;:，。！？；：、")


def is_story(words: str, language: Language) -> bool:
    """Say whether words are too long to be looked through for what they ask."""
    return len(words) > _LONGEST[language]


def without_fillers(words: str, language: Language) -> str:
    """Return a sentence without what people say around what they mean; as it was where nothing else would be left."""
    if is_story(words, language):
        return words
    return without(words, "opening", "closing", language) or words


def mended(words: str, language: Language) -> str:
    """Return a sentence without hesitation and without what its speaker took back in it; times as they are read."""
    words = but_some_days(readable_lengths(corrected(words, language), language), language)
    for pattern, instead in _mending(language):
        words = pattern.sub(instead, words)
    return words.strip()


def plainer(words: str, language: Language) -> list[str]:
    """Return a sentence as it is, and without what opens it, what closes it, or both."""
    once, all_ = (pattern.sub("", words, count=1) for pattern in (_opener(language), beginning("opening", language)))
    closed = ending("closing", language).sub("", words)
    return [each for each in dict.fromkeys((words, once, all_, closed, without_fillers(words, language))) if each]


def first_of(words: str, language: Language) -> str:
    """Return what stands before something that is only told behind it; "" where nothing is."""
    opened = beginning("opening", language).sub("", words, count=1)
    parted = ((*re.split(_BREAK, each, maxsplit=1), "")[:2] for each in (words, opened))
    more = beginning("telling_more", language)
    return next((first for first, rest in parted if len(first) > LEAST and more.match(rest)), "")


def request_in(words: str, language: Language) -> str:
    """Return what stands behind the words by which an order begins, whatever was said before; "" where none does."""
    found = list(anywhere(language, "request").finditer(words))
    rest = words[found[-1].end() :] if found and found[-1].end() < len(words) else ""
    return without_fillers(rest, language) if rest else ""


@cache
def _mending(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(_in_full(pattern, language), re.IGNORECASE), instead)
        for pattern, instead in sentence_file(language)["mending"]
    )


def _in_full(pattern: str, language: Language) -> str:
    """Return a pattern with what each term in it stands for, which may have terms too."""
    for name, meant in reversed(sentence_file(language).get("terms", {}).items()):
        pattern = re.sub(rf"(?<!\?P)<{name}>", meant.replace("\\", r"\\"), pattern)  # (?P<name>…) is a group
    return pattern


@cache
def _opener(language: Language) -> re.Pattern[str]:
    return re.compile(f"^{_APART}*(?:{_any('opening', language)}){_EDGE[language]}{_APART}*", re.IGNORECASE)


def _any(name: str, language: Language) -> str:
    return _in_full("|".join(sentence_file(language)["wording"].get(name, (_NEVER,))), language)
