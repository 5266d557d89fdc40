"""How long somebody who hears a timer ring wants it to be silent: "snooze", "ten more minutes", "再过十分钟"."""

import re
from typing import Final

from audio.reflexes.words import plain, spoken_number

USUAL_MINUTES: Final = 5.0
LONGEST_MINUTES: Final = 12 * 60.0

_NUMBER_EN: Final = r"(?P<number>half an|\d+|[a-z]+(?: [a-z]+)??)"
_UNIT_EN: Final = r"(?:more )?(?P<unit>minute|hour|second)s?(?: more| longer)?"
_FORMS: Final = (
    re.compile(r"(?:snooze|later|remind me (?:again )?later|ring again later|not now)(?: it| the alarm| the timer)?"),
    re.compile(
        rf"(?:(?:snooze|ring|remind me)(?: it| the alarm| the timer)?(?: again)?(?: for| in)? |again in |in )?"
        rf"{_NUMBER_EN} {_UNIT_EN}"
    ),
    re.compile("稍后(?:提醒|再响|再说)?(?:我)?|等会儿再(?:响|叫我|提醒我?)|过一会儿再(?:响|叫我|提醒我?)|贪睡"),
    re.compile(
        "(?:再?过|再睡|再等|推迟)?(?P<number>半|[\\d零一二三四五六七八九两十]+)个?(?P<unit>分钟|小时|钟头|秒钟?)"
        "(?:后|以后|之后)?(?:再)?(?:响|叫我|提醒|提醒我)?"
    ),
)
_MINUTES: Final = {"minute": 1.0, "hour": 60.0, "second": 1 / 60, "分钟": 1.0, "小时": 60.0, "钟头": 60.0, "秒": 1 / 60}


def snooze_minutes(words: str) -> float | None:
    """Return for how many minutes, None when the words ask for something else; 5 where no time is said."""
    said = plain(words)
    for form in _FORMS:
        if found := form.fullmatch(said):
            told = found.groupdict()
            if "number" not in told:
                return USUAL_MINUTES
            count = _count(told["number"])
            minutes = count * _MINUTES[told["unit"].removesuffix("钟") if "秒" in told["unit"] else told["unit"]]
            return minutes if 0 < minutes <= LONGEST_MINUTES else None
    return None


def _count(number: str) -> float:
    """Return the number a text says, 0 when it says none."""
    if number in {"半", "half an"}:
        return 0.5
    return 1.0 if number in {"a", "an"} else float(spoken_number(number) or 0)
