"""What stands in calendars, as data: entries, when they take place, and the stretch of time that was read."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any

from msgspec import Struct


class Entry(Struct, frozen=True):
    """What somebody wrote into a calendar; it may take place many times. All of it is a stranger's words."""

    uid: str
    title: str
    place: str
    description: str


class Occurrence(Struct, frozen=True):
    """One time that an entry takes place."""

    entry: Entry
    begin: date
    """Aware UTC, or a plain date where it takes whole days."""
    end: date
    """Of the same kind; the day after the last one where it takes whole days."""
    alarms: tuple[datetime, ...] = ()
    """When somebody wants to be told of it; aware UTC."""

    @property
    def is_all_day(self) -> bool:
        """Whether it takes whole days."""
        return not isinstance(self.begin, datetime)

    def begins(self, zone: tzinfo) -> datetime:
        """Return when it begins at home (aware)."""
        return at_home(self.begin, zone)

    def ends(self, zone: tzinfo) -> datetime:
        """Return when it ends at home (aware)."""
        return at_home(self.end, zone)

    def order(self, zone: tzinfo) -> tuple[datetime, bool]:
        """Return what sorts it: its beginning, and of those that begin together the whole days first."""
        return self.begins(zone).astimezone(UTC), not self.is_all_day


class Agenda(Struct, frozen=True):
    """What was read of a calendar."""

    occurrences: Sequence[Occurrence] = ()
    """By their beginning."""
    left_out: int = 0
    """Entries that are broken, or repeat without end."""
    unread: int = 0
    """Entries for which there was no time."""

    def between(self, begin: datetime, end: datetime, zone: tzinfo) -> list[Occurrence]:
        """Return what takes place in a stretch of time, also what began before it."""
        return [each for each in self.occurrences if _touches(each, begin, end, zone)]


def agenda_of(told: Mapping[str, Any]) -> Agenda:
    """Return what `agent.calendars.ics` answered."""
    entries = [Entry(**each) for each in told["entries"]]
    occurrences = tuple(
        Occurrence(
            entries[each["entry"]],
            _moment(each["begin"]),
            _moment(each["end"]),
            tuple(datetime.fromisoformat(at) for at in each["alarms"]),
        )
        for each in told["occurrences"]
    )
    left_out, unread = (sum(each[name] for each in told["files"]) for name in ("left_out", "unread"))
    return Agenda(occurrences, left_out, unread)


def at_home(at: date, zone: tzinfo) -> datetime:
    """Return a moment in a zone; a day is its midnight."""
    return at.astimezone(zone) if isinstance(at, datetime) else datetime.combine(at, time(), zone)


def _touches(each: Occurrence, begin: datetime, end: datetime, zone: tzinfo) -> bool:
    first, last = each.begins(zone), each.ends(zone)
    return first < end and (last > begin or first >= begin)


def _moment(text: str) -> date:
    return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
