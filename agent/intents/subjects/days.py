"""Which day is meant by its name, its date or how far ahead it is."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from agent.intents.intent import Intent

YEARS: Final = 9
"""Within which every date comes: the 29th of February is eight years away around 2100 at most."""

_NAMING: Final = frozenset(("day", "weekday", "weekday_of_next", "ahead", "weeks", "date"))


def names_day(intent: Intent) -> bool:
    """Whether the words name a day at all."""
    return not _NAMING.isdisjoint(intent.slots)


def days_ahead(intent: Intent, today: date) -> list[int]:
    """Return how many days ahead the words can mean, the nearest first; none for a date that no year has.

    Slots: day (0 today, 1 tomorrow …), ahead and weeks, weekday (0 is Monday: the coming one, today's too),
    weekday_of_next (that of the week that begins with the coming Monday), or date of a month (1 to 12; without one the
    date comes in any month).
    """
    if "weekday" in intent.slots:
        nearest = (intent.number("weekday") - today.weekday()) % 7
        return [nearest, nearest + 7]
    if "weekday_of_next" in intent.slots:
        return [7 - today.weekday() + intent.number("weekday_of_next")]
    if "date" in intent.slots:
        return list(_to_date(intent.number("date"), intent.number("month"), today))
    if "ahead" in intent.slots or "weeks" in intent.slots:
        return [intent.number("ahead") + 7 * intent.number("weeks")]
    return [intent.number("day")] if "day" in intent.slots else [0, 1]


def _to_date(number: int, month: int, today: date) -> Iterator[int]:
    """Yield how far away the next two such days are."""
    day, left = today, 2
    while left and day.year - today.year < YEARS:
        if day.day == number and month in {0, day.month}:
            yield (day - today).days
            left -= 1
        day += timedelta(days=1)
