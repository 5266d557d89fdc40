"""Reads and writes iCalendar (RFC 5545), as a process of its own: what a stranger wrote can hold up or fill only that.

It is told a JSON object on standard input and answers with one. `{"do": "read", "files", "zone", "begin", "end"}` is
answered with `entries`, `occurrences` and, for each file, whether it is a calendar, whether it breaks off, how many
entries were left out as broken, and for how many there was no time;
`{"do": "write", ...}` with the text of a calendar of one entry. Moments are ISO texts in UTC, whole days are dates.
"""

import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

from msgspec import Struct

MOST_MEMORY: Final = 1 << 30
"""Bytes that this process may take."""

MOST_SECONDS: Final = 20
"""Of the processor; then the kernel ends it."""

FOR_ALL: Final = 8.0
"""Seconds of the processor for all entries; those behind are not read."""

FOR_ONE: Final = 0.5
"""Seconds of the processor for one entry with all that it repeats."""

MOST_OF_ONE: Final = 450
"""Occurrences of one entry: a day's for more than a year."""

MOST_OF_ALL: Final = 10_000

MOST_ALARMS: Final = 5
"""Of one entry."""

TEXT: Final = 300
"""Characters of a title or a place."""

LONG_TEXT: Final = 1_000
"""Characters of a description."""

CALENDAR_DATA: Final = "{urn:ietf:params:xml:ns:caldav}calendar-data"

_LINE: Final = re.compile(r"\r\n|\r|\n")
_CALENDAR_ENDS: Final = re.compile("END:VCALENDAR", re.IGNORECASE)
_TOO_OFTEN: Final = re.compile(r"FREQ=(SECONDLY|MINUTELY|HOURLY)", re.IGNORECASE)
_STARTS: Final = re.compile(r"^DTSTART[^\n]*?:(\d{8})", re.MULTILINE | re.IGNORECASE)
_ENDS: Final = re.compile(r"^DTEND[^\n]*?:(\d{8})", re.MULTILINE | re.IGNORECASE)
_LASTS: Final = re.compile(r"^(RRULE|RDATE|RECURRENCE-ID|DURATION)", re.MULTILINE | re.IGNORECASE)
_RULE: Final = re.compile(r"^RRULE[^\n]*", re.MULTILINE | re.IGNORECASE)
_UNTIL: Final = re.compile(r"UNTIL=(\d{8})", re.IGNORECASE)
_MORE: Final = re.compile(r"^(RDATE|RECURRENCE-ID)", re.MULTILINE | re.IGNORECASE)
_DURATION: Final = re.compile(r"^DURATION[^\n]*?:\+?P(?:(\d+)W)?(?:(\d+)D)?", re.MULTILINE | re.IGNORECASE)
_REPEATS: Final = re.compile(r"^(RRULE|RDATE|RECURRENCE-ID)", re.MULTILINE | re.IGNORECASE)
_UID: Final = re.compile(r"^UID[^\n]*?:(.*)$", re.MULTILINE | re.IGNORECASE)
_ZONE: Final = re.compile(r"^TZID[^\n]*?:(.*)$", re.MULTILINE | re.IGNORECASE)


class TooLong(Exception):
    """An entry took more than its time."""


class Parts(Struct):
    """A calendar's text, cut up."""

    header: list[str] = []
    zones: dict[str, str] = {}
    """Definitions of time zones by their names."""
    entries: list[str] = []
    left_out: int = 0
    """Entries that have no end."""
    is_calendar: bool = False
    is_torn: bool = False
    """Whether it ends before the calendar does, as a download that broke off."""


class Window(Struct, frozen=True):
    """What is asked for."""

    begin: datetime
    end: datetime
    zone: tzinfo
    """Of the house, for what says none."""


class Found(Struct):
    """What was read."""

    entries: list[dict[str, object]] = []
    occurrences: list[dict[str, object]] = []
    unread: int = 0
    """Entries for which there was no time."""


def cut(text: str) -> Parts:
    """Cut a calendar into what holds for all of it, its time zones and its entries, whatever stands between them."""
    parts, block, kind = Parts(), [""], ""
    for line in _LINE.split(text):
        word = line.strip().upper()
        if word in {"BEGIN:VEVENT", "BEGIN:VTIMEZONE"}:
            parts.left_out += kind == "VEVENT"
            block, kind = [line], word.removeprefix("BEGIN:")
        elif kind and word == f"END:{kind}":
            whole = "\n".join([*block, line])
            if kind == "VEVENT":
                parts.entries.append(whole)
            elif name := _ZONE.search(whole):
                parts.zones[name[1].strip()] = whole
            kind = ""
        elif kind:
            block.append(line)
        elif word == "BEGIN:VCALENDAR":
            parts.is_calendar = True
        elif word.startswith("X-WR-TIMEZONE:"):
            parts.header.append(line)
    parts.left_out += kind == "VEVENT"
    parts.is_torn = parts.is_calendar and not _CALENDAR_ENDS.search(text)
    return parts


