"""The log for people: short lines out of the journal where systemd keeps it, else out of the log file."""

import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Final

import click

from appliance.errors import Problem
from appliance.exits import Exit
from appliance.logs.configure import Redaction, line_at
from appliance.logs.sources import UNIT, Logged, Wanted, from_file, from_journal, holds_unit

NEWEST: Final = 100
"""Lines shown when nothing else is asked for."""

_AGO: Final = re.compile(r"(\d{1,6})\s*([smhd])")
_DAYS: Final = {"today": timedelta(), "yesterday": timedelta(days=1)}
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def wanted(newest: int | None, level: str, since: datetime | None, *, follow: bool) -> Wanted:
    """Return what the options ask for."""
    return Wanted(newest or (NEWEST if since is None else None), level, since, follow)


def asked_moment(text: str, zone: tzinfo) -> datetime:
    """Return the moment that an option names in the household's zone, aware.

    Raises `click.BadParameter` where it names none.
    """
    found = moment(text, datetime.now(zone))
    if found is None:
        ways = "07:30, 2026-11-21T07:30, yesterday, or as long ago as 90s, 2h, 3d"
        raise click.BadParameter(f"{text!r} is no time; write {ways}")
    return found


def moment(text: str, now: datetime) -> datetime | None:
    """Return the moment that is meant, aware; None when it is none. What has no zone is in that of `now`.

    A time of day is its last coming; today and yesterday are their beginnings.
    """
    if ago := _AGO.fullmatch(text.strip()):
        try:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        except OverflowError:  # before the first year that a date can have
            return None
    if text.strip() in _DAYS:
        return datetime.combine(now.date() - _DAYS[text.strip()], time(), now.tzinfo)
    try:
        of_day = time.fromisoformat(text.strip())
    except ValueError:
        return _dated(text.strip(), now.tzinfo)
    today = datetime.combine(now.date(), of_day, of_day.tzinfo or now.tzinfo)
    return today if today <= now else today - timedelta(days=1)


def _dated(text: str, zone: tzinfo | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(zone)
    except (ValueError, OverflowError):
        return None


def show(file: str, redaction: Redaction, wanted: Wanted, zone: tzinfo) -> Iterator[str]:
    """Yield the lines that are wanted, in this zone and without secrets: the journal's, else `file`'s ("": none).

    Raises `Problem` where there is no log to read.
    """
    return in_short(_lines(file, wanted), redaction, datetime.now(zone))


def in_short(lines: Iterable[Logged], redaction: Redaction, now: datetime) -> Iterator[str]:
    """Yield lines for people in the zone of `now`: a date where another day than before (at first: its) begins."""
    day = now.date()
    for line in lines:
        at = line.at.astimezone(now.tzinfo)
        if at.date() != day:
            day = at.date()
            yield f"{day:%A}, {day}:"
        # What was logged before a secret was known, or by a library, is clean now too.
        values = redaction(None, "", {**line.values, "timestamp": at.isoformat(), "level": line.level})
        yield line_at(at, values)


def _lines(file: str, wanted: Wanted) -> Iterator[Logged]:
    journalctl = shutil.which("journalctl")
    if journalctl is not None and holds_unit(journalctl):
        return from_journal(journalctl, wanted)
    if not file:
        journal = f"the journal holds nothing of the unit {UNIT} that you may read (try sudo)"
        reason = "there is no systemd journal here" if journalctl is None else journal
        raise Problem(f"{reason}; outside of systemd, set [log] file", Exit.UNAVAILABLE)
    path = Path(file).expanduser()
    if path.is_fifo():
        raise Problem(f"{path} is a pipe; correct [log] file", Exit.NO_INPUT)
    try:
        path.open("rb").close()
    except FileNotFoundError as error:
        reason = f"nothing was logged yet: {path} does not exist; start `nakari run`"
        raise Problem(reason, Exit.UNAVAILABLE) from error
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror}); try sudo, or correct [log] file"
        raise Problem(reason, Exit.NO_INPUT) from error
    return from_file(path, wanted)
