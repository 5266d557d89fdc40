"""Times said without what they are for, read as parts of whole sentences: in ten; half past; twelve."""

import re
from collections.abc import Iterator
from typing import Final

from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Understand
from agent.intents.language.lengths import NUMBER
from agent.intents.language.patterns import patterns

_FRAMES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("set a timer for {}", "remind me {}", "remind me at {}", "remind me in {}"),
    "zh": ("设一个{}计时器", "{}提醒我"),
}
"""Whole sentences of which a time, or a time and what it is for, may be the rest."""

_LED: Final = re.compile("(?:in|at|on|by) ", re.IGNORECASE)
"""What begins a time that is whole: "in ten" is none at ten o'clock."""

_OF_HOUR: Final[dict[Language, dict[int, str]]] = {
    "en": {1: "remind me at {} one", 11: "remind me at {} eleven"},
    "zh": {1: "一点{}提醒我", 11: "十一点{}提醒我"},
}
"""Whole sentences of which the minutes of an hour alone may be a part, by that hour."""

_COUNTED: Final[dict[Language, str]] = {"en": "set a timer for {} minutes", "zh": "设一个{}分钟的计时器"}

_COUNT_ZH: Final = r"[\d零一二两三四五六七八九十]+"

_SOME_TIME: Final = patterns(
    en=rf"\b(?:{NUMBER}|half|quarters?|noon|mid(?:day|night)|hundred|couple|few|an? (?:hour|minute|second))\b|\d",
    zh=r"[\d零一二两三四五六七八九十百半刻几]|正午|午夜",
)
"""Of which something stands in every time: what has none of it is read as none, which takes long to find out."""

_THE_ONE: Final = re.compile(
    r"\b(?:the|this|that|my|which)(?: (?!at\b|for\b|by\b|in\b)\w+)? one\b(?! (?:minute|hour|second))", re.IGNORECASE
)
"""A thing, and no number: that one, the other one."""

_LONGEST_MINUTE: Final[dict[Language, int]] = {"en": 25, "zh": 6}
"""Characters of the minutes of an hour: twenty five minutes past."""


def has_time(words: str, language: Language) -> bool:
    """Say whether words may hold a time."""
    return _SOME_TIME[language].search(_THE_ONE.sub("", words)) is not None


def timed(when: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the timer or the alarm that a time is, with what is said beside it."""
    if not has_time(when, language):
        return
    for frame in ("remind me {}",) if _LED.match(when) else _FRAMES[language]:
        found = understand(frame.format(when))
        if found.name in TIMED and found.text("label") not in {"give", "make", "do"}:  # give me ten
            yield found


def minute_alone(words: str, language: Language, understand: Understand) -> int | None:
    """Return the minutes that words name without their hour: half past; None where they name an hour, or nothing."""
    if len(words) > _LONGEST_MINUTE[language] or not has_time(words, language):
        return None
    minute = None
    for hour, frame in _OF_HOUR[language].items():
        found = understand(frame.format(words))
        minute = found.slots.get("minute")
        if found.name != "alarm" or found.slots.get("hour") != hour or minute is None or found.text("label"):
            return None
    return None if minute is None else int(minute)


def number_alone(words: str, language: Language, understand: Understand) -> int:
    """Return a number that stands alone, 0 where none does."""
    is_short = 0 < len(words.split()) < 3 if language == "en" else re.fullmatch(_COUNT_ZH, words) is not None
    is_number = is_short and has_time(words, language)
    counted = understand(_COUNTED[language].format(words)) if is_number else UNKNOWN
    return counted.number("minutes") if counted.slots.keys() == {"minutes"} else 0  # "eight thirty" is none