def is_wanted(entry: str, window: Window) -> bool:
    """Whether an entry may fall into the window, by its text alone: parsing costs a thousand times as much."""
    starts, ends = _STARTS.search(entry), _ENDS.search(entry)
    if starts is None:
        return True
    if _LASTS.search(entry):
        return not _is_over(entry, starts[1], ends[1] if ends else "", window)
    first, last = (f"{at + timedelta(days=by):%Y%m%d}" for at, by in ((window.begin, -2), (window.end, 2)))
    return starts[1] <= last and max(starts[1], ends[1] if ends else "") >= first


def _is_over(entry: str, starts: str, ends: str, window: Window) -> bool:
    """Whether the text says that a series ended before the window, its last time with it."""
    rules = _RULE.findall(entry)
    untils = [found[1] for rule in rules if (found := _UNTIL.search(rule))]
    if len(untils) != len(rules) or not rules or _MORE.search(entry):
        return False
    try:
        first, last, until = (date.fromisoformat(day) for day in (starts, ends or starts, max(untils)))
    except ValueError:
        return False
    lengths = [timedelta(weeks=int(weeks or 0), days=int(days or 0) + 1) for weeks, days in _DURATION.findall(entry)]
    return window.begin.date() - until > max(last - first, *lengths, timedelta()) + timedelta(days=2)


def grouped(entries: Iterable[str]) -> Iterator[list[str]]:
    """Yield entries together that are one: a series with its exceptions."""
    groups: dict[str, list[str]] = {}
    for number, entry in enumerate(entries):
        uid = _UID.search(entry)
        groups.setdefault(uid[1].strip() if uid else f"\n{number}", []).append(entry)
    return iter(groups.values())


def cheapest_first(groups: Iterable[list[str]]) -> list[list[str]]:
    """Return what comes once before the series: it is quick to read, and no series of years ago hides it."""
    return sorted(groups, key=lambda group: any(map(_REPEATS.search, group)))


def read(parts: Parts, window: Window, found: Found, seconds: float = FOR_ALL) -> int:
    """Add what falls into the window to `found`; return how many entries were left out, broken or without an end.

    For no more of them is there time once this process has taken so many `seconds`.
    """
    left_out = parts.left_out
    groups = grouped(entry for entry in parts.entries if is_wanted(entry, window))
    for group in cheapest_first(groups):
        if time.process_time() > seconds:
            found.unread += 1
            continue
        try:
            with limited(FOR_ONE):
                _read_group(parts, group, window, found)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  a stranger's entry: the others are still wanted
            left_out += 1
    return left_out


def _read_group(parts: Parts, group: list[str], window: Window, found: Found) -> None:
    import recurring_ical_events
    from icalendar import Calendar

    text = "\n".join(_without_frequent_rule(entry) for entry in group)
    is_series = _REPEATS.search(text) is not None
    zones = [zone for name, zone in parts.zones.items() if name in text and not _is_known(name)]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:nakari", *parts.header, *zones, text, "END:VCALENDAR", ""]
    calendar = Calendar.from_ical("\r\n".join(_LINE.split("\n".join(lines))))
    entries: list[dict[str, object]] = []
    occurrences: list[dict[str, object]] = []
    index: dict[str, int] = {}
    for event in islice(recurring_ical_events.of(calendar).between(window.begin, window.end), MOST_OF_ONE):
        if str(event.get("STATUS", "")).upper() == "CANCELLED":
            continue
        entry = _entry(event)
        key = json.dumps(entry)
        if key not in index:
            index[key] = len(found.entries) + len(entries)
            entries.append(entry)
        occurrences.append(_occurrence(event, index[key], window.zone, is_series=is_series))
    found.entries += entries
    found.occurrences += occurrences


def _without_frequent_rule(entry: str) -> str:
    """Return an entry without a rule that comes more often than daily: its first time alone is an appointment."""
    lines = entry.split("\n")
    return "\n".join(line for line in lines if not (line.upper().startswith("RRULE") and _TOO_OFTEN.search(line)))


def _entry(event: Any) -> dict[str, object]:
    return {
        "uid": str(event.get("UID", ""))[:TEXT],
        "title": _plain(event.get("SUMMARY"), TEXT),
        "place": _plain(event.get("LOCATION"), TEXT),
        "description": _plain(event.get("DESCRIPTION"), LONG_TEXT),
    }


def _plain(value: object, most: int) -> str:
    """Return a text in one line, cut."""
    text = " ".join(str(value or "").split())
    return text if len(text) <= most else f"{text[:most]}…"


