"""What words mean that only name a part of the day, or leave days out, after something was set: 早上; 周末不用."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from agent.intents.intent import Intent, Language, Understand
from agent.intents.subjects.days import but_for

_WEEKEND: Final = (5, 6)

_PART: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:(?:no|nope|sorry|oh|oops|wait|actually|i (?:mean|meant|said)|make (?:it|that)|that's|for|and|"
        r"not (?:in the \w+|tonight|at night))[\s,.]+)*"
        r"(?P<part>in the (?:morning|afternoon|evening)|at night|tonight|this (?:evening|afternoon)|[ap][.]?m[.]?)"
        r"(?:,? (?:please|i (?:mean|meant)|not (?:in the \w+|tonight|at night)))?[\s.!]*",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "(?:不对|不是(?:早上|上午|下午|晚上)?|不|错了|我(?:说的?|指的?|要的?)?(?:是|要)|应该是|是|改成|要|哦|[，,。 ])*"
        "(?P<part>(?:今天?|明天?)?(?:早上|早晨|上午|中午|下午|傍晚|晚上|晚|早))[的吧啦啊呀。]*"
    ),
}
"""A part of the day and nothing else."""

_NO_WEEKENDS: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:but |just |only |and )*(?:not|except|skip|leave out|never|no|apart from)(?: on| at)? (?:the )?weekends?"
        r"(?: though| please)?[.!]?",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "(?:但是?|不过|就|除了)*(?:周末|双休日)(?:就|都)?(?:不用|不要|别|除外|以外|休息|不)?(?:响|叫|提醒|喊)?我?了?[吧。]*"
    ),
}
"""Saturday and Sunday left out, and nothing else."""


def of_its_part(words: str, due: datetime, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the change of an alarm for `due` to the same hour of the clock in the part of the day that words name."""
    found = _PART[language].fullmatch(words.strip())
    if found is None:
        return
    hour, minute = due.hour % 12 or 12, due.minute
    part = found["part"].replace(".", "")
    told = f"{part}{hour}点{minute}分提醒我" if language == "zh" else f"remind me at {hour}:{minute:02} {part}"
    meant = understand(told.replace("点0分", "点"))
    if meant.name == "alarm" and not meant.text("label") and meant.text("period"):
        yield Intent("timer_change", {**meant.slots, "newest": 1})


def without_weekends(words: str, rule: str, language: Language) -> Iterator[Intent]:
    """Yield the change of what repeats by a rule to one without Saturday and Sunday; what rings on neither is told."""
    if _NO_WEEKENDS[language].fullmatch(words.strip()) is None:
        return
    left = but_for(but_for(rule, _WEEKEND[0]), _WEEKEND[1])
    if left != rule:
        yield Intent("timer_change", {"repeat": left, "without": _WEEKEND[0], "newest": 1})
    yield Intent("timer_status", {"named": 1, "newest": 1})
