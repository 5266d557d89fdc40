"""Where the log is read again: the journal of the unit, or the log file with those it was turned over to."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from structlog.types import EventDict

from appliance.logs.configure import FILE_COPIES, PRIORITY
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
            time.sleep(LOOK_SECONDS)
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