def _occurrence(event: Any, entry: int, zone: tzinfo, *, is_series: bool) -> dict[str, object]:
    begin, end = event.start, event.end
    return {
        "entry": entry,
        "begin": _told(begin, zone),
        "end": _told(end, zone),
        "alarms": [_told(alarm, zone) for alarm in islice(_alarms(event, zone, is_series=is_series), MOST_ALARMS)],
    }


def _alarms(event: Any, zone: tzinfo, *, is_series: bool) -> Iterator[datetime]:
    """Yield the moments of its alarms, those apart that somebody has seen to on another device.

    An alarm at a moment of its own is not one of each time that a series takes place.
    """
    for alarm in event.walk("VALARM"):
        trigger = getattr(alarm.get("TRIGGER"), "dt", None)
        if str(alarm.get("ACTION", "")).upper() not in {"DISPLAY", "AUDIO"}:
            continue
        if isinstance(trigger, timedelta):
            is_of_end = str(alarm["TRIGGER"].params.get("RELATED", "")).upper() == "END"
            at = _moment(event.end if is_of_end else event.start, zone) + trigger
        elif isinstance(trigger, datetime) and not is_series:
            at = _moment(trigger, zone)
        else:
            continue
        seen = getattr(alarm.get("ACKNOWLEDGED"), "dt", None)
        if not (isinstance(seen, datetime) and _moment(seen, zone) >= at):
            yield at


def _moment(at: date, zone: tzinfo) -> datetime:
    if not isinstance(at, datetime):
        at = datetime(at.year, at.month, at.day)  # noqa: DTZ001  the midnight of the house, of the next line
    return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)


def _told(at: date, zone: tzinfo) -> str:
    return _moment(at, zone).isoformat() if isinstance(at, datetime) else at.isoformat()


def _is_known(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return False
    return True


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` inside when it takes more time of the processor."""

    def end(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)  # again, where a library's own handler takes the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def texts_of(file: Path, kind: str) -> list[str]:
    """Return the calendars in a file: itself, or those in a CalDAV server's answer. Raises ValueError for no XML."""
    body = file.read_bytes()
    if kind == "ics":
        return [body.decode("utf-8-sig", errors="replace")]
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise ValueError("a document type in a CalDAV answer")
    try:
        return [element.text or "" for element in ET.fromstring(body).iter(CALENDAR_DATA)]
    except ET.ParseError as error:
        raise ValueError(str(error)) from error


def answer_read(told: Mapping[str, Any]) -> dict[str, object]:
    """Read all files."""
    begin, end = (datetime.fromisoformat(told[key]) for key in ("begin", "end"))
    window = Window(begin, end, ZoneInfo(told["zone"]))
    found, files = Found(), []
    for each in told["files"]:
        left_out, unread = 0, found.unread
        try:
            cuts = [cut(text) for text in texts_of(Path(each["path"]), each["kind"])]
        except (ValueError, OSError):
            files.append({"is_calendar": False, "is_torn": False, "left_out": 0, "unread": 0})
            continue
        for parts in cuts:
            left_out += read(parts, window, found)
        is_calendar = all(parts.is_calendar for parts in cuts) and (bool(cuts) or each["kind"] != "ics")
        is_torn = any(parts.is_torn for parts in cuts)
        files.append(
            {"is_calendar": is_calendar, "is_torn": is_torn, "left_out": left_out, "unread": found.unread - unread}
        )
    found.occurrences.sort(key=lambda each: str(each["begin"]))
    return {"entries": found.entries, "occurrences": found.occurrences[:MOST_OF_ALL], "files": files}


def answer_write(told: Mapping[str, Any]) -> dict[str, object]:
    """Write one entry."""
    from icalendar import Alarm, Calendar, Event

    calendar, event = Calendar(), Event()
    calendar.add("prodid", "-//nakari//nakari//EN")
    calendar.add("version", "2.0")
    event.add("uid", told["uid"])
    event.add("dtstamp", datetime.fromisoformat(told["now"]))
    event.add("summary", told["title"])
    for key, name in (("begin", "dtstart"), ("end", "dtend")):
        text = str(told[key])
        event.add(name, datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text))
    if told.get("place"):
        event.add("location", told["place"])
    if (minutes := told.get("remind_minutes")) is not None:
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", told["title"])
        alarm.add("trigger", timedelta(minutes=-minutes))
        event.add_component(alarm)
    calendar.add_component(event)
    return {"ics": calendar.to_ical().decode()}


def main() -> None:
    """Answer one question."""
    os.nice(5)  # hearing comes first
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    told = json.loads(sys.stdin.buffer.read())
    answer = answer_write(told) if told["do"] == "write" else answer_read(told)
    sys.stdout.write(json.dumps(answer, separators=(",", ":")))


if __name__ == "__main__":
    main()
