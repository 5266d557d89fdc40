"""Days that are left out of every day, as the sentence files read them: every day at seven except on weekends."""

import re
from typing import Final

from agent.intents.intent import Language
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.patterns import patterns

_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = f"{WEEKDAY}s?"
_DAYS: Final = rf"(?:on )?(?:the |at )?(?:weekends?\b|{_WEEKDAY}\b(?:(?:,? and|,? or|,) (?:on )?{_WEEKDAY}\b)*)"
_MOST_NAMED: Final = 4
"""Days that the sentence files read one by one."""
_BUT: Final = "(?:except|excluding|but not|just not|apart from|other than|aside from|not|bar|but)(?: for)?"
_LEFT_OUT: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (re.compile(rf",?\s*\b{_BUT} (?P<days>{_DAYS})(?: off)?", re.IGNORECASE),),
    "zh": tuple(
        re.compile(each.format("(?P<days>(?:(?:每个?)?(?:周末|双休日)|(?:周|星期|礼拜)[一二三四五六日天])(?:[、和跟，]?(?:周|星期|礼拜)?[一二三四五六日天](?!点))*)"))
        for each in (
            "除[了去开]?{}(?:以外|之外|外)?[，,]?(?:的?其他时间)?",
            "[，,]?(?:但是?|不过|就|只有)?{}(?:就|都)?(?:不用|不要|不必|不需要|别|除外|不响|不叫|不算|休息)(?:再)?(?:叫|喊|响|提醒|闹|起)?我?(?:了|的)?",
        )
    ),
}  # fmt: skip
"""Days that are left out of every day, with what leaves them out."""

_EVERY: Final = patterns(
    en=r"\b(?:(?:every|each) (?:single )?(?:(?P<work>weekday|working day|workday)|day|(?P<part>morning|evening))|"
    r"daily)\b",
    zh="每天|天天|每日|(?P<work>(?:每个)?工作日)|每(?P<part>[早晚])上?",
)

_WORKDAYS: Final = ("every weekday", "每个工作日")

_RINGS: Final = patterns(
    en=r"\b(?:wake|waking|remind|alarms?|timers?|ring|get me up|call me|ping|nudge)",
    zh="叫|喊|提醒|闹|响|通知",
)
"""What shows that something is to ring: what is only told of some days is left as it was said."""


def but_some_days(words: str, language: Language) -> str:
    """Return words that name every day but some with the days that are left: wake me at seven on every weekday."""
    if _RINGS[language].search(words) is None:
        return words
    left_out = next((found for each in _LEFT_OUT[language] if (found := each.search(words))), None)
    if left_out is None:
        return words
    kept = words[: left_out.start()] + words[left_out.end() :]
    every = _EVERY[language].search(kept)
    if every is None:
        return words
    named = _named(left_out["days"].lower(), language)
    days = _in_words([day for day in range(5 if every["work"] else 7) if day not in named], language)
    part = every["part"] or ""
    if not days or (part and days not in _WORKDAYS):
        return words  # from Monday to Saturday stands beside no evening
    return f"{kept[: every.start()]}{days}{' ' if part else ''}{part}{kept[every.end() :]}"


def _named(said: str, language: Language) -> set[int]:
    """Return the days of the week (0 is Monday) that are named."""
    if language == "zh":
        days = {5, 6} if re.search("周末|双休", said) else set()
        return days | {
            "一二三四五六日".index(each.replace("天", "日")) for each in re.findall("[一二三四五六日天]", said)
        }
    days = {5, 6} if "weekend" in said else set()
    return days | {number for number, name in enumerate(_NAMES) if name in said}


def _in_words(days: list[int], language: Language) -> str:
    """Return days of the week as the sentence files read them; "" where they are no row."""
    if days == [0, 1, 2, 3, 4]:
        return _WORKDAYS[language == "zh"]
    first = next((day for day in days if (day - 1) % 7 not in days), None)
    row = [(first + step) % 7 for step in range(len(days))] if first is not None else []
    if not row or sorted(row) != days or len(row) < 2:
        names = [f"周{'一二三四五六日'[day]}" if language == "zh" else _NAMES[day] for day in days]
        each = f"每{'和'.join(names)}" if language == "zh" else f"every {' and '.join(names)}"
        return each if 1 < len(names) <= _MOST_NAMED else ""
    if language == "zh":
        return f"每周{'一二三四五六日'[row[0]]}到周{'一二三四五六日'[row[-1]]}"
    return f"from {_NAMES[row[0]]} to {_NAMES[row[-1]]}"
