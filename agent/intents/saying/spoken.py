"""How times, lengths of time and other people's words are said, in English and Chinese."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from agent.intents.intent import Language

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS_ZH: Final = "一二三四五六日"

_BYDAY: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_EVERY: Final = {
    "FREQ=DAILY": ("every day", "每天"),
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": ("every weekday", "每个工作日"),
    "FREQ=WEEKLY;BYDAY=SA,SU": ("every weekend", "每个周末"),
    "FREQ=DAILY;INTERVAL=2": ("every other day", "每隔一天"),
    "FREQ=WEEKLY;INTERVAL=2": ("every other week", "每隔一周"),
}

_PARTS: Final = (
    (5, "at night"),
    (12, "in the morning"),
    (18, "in the afternoon"),
    (22, "in the evening"),
    (24, "at night"),
)
_PARTS_ZH: Final = ((5, "凌晨"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上"))
"""The parts of the day, each with the hour before which it ends."""

_UNITS: Final = (("day", "天", 86_400), ("hour", "小时", 3600), ("minute", "分钟", 60), ("second", "秒", 1))
_SECONDS: Final = {name: size for *names, size in _UNITS for name in names}

_COUNTS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
)
"""Numbers that read better in words."""
_COUNTS_ZH: Final = ("", "一个半", "两个半", *(f"{count}个半" for count in range(3, 13)))
_A: Final = {"day": "a", "hour": "an", "minute": "a", "second": "a"}
_HALVES: Final = {1800: ("half an hour", "半小时"), 30: ("30 seconds", "30秒"), 90: ("a minute and a half", "一分半钟")}

_TO_DO: Final = frozenset(
    ("eat", "sleep", "go", "leave", "study", "read", "work", "cook", "run", "call", "stretch", "rest", "pray", "shower")
)
"""Labels of one word that are no thing."""

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")

_LENGTH: Final = re.compile(r"(\d+ (day|hour|minute|second)s? ?)+|(\d+(天|小时|分钟|秒))+")

_TO_YOU: Final[Mapping[str, str]] = {
    **{"i am": "you are", "i'm": "you're", "i was": "you were", "i've": "you've", "i'll": "you'll", "i'd": "you'd"},
    **{"am i": "are you", "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself"},
    **{"we": "you", "us": "you", "our": "your", "ours": "yours"},
    **{"you are": "I am", "you're": "I'm", "your": "my", "yours": "mine", "yourself": "myself", "you": "I"},
}
"""Longest first; a "you" at the end of what was said is "me"."""
_PERSONS: Final = re.compile(rf"\b({'|'.join(sorted(_TO_YOU, key=len, reverse=True))})\b", re.IGNORECASE)

_TO_YOU_ZH: Final[Mapping[str, str]] = {
    **{"我们": "你们", "咱们": "你们", "咱": "你们"},
    **{"我": "你", "您": "我", "你": "我"},
}
"""Longest first."""
_PERSONS_ZH: Final = re.compile("|".join(_TO_YOU_ZH))


def length(seconds: int, language: Language) -> str:
    """Return a length of time: `1 hour 30 minutes`, `1小时30分钟`."""
    left, words = seconds, []
    for english, chinese, unit in _UNITS[1:]:
        count, left = divmod(left, unit)
        if count and language == "zh":
            words.append(f"{count}{chinese}")
        elif count:
            words.append(f"{count} {english}" if count == 1 else f"{count} {english}s")
    return ("" if language == "zh" else " ").join(words)


def spoken_length(seconds: int, language: Language) -> str:
    """Return a length of time as one says it: `an hour and a half`, `five minutes`, `一个半小时`."""
    if half := _HALVES.get(seconds):
        return half[language == "zh"]
    hours, rest = divmod(seconds, 3600)
    if 0 < hours < 13 and rest == 1800:
        told = "an hour and a half" if hours == 1 else f"{_counted(hours)} and a half hours"
        return f"{_COUNTS_ZH[hours]}小时" if language == "zh" else told
    left, words = seconds, []
    for english, chinese, unit in _UNITS:
        count, left = divmod(left, unit)
        if count and language == "zh":
            words.append(f"{'两' if count == 2 and unit != 1 else count}{chinese}")
        elif count:
            words.append(f"{_A[english]} {english}" if count == 1 else f"{_counted(count)} {english}s")
    if language == "zh":
        return "".join(words)
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])


def spoken_weeks(weeks: int, days: int, language: Language) -> str:
    """Return so many weeks and days as one says it: `five weeks and a day`, `5周零1天`."""
    if language == "zh":
        return f"{weeks}周零{days}天" if days else f"{weeks}周"
    told = "a week" if weeks == 1 else f"{_counted(weeks)} weeks"
    return f"{told} and {'a day' if days == 1 else f'{_counted(days)} days'}" if days else told


def told_length(told: str, language: Language) -> str:
    """Return a length as the timers' tool or a label tells it (`1 hour 30 minutes`, `5分钟`) as one says it."""
    seconds = seconds_told(told)
    return spoken_length(seconds, language) if seconds else told


