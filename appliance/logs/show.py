"""The log for people: short lines out of the journal where systemd keeps it, else out of the log file."""

import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, time, timedelta, tzinfo
from pathlib import Path
from time import sleep
from typing import Final

import click
from msgspec import Struct
from structlog.types import EventDict

from appliance.errors import Exit, Problem
from appliance.logs.configure import FILE_COPIES, PRIORITY, Redaction, line_at
from memory.json_value import fields, parse_json

UNIT: Final = "nakari"
"""The systemd unit; README and systemd/ name it so."""

LOOK_SECONDS: Final = 0.5
"""How often a followed file is looked at."""


class Wanted(Struct, frozen=True):
    """Which lines."""

    newest: int | None
    """At most so many from the end; None for all."""
    level: str
    """The least important one: a key of `PRIORITY`."""
    since: datetime | None = None
    """Aware."""
    is_followed: bool = False
    """Whether to go on with what is logged from then on, for ever."""

    def meets(self, line: "Logged") -> bool:
        """Whether a line is important and young enough."""
        is_young = self.since is None or line.at >= self.since
        return is_young and PRIORITY[line.level] <= PRIORITY[self.level]


class Logged(Struct, frozen=True):
    """One line of the log."""

    at: datetime
    """Aware."""
    level: str
    """A key of `PRIORITY`."""
    values: EventDict
    """What else it holds, `event` among it."""


def from_journal(journalctl: str, wanted: Wanted) -> Iterator[Logged]:
    """Yield the unit's lines out of systemd's journal, oldest first."""
    number = "all" if wanted.newest is None else str(wanted.newest)
    # --all: a field of more than 4096 bytes is null without it.
    command = [*_asking(journalctl), "--all", f"--lines={number}", f"--priority={PRIORITY[wanted.level]}"]
    if wanted.since is not None:
        command.append(f"--since=@{int(wanted.since.timestamp())}")
    if wanted.is_followed:
        command.append("--follow")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if (logged := journal_line(line)) is not None:
                    yield logged
        finally:
            process.terminate()


def holds_unit(journalctl: str) -> bool:
    """Whether systemd's journal has anything of the unit that this user may read."""
    done = subprocess.run([*_asking(journalctl), "--lines=1"], capture_output=True, check=False)
    return bool(done.stdout.strip())


def journal_line(line: bytes) -> Logged | None:
    """Return one entry of `journalctl -o json`; None when it is none.

    MESSAGE is our JSON line, or words of systemd and of libraries; as bytes in a list where it is no UTF-8.
    """
    entry = _object(line)
    try:
        at = datetime.fromtimestamp(int(str(entry["__REALTIME_TIMESTAMP"])) / 1e6, UTC)
    except (KeyError, ValueError, OverflowError):
        return None
    priority = entry.get("PRIORITY")
    level = next((name for name, number in PRIORITY.items() if str(number) == priority), "info")
    message = entry.get("MESSAGE")
    if isinstance(message, list):
        message = bytes(byte for byte in message if isinstance(byte, int) and 0 <= byte < 256).decode(errors="replace")
    return our_line(str(message)) or Logged(at, level, {"event": str(message)})


def from_file(path: Path, wanted: Wanted) -> Generator[Logged, None, None]:
    """Yield the lines of a log file and of those before it, oldest first. Raises OSError when one cannot be read."""
    kept: deque[Logged] = deque(maxlen=wanted.newest)
    with closing(_Tail(path)) as tail:
        for number in range(FILE_COPIES, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            if older.exists():
                with older.open("rb") as file:
                    kept.extend(_selected(file, wanted))
        kept.extend(_selected(tail.lines(), wanted))
        yield from kept
        while wanted.is_followed:
            sleep(LOOK_SECONDS)
            yield from _selected(tail.lines(), wanted)


class _Tail:
    """A file that grows and is turned over; gives each whole line once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        self._part = b""
        """Of a line that is being written."""

    def lines(self) -> list[bytes]:
        """Return the lines that were finished since the last time."""
        is_turned_over = self._is_turned_over()  # looked at first: then nothing more comes into the old one
        found = self._rest()
        if is_turned_over:
            self._file.close()
            self._file, self._part = self._path.open("rb"), b""
            found += self._rest()
        return found

    def _is_turned_over(self) -> bool:
        try:
            return not os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except FileNotFoundError:  # between the two renamings; the next look will tell
            return False

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rest(self) -> list[bytes]:
        *whole, self._part = (self._part + self._file.read()).split(b"\n")
        return whole


def our_line(text: bytes | str) -> Logged | None:
    """Return one JSON line of ours; None for what is none, such as a line that a power cut left torn."""
    values = _object(text)
    try:
        at = datetime.fromisoformat(str(values.pop("timestamp")))
    except (KeyError, ValueError):
        return None
    level = str(values.pop("level", ""))
    is_ours = "event" in values and level in PRIORITY and at.tzinfo is not None
    return Logged(at, level, values) if is_ours else None


def _selected(lines: Iterable[bytes], wanted: Wanted) -> Iterator[Logged]:
    return (logged for line in lines if (logged := our_line(line)) is not None and wanted.meets(logged))


def _asking(journalctl: str) -> list[str]:
    return [journalctl, f"--unit={UNIT}", "--output=json", "--quiet", "--no-pager"]


def _object(text: bytes | str) -> dict[str, object]:
    try:
        return {**fields(parse_json(text))}
    except ValueError:
        return {}


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
