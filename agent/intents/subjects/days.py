"""Which day is meant by its name, its date or how far ahead it is, and which moment by its time of day."""

from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from dateutil.easter import easter

from agent.intents.intent import Intent, Slot

BYDAY: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
"""Days of the week as rules name them (RFC 5545), from Monday."""

LATEST_NAP: Final = 3
"""Hour of the clock up to which somebody who wants to be woken may mean the afternoon: at eleven, wake me at three."""

YEARS: Final = 9
"""Within which every date comes: the 29th of February is eight years away around 2100 at most."""

_NAMING: Final = frozenset(
    {"day", "ahead", "weeks", "in_months", "date", "month_day", "easter"}
    | {"weekday", "weekday_after", "weekday_of_next", "weekday_of_next_but_one", "weekday_of_last"}
)
_IN_WEEK: Final = {"weekday_of_next": 7, "weekday_of_next_but_one": 14, "weekday_of_last": -7}
"""Slots of a weekday of another week, and how many days ahead that week is."""

_IN_MONTH: Final = {"date_of_this": 0, "date_of_next": 1}
"""Slots of a date of this month or the next one, and how many months ahead it is."""

_IN_PERIOD: Final[Mapping[str, Callable[[int], int]]] = {
    "morning": lambda hour: hour % 12,
    "noon": lambda hour: hour if hour > 10 else hour + 12,
    "evening": lambda hour: hour % 12 + 12,
    "night": lambda hour: 24 if hour == 12 else hour if hour < 4 else hour + 12,
    "late": lambda hour: 24 if hour == 12 else hour if hour < 6 else hour + 12,
}
"""Which hour of the day one of the clock, 1 to 12, is in a part of the day: five tonight, but five late at night."""


def names_day(intent: Intent) -> bool:
    """Whether the words name a day at all."""
    return not (_NAMING | _IN_MONTH.keys()).isdisjoint(intent.slots)


def day_of(intent: Intent) -> dict[str, Slot]:
    """Return the slots of an intent that name its day."""
    return {name: value for name, value in intent.slots.items() if name in {*_NAMING, *_IN_MONTH, "month", "year"}}


def days_ahead(intent: Intent, today: date) -> list[int]:
    """Return how many days ahead the words can mean, the nearest first; none for a date that no year has.

    Slots: day (0 today, 1 tomorrow …), ahead, weeks and in_months, weekday (0 is Monday: the coming one, today's too),
    weekday_after (a week after the coming one), weekday_of_next (that of the week that begins with the coming Monday),
    weekday_of_next_but_one and weekday_of_last, date of a month (1 to 12; without one the date comes in any month),
    month_day, which is both in one number: 1225 is Christmas, date_of_this and date_of_next (of this month, of the next
    one), a year, and easter: so many days from Easter Sunday.
    """
    if "weekday" in intent.slots:
        nearest = (intent.number("weekday") - today.weekday()) % 7
        return [nearest, nearest + 7]
    if found := next((slot for slot in _IN_MONTH if slot in intent.slots), None):
        return _in_month(intent.number(found), _IN_MONTH[found], today)
    if {"easter", "year"} & intent.slots.keys():
        return _in_year(intent, today)
    if {"date", "month_day"} & intent.slots.keys():
        month, number = divmod(intent.number("month_day"), 100)
        return list(_to_date(number or intent.number("date"), month or intent.number("month"), today))
    if {"ahead", "weeks", "in_months"} & intent.slots.keys():
        return [_in_months(intent.number("in_months"), today) + intent.number("ahead") + 7 * intent.number("weeks")]
    ahead = intent.number("day") if "day" in intent.slots else _in_week(intent, today)
    return [0, 1] if ahead is None else [ahead]


def _in_year(intent: Intent, today: date) -> list[int]:
    """Return how far away a day of Easter is, or a date of a year; nothing where there is none like it."""
    if "easter" in intent.slots:
        coming = (easter(year) + timedelta(days=intent.number("easter")) for year in (today.year, today.year + 1))
        return [next((day - today).days for day in coming if day >= today)]
    try:
        return [(date(intent.number("year"), intent.number("month"), intent.number("date")) - today).days]
    except ValueError:
        return []


def _in_week(intent: Intent, today: date) -> int | None:
    """Return how far away a weekday of another week is, None where none is named."""
    if "weekday_after" in intent.slots:
        return (intent.number("weekday_after") - today.weekday() - 1) % 7 + 8
    slot = next((slot for slot in _IN_WEEK if slot in intent.slots), None)
    return None if slot is None else _IN_WEEK[slot] - today.weekday() + intent.number(slot)


def _in_month(number: int, months: int, today: date) -> list[int]:
    """Return how far away a date of this month or the next one is; nothing where that month has none like it."""
    year, month = _month_ahead(months, today)
    try:
        return [(date(year, month, number) - today).days]
    except ValueError:
        return []


