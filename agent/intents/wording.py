"""The words by which people open, close, correct and go on: the part `wording` of the sentence files."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from agent.intents.intent import Language

_APART: Final = r"[\s,.!?;:—–\-，。！？；：、…]"
"""What stands between words and says nothing."""

_NEVER: Final = "(?!)"
"""What stands for a wording that a language has none of."""

_EDGE: Final[Mapping[Language, str]] = {"en": r"\b(?!')", "zh": ""}
"""Where a word ends."""

_BEFORE: Final[Mapping[Language, str]] = {"en": f"{_APART}+", "zh": f"{_APART}*"}
"""What parts a word from the one before it."""


@cache
def sentence_file(language: Language) -> Mapping[str, Any]:
    """Return what stands in the sentence file of a language."""
    import yaml

    read: Mapping[str, Any] = yaml.safe_load(
        files(__package__).joinpath(f"sentences/{language}.yaml").read_text(encoding="utf-8")
    )
    return read


@cache
def beginning(name: str, language: Language) -> re.Pattern[str]:
    """Return a pattern for wordings of a name at the beginning, with what parts them from the rest."""
    return re.compile(f"{_APART}*(?:(?:{_any(name, language)}){_EDGE[language]}{_APART}*)+", re.IGNORECASE)


@cache
def ending(name: str, language: Language) -> re.Pattern[str]:
    """Return a pattern for wordings of a name at the end, with what parts them from the rest."""
    return re.compile(f"(?:(?:{_BEFORE[language]}|^)(?:{_any(name, language)}))+{_APART}*$", re.IGNORECASE)


@cache
def anywhere(language: Language, *names: str) -> re.Pattern[str]:
    """Return a pattern for a wording of any of the names; the group that matched has its name."""
    each = "|".join(f"(?P<{name}>{_any(name, language)})" for name in names)
    return re.compile(f"{_EDGE[language][:2]}(?:{each}){_EDGE[language]}", re.IGNORECASE)


def without(words: str, opening: str, closing: str, language: Language) -> str:
    """Return the words without the wordings of these two names at their beginning and their end."""
    opened = beginning(opening, language).match(words)
    return ending(closing, language).sub("", words[opened.end() if opened else 0 :]).strip(" \t\n,.!?;:，。！？；：、")


def without_fillers(words: str, language: Language) -> str:
    """Return a sentence without what people say around what they mean; as it was where nothing else would be left."""
    return without(words, "opening", "closing", language) or words


def _any(name: str, language: Language) -> str:
    return "|".join(sentence_file(language)["wording"].get(name, (_NEVER,)))
