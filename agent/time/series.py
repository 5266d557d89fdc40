"""Recurring events, such as every day at seven: each occurrence is an event that its predecessor makes."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import takewhile
from typing import Final
from zoneinfo import ZoneInfo

import structlog
from dateutil.rrule import rrule, rrulestr
from msgspec.structs import replace

from agent.event import Event
from memory.json_value import Json, fields, listed

SERIES: Final = "series"
"""Key of an event's metadata: its rule, zone and beginning, the series' id, and which occurrence of it this is."""

ZONE: Final = "zone"
"""Key of a series, and of an alarm that is alone: by the clock of which zone it is meant."""

MOST_COUNTED: Final = 10_000
"""Occurrences missed that are counted; more are told as so many."""

_LEFT_OUT: Final = "left_out"
"""Key of a series: its days (ISO, in its zone) on which it does not come."""

SHORTEST_SECONDS: Final = 10
"""Between two occurrences; what comes more often than a ring is heard is a mistake."""

_LATE_YEARS: Final = range(9916, 9944)
"""28 years, one of each kind, with 56 years and more before the last that dateutil looks at."""

_INTERVAL: Final = re.compile(r"(?<!\w)INTERVAL=([^;]*)")
_WITHIN_DAYS: Final = re.compile(r"FREQ=(?:HOURLY|MINUTELY|SECONDLY)")
_LIMITS: Final = ("COUNT=", "UNTIL=")

log = structlog.get_logger()

_ELAPSED: Final = re.compile(r"(?:RRULE:)?FREQ=(?:HOURLY|MINUTELY|SECONDLY)(?:;(?:INTERVAL|COUNT)=\d+)*", re.IGNORECASE)
"""Rules of elapsed time: two hours are two hours, also when the clocks change in between."""


class BadRule(ValueError):
    """Not a recurrence; its text says why."""


def rule_of(text: str, start: datetime) -> rrule:
    """Return the rule of an RFC 5545 RRULE, whose times of day are those of `start` (naive).

    Raises `BadRule` for what is none, has no occurrence, or comes too often. Several lines are none.
    """
    rule = text.strip().upper().removeprefix("RRULE:")
    try:
        found = rrulestr(rule, dtstart=start)
        first_two = list(zip(range(2), found, strict=False)) if isinstance(found, rrule) and comes(rule, start) else []
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise BadRule(f"{text!r} is no RRULE ({error}); write it as FREQ=DAILY or FREQ=WEEKLY;BYDAY=MO,TU") from error
    if not isinstance(found, rrule) or not first_two:
        raise BadRule(f"{text!r} never comes, or is more than one rule; write it as FREQ=DAILY")
    moments = [moment for _, moment in first_two]
    if len(moments) > 1 and (moments[1] - moments[0]).total_seconds() < SHORTEST_SECONDS:
        raise BadRule(f"{text!r} comes more often than every {SHORTEST_SECONDS} seconds")
    return found


def comes(rule: str, start: datetime) -> bool:
    """Whether one rule comes at all within half a century, whatever ends it.

    For one that never does dateutil looks on to the year 9999, for up to a quarter of a minute: so it is asked about a
    late year of the same kind (its first weekday, and whether it is a leap year). Raises what dateutil does for what is
    no rule, and ValueError for an interval below 1 and a place within an hour, on which it would never end.
    """
    interval = _INTERVAL.search(rule)
    if interval and not (interval[1].isdecimal() and int(interval[1])):
        raise ValueError("its interval is not 1 or more")
    if "BYSETPOS" in rule and _WITHIN_DAYS.search(rule):
        raise ValueError("hours, minutes and seconds have no BYSETPOS")
    kind = start.year % 4, date(start.year, 1, 1).weekday()
    late = next(year for year in _LATE_YEARS if (year % 4, date(year, 1, 1).weekday()) == kind)
    endless = ";".join(part for part in rule.split(";") if not part.startswith(_LIMITS))
    return next(iter(rrulestr(endless, dtstart=start.replace(year=late))), None) is not None


def occurrences(rule: str, start: datetime, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield the moments (aware, UTC) of a rule that are later than `after` (aware), in order.

    `start` is naive, on the household's wall. Days, weeks, months and years keep the time of day over changes of the
    clocks: a time that a change skips is as long after the change as it would have been, of one that comes twice the
    first is meant. Hours, minutes and seconds are elapsed time from `start` on. Raises `BadRule`.
    """
    if is_elapsed(rule):
        begun = start.replace(tzinfo=zone).astimezone(UTC)
        elapsed = rule_of(rule, begun.replace(tzinfo=None))
        found = elapsed.xafter(after.astimezone(UTC).replace(tzinfo=None), inc=False)
        yield from (moment.replace(tzinfo=UTC) for moment in found)
        return
    before = after.astimezone(zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
    for wall in rule_of(rule, start).xafter(before, inc=True):
        moment = wall.replace(tzinfo=zone).astimezone(UTC)
        if moment > after:
            yield moment


def first(rule: str, start: datetime, zone: tzinfo, after: datetime) -> datetime | None:
    """Return the first of `occurrences`, None when there is none any more. Raises `BadRule`."""
    return next(occurrences(rule, start, zone, after), None)


def described(rule: str, start: datetime, zone: str, series_id: str) -> dict[str, Json]:
    """Return what the first event of a series carries in its metadata under `SERIES`."""
    return {"rule": rule, "start": start.isoformat(), ZONE: zone, "id": series_id, "number": 1}


def series_of(event: Event) -> dict[str, Json]:
    """Return the series that an event is of, as `described` made it; {} when it is alone."""
    return fields(event.metadata.get(SERIES))


def is_recurring(event: Event) -> bool:
    """Whether another like it follows."""
    return bool(series_of(event))


def is_successor(event: Event) -> bool:
    """Whether it goes on with a series that was begun before."""
    return is_recurring(event) and series_of(event).get("number") != 1


def successor(event: Event, now: datetime, after: datetime | None = None) -> Event | None:
    """Return the next event of the same series, later than now and `after`; None when it is alone, or the last.

    What was missed meanwhile is left out: one event stands for all of it. Its id follows from the series and the
    number in it, so that it can be filed by whoever comes first, and only once. A series that cannot be read any more
    (an update took its zone away) ends, and the log says so: else nobody could take this event in hand.
    """
    series = series_of(event)
    if not series or event.not_before is None:
        return None
    try:
        due = next(_coming(event, event.not_before, max(now, event.not_before, after or now)), None)
        number = int(str(series["number"])) + 1
    except (ValueError, KeyError, OverflowError) as error:
        log.warning("series_ended", event_id=event.id, reason=f"{type(error).__name__}: {error}")
        return None
    if due is None:
        return None
    metadata = {**event.metadata, SERIES: {**series, "number": number}}
    return replace(event, id=f"{series['id']}.{number}", not_before=due, metadata=metadata, created_at=now)


def recounted(event: Event, now: datetime) -> Event:
    """Return an event of a series as it is due once the clock was set back: not later than the next after now."""
    if not is_recurring(event) or event.not_before is None:
        return event
    try:
        due = next(_coming(event, event.not_before, now), None)
    except (ValueError, KeyError, OverflowError):  # the series ends when this one comes, and is told of then
        return event
    return event if due is None or due >= event.not_before else replace(event, not_before=due)


def at_home(timer: Event, home: ZoneInfo, now: datetime) -> Event:
    """Return an alarm that was set by the clock of another zone as it is due at the same time of the clock at home.

    Where that time has passed there today, it comes the next day. One that came due before is due as it was; what
    counts, or was set with its zone, is left alone.
    """
    series = series_of(timer)
    told = series or timer.metadata
    if timer.not_before is None or told.get(ZONE, home.key) == home.key or is_elapsed(str(told.get("rule"))):
        return timer
    if not series:
        if timer.not_before <= now:
            return timer
        wall = timer.not_before.astimezone(ZoneInfo(str(told[ZONE]))).replace(tzinfo=home)
        while wall <= now:  # zones lie up to 26 hours apart
            wall += timedelta(days=1)
        return replace(timer, not_before=wall.astimezone(UTC), metadata={**timer.metadata, ZONE: home.key})
    moved = replace(timer, metadata={**timer.metadata, SERIES: {**series, ZONE: home.key}})
    due = timer.not_before if timer.not_before <= now else next(_coming(moved, timer.not_before, now), None)
    return replace(moved, not_before=due) if due is not None else timer


def series_id(event: Event) -> str:
    """Return the id of the series an event is of, "" when it is alone."""
    return str(series_of(event).get("id", ""))


def without_today(event: Event, now: datetime) -> Event | None:
    """Return what comes in place of an event that is still due today: the first after today, in the series' zone.

    None when it does not come today, or nothing comes afterwards.
    """
    series = series_of(event)
    if not series or event.not_before is None:
        return None
    end = end_of_day(now, ZoneInfo(str(series["zone"])))
    return successor(event, now, after=end) if event.not_before <= end else None


def without_days(event: Event, days: tuple[date, date], now: datetime, id: str) -> Event | None:
    """Return what comes in place of an event whose series leaves out days, from one to another; None when nothing does.

    That is the next after them where the event itself comes on one; else the same event, with an id of its own, whose
    series goes on without them. Raises LookupError where the series comes on none of them.
    """
    series = series_of(event)
    if not series or event.not_before is None:
        raise LookupError("it does not repeat")
    zone = ZoneInfo(str(series["zone"]))
    begins = datetime.combine(days[0], time(), zone).astimezone(UTC) - timedelta(microseconds=1)
    ends = end_of_day(datetime.combine(days[1], time(12), zone), zone)
    if begins < event.not_before <= ends:
        return successor(event, now, after=ends)
    coming = takewhile(lambda then: then <= ends, _coming(event, event.not_before, begins))
    gone = {then.astimezone(zone).date().isoformat() for then in coming if event.not_before <= ends}
    if not gone:
        raise LookupError("it does not come then")
    today = now.astimezone(zone).date().isoformat()
    left_out = sorted(gone | {each for each in map(str, days_left_out(event)) if each >= today})
    metadata = {**event.metadata, SERIES: {**series, _LEFT_OUT: [*left_out]}}
    return replace(event, id=id, metadata=metadata)


def end_of_day(now: datetime, zone: tzinfo) -> datetime:
    """Return the last moment (UTC, to the microsecond) of the day it is there."""
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), zone).astimezone(UTC) - timedelta(microseconds=1)