def _month_ahead(months: int, today: date) -> tuple[int, int]:
    """Return the year and the number of a later month."""
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return year, month + 1


def _in_months(months: int, today: date) -> int:
    """Return how far away this day of a later month is, or the last day of one that is shorter."""
    year, month = _month_ahead(months, today)
    last = monthrange(year, month)[1]
    return (date(year, month, min(today.day, last)) - today).days


def _to_date(number: int, month: int, today: date) -> Iterator[int]:
    """Yield how far away the next two such days are."""
    day, left = today, 2
    while left and day.year - today.year < YEARS:
        if day.day == number and month in {0, day.month}:
            yield (day - today).days
            left -= 1
        day += timedelta(days=1)


def last_day(intent: Intent, first: date, today: date) -> date | None:
    """Return the day up to which something repeats that begins on `first`, by its slots `until_…`; None without."""
    until = {name.removeprefix("until_"): value for name, value in intent.slots.items() if name.startswith("until_")}
    if count := int(until.get("days", 0)) + 7 * int(until.get("weeks", 0)):
        return first + timedelta(days=count - 1)
    if "week" in until:
        return span(Intent("", {"span_week": until["week"]}), today)[1]
    if "month" in until and "date" not in until:
        return today.replace(day=monthrange(today.year, today.month)[1])
    days = [today + timedelta(days=ahead) for ahead in days_ahead(Intent("", until), today)] if until else []
    return next((day for day in sorted(days) if day >= first and day > today), None)


def names_span(intent: Intent) -> bool:
    """Whether the words name days on end."""
    return any(name.startswith("span_") for name in intent.slots)


def span(intent: Intent, today: date) -> tuple[date, date]:
    """Return the first and the last of the days on end that are meant, from today on.

    Slots: span_week (0 for what is left of this one, 1 for the next), span_days (so many from tomorrow), span_before (a
    weekday that is none of them), span_last or span_next, and span_first (another beginning).
    """
    if "span_week" in intent.slots:
        monday = today + timedelta(days=7 * intent.number("span_week") - today.weekday())
        return max(today, monday), monday + timedelta(days=6)
    if days := intent.number("span_days"):
        return today + timedelta(days=1), today + timedelta(days=days)
    first = today
    if "span_first" in intent.slots:
        first += timedelta(days=(intent.number("span_first") - today.weekday()) % 7)
    named = intent.number("span_last") if "span_last" in intent.slots else intent.number("span_next")
    end = intent.number("span_before") - 1 if "span_before" in intent.slots else named
    return first, first + timedelta(days=(end - first.weekday()) % 7)


def but_for(rule: str, weekday: int) -> str:
    """Return a rule of every day, or of days of the week, without one of them (0 is Monday), where any is left."""
    days = [*BYDAY] if rule == "FREQ=DAILY" else rule.removeprefix("FREQ=WEEKLY;BYDAY=").split(",")
    left = [day for day in days if day != BYDAY[weekday]]
    return "FREQ=WEEKLY;BYDAY=" + ",".join(left) if left and {*days} <= {*BYDAY} else rule


def next_moment(intent: Intent, now: datetime) -> datetime | None:
    """Return the next moment after `now` that the words can mean: seven is the next seven, of morning or evening.

    Slots: hour (0-24), minute (may be negative: a quarter to), exact_hour, period, those of a day, and wakes for a
    wake-up call. A moment of a day that was named may be past; None for a date that no year has.
    """
    minutes = intent.number("minute")
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = [
        midnight + timedelta(days=day, hours=hour, minutes=minutes)
        for day in days_ahead(intent, now.date())
        for hour in _hours(intent)
    ]
    return next((moment for moment in moments if moment > now), moments[-1] if moments else None)


def _hours(intent: Intent) -> list[int]:
    """Return the hours of the day that the words can mean, in order; 24 is the midnight that ends it."""
    hour = intent.number("exact_hour") or intent.number("hour")
    if "exact_hour" in intent.slots or hour > 12 or hour == 0:
        return [hour]
    if in_period := _IN_PERIOD.get(intent.text("period")):
        early = in_period(hour)
        is_tonight = intent.text("period") == "night" and intent.slots.get("day") == 0 and early < hour + 12
        return [early, early + 24] if is_tonight and early < 12 else [early]  # 今晚一点 is of the night that begins
    is_other_day = (names_day(intent) or intent.text("repeat")) and intent.slots.get("day") != 0
    if intent.number("wakes") and (is_other_day or hour > LATEST_NAP):
        return [hour]
    if is_other_day:
        return [hour if hour > 5 else hour + 12]
    return [hour % 12, hour % 12 + 12]
