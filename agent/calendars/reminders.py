"""Which reminders are due, as a function of what stands in a calendar; each is given once, and none for the past."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from itertools import islice
from operator import attrgetter
from typing import Final

from msgspec import Struct

from agent.calendars.agenda import Agenda, Occurrence

MOST_AT_ONCE: Final = 5
"""Reminders given in one look; a calendar with more of them at a time is not one of a person."""

CATCHES_UP: Final = timedelta(hours=1)
"""An entry that was written when its reminder was already due is told of all the same, if that is not longer ago."""

A_MOMENT: Final = timedelta(minutes=5)
"""What takes no time at all is over after this."""


class Rules(Struct, frozen=True):
    """When somebody is reminded."""

    calendar: str
    """Its name in the configuration."""
    zone: tzinfo
    minutes: int = 0
    """Before an appointment without an alarm of its own; 0 not at all, and whole days never."""
    has_alarms: bool = True
    """Whether its own alarms count; those of strangers' calendars do not."""


class Reminder(Struct, frozen=True):
    """One reminder of one time that an entry takes place."""

    at: datetime
    """Aware UTC."""
    occurrence: Occurrence
    calendar: str
    before: float
    """Seconds before its beginning."""

    @property
    def id(self) -> str:
        """What names it, the same in every run of the program."""
        each = self.occurrence
        told = "\n".join((self.calendar, each.entry.uid, each.begin.isoformat(), f"{self.before:.0f}"))
        return blake2b(told.encode(errors="replace"), digest_size=16).hexdigest()


def reminders(agenda: Agenda, rules: Rules) -> list[Reminder]:
    """Return all reminders, the first one first."""
    return sorted(_reminders(agenda, rules), key=attrgetter("at"))


def due(of_all: Sequence[Reminder], after: datetime, now: datetime, zone: tzinfo) -> list[Reminder]:
    """Return those whose moment lies after `after` (and an hour before) and not in the future, of what is not over.

    What takes whole days is over at their end, everything else once it has begun.
    """
    first = bisect_right(of_all, after - CATCHES_UP, key=attrgetter("at"))
    last = bisect_right(of_all, now, key=attrgetter("at"))
    return list(islice((each for each in of_all[first:last] if _is_ahead(each, now, zone)), MOST_AT_ONCE))


def next_moment(of_all: Sequence[Reminder], now: datetime) -> datetime | None:
    """Return when the next one is due after `now`, None where there is none."""
    coming = bisect_right(of_all, now, key=attrgetter("at"))
    return of_all[coming].at if coming < len(of_all) else None


def _reminders(agenda: Agenda, rules: Rules) -> Iterator[Reminder]:
    for each in agenda.occurrences:
        begins = each.begins(rules.zone).astimezone(UTC)
        moments = each.alarms if rules.has_alarms else ()
        if not moments and rules.minutes and not each.is_all_day:
            moments = (begins - timedelta(minutes=rules.minutes),)
        for at in moments:
            yield Reminder(at, each, rules.calendar, (begins - at).total_seconds())


def _is_ahead(reminder: Reminder, now: datetime, zone: tzinfo) -> bool:
    each = reminder.occurrence
    if each.is_all_day:
        return each.ends(zone) > now
    begins = each.begins(zone)
    return begins > now or (reminder.at >= begins and now < max(each.ends(zone), reminder.at + A_MOMENT))