def missed(event: Event, now: datetime) -> int:
    """Return how many occurrences after this one have passed too, at most `MOST_COUNTED`."""
    if not is_recurring(event) or event.not_before is None:
        return 0
    count = 0
    for due in _coming(event, event.not_before, event.not_before):
        if due > now or count >= MOST_COUNTED:
            break
        count += 1
    return count


def is_elapsed(rule: str) -> bool:
    """Whether a rule counts hours, minutes or seconds, and names no time of day or day."""
    return _ELAPSED.fullmatch(rule.strip()) is not None


def _coming(event: Event, due: datetime, after: datetime) -> Iterator[datetime]:
    """Yield the moments of an event's series that are later than `after`, without those of the days left out.

    An interval without an end is counted from where it is.
    """
    series, left_out = series_of(event), days_left_out(event)
    rule, zone = str(series["rule"]), ZoneInfo(str(series["zone"]))
    if is_elapsed(rule) and "COUNT" not in rule.upper():
        moments = occurrences(rule, due.astimezone(UTC).replace(tzinfo=None), UTC, after)
    else:
        moments = occurrences(rule, datetime.fromisoformat(str(series["start"])), zone, after)
    for moment in moments:
        if moment.astimezone(zone).date().isoformat() not in left_out:
            yield moment


def days_left_out(event: Event) -> list[Json]:
    """Return the days (ISO) on which the series of an event does not come, in order; [] when it is alone."""
    return listed(series_of(event).get(_LEFT_OUT))
