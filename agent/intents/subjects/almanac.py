"""The clock and the calendar sheet without a model: the time here and elsewhere, dates, weeks, and days until one."""

import re
from calendar import isleap, monthrange
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent, Language, Understand
from agent.intents.language.dates import date_in
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import clock, date, spoken_length, spoken_weeks
from agent.intents.subjects import recall
from agent.intents.subjects.days import days_ahead, names_day, next_moment
from agent.intents.subjects.needed import now_at

_NAMED: Final = (-1, 1, 2)
"""Days from today whose date is told by their name: yesterday, tomorrow, the day after."""

_WHEN: Final[Mapping[Language, str]] = {"en": "when is {}", "zh": "{}是哪天"}
_UNTIL: Final[Mapping[Language, str]] = {"en": "how many days until {}", "zh": "离{}还有多少天"}

_HOW_LONG: Final = re.compile(
    r"^how (?:long|much longer)(?: is (?:it|there))?(?= (?:until|till|to|before) )", re.IGNORECASE
)
"""What asks how far away something is, which may be a timer as well as a day that was told."""


def time_here(state: DialogState, _: Intent) -> str:
    """Tell the time at home."""
    return phrase("time", state.language, clock=clock(now_at(state), state.language))


def time_there(state: DialogState, intent: Intent) -> str:
    """Tell the time at another place, and its day where that is another one; "" where nobody knows the place."""
    zone = zone_of(intent.text("zone") or intent.text("place"))
    if zone is None:
        return ""
    there = now_at(state).astimezone(zone)
    days = (there.date() - now_at(state).date()).days
    day = phrase(f"there_{days:+d}", state.language) if days else ""
    return phrase("time_there", state.language, clock=clock(there, state.language), day=day)


def told_date(state: DialogState, intent: Intent) -> str:
    """Tell the date of today, or of the day that is named."""
    now = now_at(state)
    days = _days(intent, now)
    if days is None:
        return phrase("no_such_day", state.language)
    name = f"date_{days}" if days in _NAMED else "date_of" if days else "date"
    return phrase(name, state.language, date=date(now + timedelta(days=days), state.language))


def days_until(state: DialogState, intent: Intent) -> str:
    """Tell how many days there are until the day that is named, or how long it is past, and its date."""
    now = now_at(state)
    days = _days(intent, now)
    if days is None:
        return phrase("no_such_day", state.language)
    name = "days_ago" if days < 0 else "days_until" if days > 1 else f"days_until_{days}"
    return phrase(name, state.language, count=abs(days), date=date(now + timedelta(days=days), state.language))


def in_days(words: str, understand: Understand) -> Intent | None:
    """Return what words ask that name no timer, as a question for days: how long until my birthday; None for others."""
    asked = understand(_HOW_LONG.sub("how many days", words)) if _HOW_LONG.match(words) else None
    return asked if asked is not None and asked.number("until") else None


def days_until_told(state: DialogState, intent: Intent, understand: Understand) -> str:
    """Tell how many days there are until what the topic names, by the date that was told of it; the journal is asked.

    What was told without a date is quoted.
    """
    language = state.language
    told = recall.recall(state.in_words(_WHEN[language].format(intent.text("topic"))), understand)
    meant = understand(_UNTIL[language].format(date_in(told, language)))
    if meant.name == "days_until":
        return days_until(state, meant)
    return told or phrase("not_found", language)


def weeks_until(state: DialogState, intent: Intent) -> str:
    """Tell how many weeks and days there are until the day that is named, and its date."""
    now, language = now_at(state), state.language
    days = _days(intent, now)
    if days is None or days < 7:
        return days_until(state, intent)
    weeks = spoken_weeks(*divmod(days, 7), language)
    return phrase("weeks_until", language, weeks=weeks, date=date(now + timedelta(days=days), language))


def time_until(state: DialogState, intent: Intent) -> str:
    """Tell how long it is until the next such time of day."""
    now = now_at(state)
    due = next_moment(intent, now)
    if due is None:
        return phrase("no_clock", state.language)
    minutes = max(1, round((due - now).total_seconds() / 60))
    return phrase("time_until", state.language, length=spoken_length(minutes * 60, state.language))


def days_of_month(state: DialogState, intent: Intent) -> str:
    """Tell how many days a month has, in the year that is meant."""
    year = now_at(state).year + intent.number("years")
    return phrase("days_of_month", state.language, count=monthrange(year, intent.number("month"))[1], year=year)


def leap_year(state: DialogState, intent: Intent) -> str:
    """Tell whether this year, or the next, has a day more."""
    year = now_at(state).year + intent.number("years")
    return phrase("leap_year" if isleap(year) else "no_leap_year", state.language, year=year)


def week(state: DialogState, _: Intent) -> str:
    """Tell the number of the week, as ISO 8601 counts them."""
    return phrase("week", state.language, week=now_at(state).isocalendar().week)


def zone_of(place: str) -> ZoneInfo | None:
    """Return the zone of a city that has one named for it, or of a zone's own name; None for any other place."""
    if not place:
        return None
    name = place if "/" in place else _cities().get(_plain(place), "")
    return ZoneInfo(name) if name else None


@cache
def _cities() -> dict[str, str]:
    """Return the zones of the tz database by the plain names of their cities."""
    zones = sorted(
        name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix", "right"))
    )
    return {_plain(name.rpartition("/")[2].replace("_", " ")): name for name in zones}


def _plain(name: str) -> str:
    return re.sub(r"[^\w ]", "", name).casefold().strip()


def _days(intent: Intent, now: datetime) -> int | None:
    if not names_day(intent):
        return 0
    if intent.number("past") and "year" not in intent.slots:
        return next((-ago for ago in range(1, 367) if _is_day(intent, now, -ago)), None)
    return next(iter(days_ahead(intent, now.date())), None)


def _is_day(intent: Intent, now: datetime, days: int) -> bool:
    """Say whether the day so many days from now is one that is named by its date or its weekday."""
    day = now + timedelta(days=days)
    if "weekday" in intent.slots:
        return day.weekday() == intent.number("weekday")
    return day.day == intent.number("date") and intent.number("month") in {0, day.month}
