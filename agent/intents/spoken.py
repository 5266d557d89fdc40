"""How times, lengths of time and other people's words are said, in English and Chinese."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from agent.intents.intent import Language

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS_ZH: Final = "一二三四五六日"

_PARTS: Final = (
    (5, "at night"),
    (12, "in the morning"),
    (18, "in the afternoon"),
    (22, "in the evening"),
    (24, "at night"),
)
_PARTS_ZH: Final = ((5, "凌晨"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上"))
"""The parts of the day, each with the hour before which it ends."""

_UNITS: Final = (("hour", "小时", 3600), ("minute", "分钟", 60), ("second", "秒", 1))

_TOLD_UNITS: Final[Mapping[str, str]] = {"day": "天", "hour": "小时", "minute": "分钟", "second": "秒"}

_LENGTH: Final = re.compile(r"(\d+ (day|hour|minute|second)s? ?)+|(\d+(天|小时|分钟|秒))+")

_TO_YOU: Final[Mapping[str, str]] = {
    "i am": "you are",
    "i'm": "you're",
    "i was": "you were",
    "i've": "you've",
    "i'll": "you'll",
    "i'd": "you'd",
    "am i": "are you",
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "we": "you",
    "us": "you",
    "our": "your",
    "ours": "yours",
    "you are": "I am",
    "you're": "I'm",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "you": "I",
}
"""Longest first; a "you" at the end of what was said is "me"."""
_PERSONS: Final = re.compile(rf"\b({'|'.join(sorted(_TO_YOU, key=len, reverse=True))})\b", re.IGNORECASE)

_TO_YOU_ZH: Final[Mapping[str, str]] = {"我们": "你们", "咱们": "你们", "我": "你", "您": "我", "你": "我"}
_PERSONS_ZH: Final = re.compile("|".join(_TO_YOU_ZH))


def length(seconds: int, language: Language) -> str:
    """Return a length of time: `1 hour 30 minutes`, `1小时30分钟`."""
    left, words = seconds, []
    for english, chinese, unit in _UNITS:
        count, left = divmod(left, unit)
        if count and language == "zh":
            words.append(f"{count}{chinese}")
        elif count:
            words.append(f"{count} {english}" if count == 1 else f"{count} {english}s")
    return ("" if language == "zh" else " ").join(words)


def told_length(told: str, language: Language) -> str:
    """Return a length as the timers' tool tells it (`1 hour 30 minutes`) in the language."""
    if language == "en":
        return told
    parts = re.findall(r"(\d+) (day|hour|minute|second)s?", told)
    return "".join(f"{count}{_TOLD_UNITS[unit]}" for count, unit in parts) or told


def is_length(text: str) -> bool:
    """Say whether a text is a length of time, in either language, as `length` says it."""
    return _LENGTH.fullmatch(text) is not None


def clock(at: datetime, language: Language) -> str:
    """Return a time of day: `2:05 in the afternoon`, `noon`, `下午2点05分`."""
    hour = at.hour % 12 or 12
    if language == "zh":
        minutes = f"{at.minute:02}分" if at.minute else "整"
        return f"{_part_of_day(at.hour, _PARTS_ZH)}{hour}点{minutes}"
    if not at.minute and hour == 12:
        return "noon" if at.hour else "midnight"
    time = f"{hour}:{at.minute:02}" if at.minute else f"{hour} o'clock"
    return f"{time} {_part_of_day(at.hour, _PARTS)}"


def date(at: datetime, language: Language) -> str:
    """Return a date with its weekday: `Saturday, November 21, 2026`, `2026年11月21日，星期六`."""
    if language == "zh":
        return f"{at.year}年{at.month}月{at.day}日，星期{_WEEKDAYS_ZH[at.weekday()]}"
    return f"{_WEEKDAYS[at.weekday()]}, {_MONTHS[at.month - 1]} {at.day}, {at.year}"


def to_second_person(words: str, language: Language) -> str:
    """Turn what a person said of themselves to them: `my keys are here` becomes `your keys are here`."""
    if language == "zh":
        return _PERSONS_ZH.sub(lambda found: _TO_YOU_ZH[found.group()], words)
    turned = _PERSONS.sub(lambda found: _TO_YOU[found.group().lower()], words)
    return f"{turned[:-1]}me" if words.lower().endswith(" you") else turned


def _part_of_day(hour: int, parts: Sequence[tuple[int, str]]) -> str:
    return next(name for until, name in parts if hour < until)
