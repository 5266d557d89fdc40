"""Dates as they are said and told: the fifth of May, 五月五号, 2027年5月5日."""

import re
from typing import Final

from agent.intents.intent import Language

WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
"""An English day of the week, in small letters."""

DATE_ZH: Final = re.compile(r"(?:\d{4}年)?([\d一二三四五六七八九十]{1,3}月[\d一二三四五六七八九十]{1,3})[日号]?")

MONTHS: Final = "(?:jan|febr|march|april|may|june|july|august|sept|octo|novem|decem)[a-z]*"
"""An English month, in small letters."""

_NUMBERED: Final = r"(?:\d{1,2}(?:st|nd|rd|th)?|(?:twenty|thirty)[ -][a-z]+|[a-z]+)"
DATED: Final = rf"(?:the {_NUMBERED} of {MONTHS}|{MONTHS} (?:the )?{_NUMBERED})"
DATE_EN: Final = re.compile(rf"\b{DATED}\b", re.IGNORECASE)


def date_in(text: str, language: Language) -> str:
    """Return the first date in a text as it stands there, "" where it has none."""
    if language == "en":
        return found.group() if (found := DATE_EN.search(text)) else ""
    return f"{told[1]}号" if (told := DATE_ZH.search(text)) else ""