def length_timer(told: str, language: Language) -> str:
    """Return what a timer is called by its length: `five-minute timer`, `timer of half an hour`, `5分钟的计时器`."""
    seconds = seconds_told(told)
    if language == "zh":
        return f"{told_length(told, language)}的计时器"
    unit = next((unit for unit in _UNITS[1:] if seconds and seconds % unit[2] == 0), None)
    if unit is None or (len(re.findall(r"\d+", told)) > 1):
        return f"timer of {told_length(told, language)}"
    return f"{_counted(seconds // unit[2])}-{unit[0]} timer"


def seconds_told(told: str) -> int:
    """Return a length of time as the timers' tool or a label tells it, in seconds; 0 where it is none."""
    parts = re.findall(r"(\d+) ?(day|hour|minute|second|天|小时|分钟|秒)", told)
    return sum(int(count) * _SECONDS[unit] for count, unit in parts)


def _counted(count: int) -> str:
    return _COUNTS[count] if count < len(_COUNTS) else str(count)


def behind_for(label: str) -> str:
    """Return a label behind "for": `the pasta`; "" where it is no thing but something to do."""
    words = label.split()
    if words[:1] and words[0].lower() in {"the", "my", "your", "our", "a", "an", "his", "her", "their"}:
        return label
    return f"the {label}" if len(words) == 1 and label.lower() not in _TO_DO else ""


def is_length(text: str) -> bool:
    """Say whether a text is a length of time, in either language, as `length` says it."""
    return _LENGTH.fullmatch(text) is not None


