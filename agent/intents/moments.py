"""Which moment a spoken time of day means, and which one a tool wrote."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from agent.intents.intent import Intent

_IN_PERIOD: Final[Mapping[str, Callable[[int], int]]] = {
    "morning": lambda hour: hour % 12,
    "noon": lambda hour: hour if hour > 10 else hour + 12,
    "evening": lambda hour: hour % 12 + 12,
    "night": lambda hour: 24 if hour == 12 else hour if hour < 6 else hour + 12,
}
"""Which hour of the day one of the clock, 1 to 12, is in a part of the day."""

_TOLD: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


def next_moment(meaning: Intent, now: datetime) -> datetime:
    """Return the next moment after `now` that the words can mean: seven is the next seven, of morning or evening.

    Slots: hour (0-24), minute (may be negative: a quarter to), exact_hour, period, day (0 today, 1 tomorrow …), and
    wakes for a wake-up call. A moment of a day that was named may be past.
    """
    minutes = meaning.number("minute")
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = [
        midnight + timedelta(days=day, hours=hour, minutes=minutes)
        for day in ([meaning.number("day")] if "day" in meaning.slots else [0, 1])
        for hour in _hours(meaning)
    ]
    return next((moment for moment in moments if moment > now), moments[-1])


def moment_told(text: str) -> datetime | None:
    """Return the local time, without its zone, in a text of the timer tools (`2026-11-21 07:30:00 CET`), or None."""
    found = _TOLD.match(text)
    try:
        return datetime.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def _hours(meaning: Intent) -> list[int]:
    """Return the hours of the day that the words can mean, in order; 24 is the midnight that ends it."""
    hour = meaning.number("exact_hour") or meaning.number("hour")
    if "exact_hour" in meaning.slots or hour > 12 or hour == 0:
        return [hour]
    if in_period := _IN_PERIOD.get(meaning.text("period")):
        return [in_period(hour)]
    if meaning.number("wakes"):
        return [hour]
    if meaning.number("day"):
        return [hour if hour > 5 else hour + 12]
    return [hour % 12, hour % 12 + 12]