def clock(at: datetime, language: Language) -> str:
    """Return a time of day: `a quarter to one at night`, `2:05 in the afternoon`, `noon`, `下午2点半`."""
    hour = at.hour % 12 or 12
    if language == "zh":
        minutes = {0: "整", 15: "一刻", 30: "半"}.get(at.minute, f"{at.minute:02}分")
        return f"{_part_of_day(at.hour, _PARTS_ZH)}{hour}点{minutes}"
    part = _part_of_day(at.hour, _PARTS)
    if at.minute % 15:
        return f"{hour}:{at.minute:02} {part}"
    near = (at.hour + at.minute // 45) % 24
    quarter = ("", "a quarter past ", "half past ", "a quarter to ")[at.minute // 15]
    if near % 12 == 0 and (near == 0 or at.minute != 30):
        return f"{quarter}{'noon' if near else 'midnight'}"
    said = _COUNTS[near % 12 or 12]
    return f"{quarter}{said} {part}" if quarter else f"{said} o'clock {part}"


def date(at: datetime, language: Language) -> str:
    """Return a date with its weekday: `Saturday, the 21st of November 2026`, `2026年11月21日，星期六`."""
    if language == "zh":
        return f"{at.year}年{at.month}月{at.day}日，星期{_WEEKDAYS_ZH[at.weekday()]}"
    return f"{_WEEKDAYS[at.weekday()]}, the {ordinal(at.day)} of {_MONTHS[at.month - 1]} {at.year}"


def weekday(at: datetime, language: Language) -> str:
    """Return the name of a moment's day of the week: `Friday`, `星期五`."""
    return f"星期{_WEEKDAYS_ZH[at.weekday()]}" if language == "zh" else _WEEKDAYS[at.weekday()]


def ordinal(number: int) -> str:
    """Return a number as the place in an order: `1st`, `22nd`, `13th`."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def moment_told(text: str) -> datetime | None:
    """Return the local time, without its zone, in a text of the timer tools (`2026-11-21 07:30:00 CET`), or None."""
    found = _MOMENT.match(text)
    try:
        return datetime.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


_ENDED: Final = re.compile(r"(FREQ=.+);UNTIL=(\d{8})T235959")
_WITHIN_DAY: Final = re.compile(r"FREQ=(?P<unit>HOUR|MINUTE)LY;INTERVAL=(?P<number>\d+)(?:;COUNT=(?P<count>\d+))?")
_SO_MANY: Final = re.compile(r"FREQ=(?P<unit>DAILY|WEEKLY);INTERVAL=(?P<count>\d+)")
_MONTHLY: Final = re.compile("FREQ=MONTHLY;BYMONTHDAY=([0-9]+)")
_WEEKLY: Final = re.compile(
    "FREQ=WEEKLY(?:;INTERVAL=(?P<count>[0-9]+))?;BYDAY=(?P<days>(?:MO|TU|WE|TH|FR|SA|SU)(?:,(?:MO|TU|WE|TH|FR|SA|SU))*)"
)


def every(rule: str, language: Language) -> str:
    """Return how a rule of the sentence files repeats: `every weekday`, `每周一`; "" for one that a model made."""
    if ended := _ENDED.fullmatch(rule):
        again, last = every(ended[1], language), date(datetime.fromisoformat(ended[2]), language)
        return again and (f"{again}，到{last}为止" if language == "zh" else f"{again} until {last}")
    if rule in _EVERY:
        return _EVERY[rule][language == "zh"]
    told = ((tell, pattern.fullmatch(rule)) for pattern, tell in _TOLD_BY)
    return next((tell(found, language) for tell, found in told if found), "")


def _every_so_many(found: re.Match[str], language: Language) -> str:
    """Return how something rings every so many days or weeks: `every five days`, `每5天`."""
    english, chinese = {"DAILY": ("days", "天"), "WEEKLY": ("weeks", "周")}[found["unit"]]
    count = int(found["count"])
    return f"每{count}{chinese}" if language == "zh" else f"every {_counted(count)} {english}"


def _every_month(found: re.Match[str], language: Language) -> str:
    return f"每个月{found[1]}号" if language == "zh" else f"on the {ordinal(int(found[1]))} of every month"


def _every_week(found: re.Match[str], language: Language) -> str:
    count, days = int(found["count"] or 1), [_BYDAY.index(day) for day in found["days"].split(",")]
    missing = [day for day in range(len(_BYDAY)) if day not in days]
    if len(missing) == 1:
        left_out = missing[0]
        return f"除了周{_WEEKDAYS_ZH[left_out]}每天" if language == "zh" else f"every day but {_WEEKDAYS[left_out]}"
    if language == "zh":
        weeks = {1: "每", 2: "每隔一周的"}.get(count, f"每{count}周的")
        return f"{weeks}周" + "、".join(_WEEKDAYS_ZH[day] for day in days)
    each = {1: "every", 2: "every other"}.get(count, f"every {_counted(count)} weeks on")
    *first, last = (_WEEKDAYS[day] for day in days)
    return f"{each} {', '.join(first)} and {last}" if first else f"{each} {last}"


def _every_so_long(found: re.Match[str], language: Language) -> str:
    """Return how something rings within a day: `every hour, six times`, `每20分钟`."""
    seconds, count = int(found["number"]) * (3600 if found["unit"] == "HOUR" else 60), int(found["count"] or 0)
    if language == "zh":
        return f"每{'小时' if seconds == 3600 else spoken_length(seconds, language)}" + (
            f"，一共{count}次" if count else ""
        )
    each = {3600: "hour", 1800: "half hour", 60: "minute"}.get(seconds) or length(seconds, language)
    times = {0: "", 1: ", once", 2: ", twice"}.get(count, f", {_counted(count)} times")
    return f"every {each}{times}"


_TOLD_BY: Final = (
    (_SO_MANY, _every_so_many),
    (_WITHIN_DAY, _every_so_long),
    (_MONTHLY, _every_month),
    (_WEEKLY, _every_week),
)
"""What tells how something rings, by the form of its rule."""


def spoken_number(value: float, *, is_measure: bool = False) -> tuple[str, bool]:
    """Return a number as one would say it, and whether it was rounded: 12.5, 8.05, 1,234,567."""
    if abs(value) >= 100 and is_measure:
        rounded = float(round(value))
    elif abs(value) >= 1 or value == 0:
        rounded = round(value, 2)
    else:
        rounded = float(f"{value:.3g}")
    text = f"{rounded:,.10f}".rstrip("0").rstrip(".") if abs(rounded) < 1e15 else f"{rounded:.3g}"
    return text if abs(rounded) >= 10_000 else text.replace(",", ""), abs(rounded - value) > 1e-9 * abs(value)


def to_second_person(words: str, language: Language) -> str:
    """Turn what a person said of themselves to them: `my keys are here` becomes `your keys are here`."""
    if language == "zh":
        return _PERSONS_ZH.sub(lambda found: _TO_YOU_ZH[found.group()], words)
    turned = _PERSONS.sub(lambda found: _TO_YOU[found.group().lower()], words)
    return f"{turned[:-1]}me" if words.lower().endswith(" you") else turned


def _part_of_day(hour: int, parts: Sequence[tuple[int, str]]) -> str:
    return next(name for until, name in parts if hour < until)
