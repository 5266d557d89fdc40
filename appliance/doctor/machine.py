"""What the doctor looks at of the machine: packages, settings, folders, disk, clock, network, privacy."""

import asyncio
import ctypes
import errno
import os
import platform
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from importlib import metadata
from itertools import pairwise
from pathlib import Path

from agent.model.chain import Chain
from appliance.admin.disk import LITTLE_SPACE, NO_SPACE
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.egress import Egress, egress
from appliance.errors import ConfigError
from appliance.model.catalog import catalog_of
from appliance.model.check import models_in_use
from appliance.wiring.memory.state import takes_no_file
from memory.errors import StateUnreadable
from memory.state.reader import read_only

BUILT = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""

IPV6_DIGITS = 32
ROUTE_UP = 0x0001
ROUTE_REJECT = 0x0200
"""RTF_UP and RTF_REJECT of linux/route.h."""

JUMP_SECONDS = 60.0
"""By which the clock must have been set back to be told: an entry may be written some seconds after its moment."""

NEWEST_ENTRIES = 5_000
"""Of the journal that are looked through for such a jump: some days of a household."""

UNSYNCHRONISED = 5
"""What adjtimex(2) returns when nothing sets the clock (TIME_ERROR)."""
TIMEX_BYTES = 512
"""More than any architecture's struct timex."""


def program(config: Config) -> Line:
    """Look for the packages that nakari was installed with, without loading any."""
    del config
    python = f"Python {platform.python_version()} on {platform.machine()}"
    try:
        required = metadata.requires("nakari") or []
    except metadata.PackageNotFoundError:
        return Line("program", Verdict.WARNING, f"{python}; nakari itself is not installed", "run scripts/setup")
    if missing := missing_of(required):
        return Line("program", Verdict.FAULT, f"not installed: {', '.join(missing)}", "run scripts/setup")
    extras = ", ".join(sorted(name for name, is_here in extras_of(required).items() if is_here)) or "none"
    what = f"{python}, nakari {metadata.version('nakari')}, all packages; extras: {extras}"
    return Line("program", Verdict.OK, what)


def settings(config: Config) -> Line:
    """Tell which file is used, and whether the key it names is there."""
    name = config.model.api_key_env
    if name and name not in config.secrets:
        return Line(
            "settings",
            Verdict.FAULT,
            f"[model] api_key_env names {name}, and there is no such variable or credential",
            f"set it, e.g. with LoadCredential={name}:… in the unit",
        )
    return Line("settings", Verdict.OK, str(config.file) if config.file else "no file, all is default")


def state(config: Config) -> Line:
    """Write to the state folder, or find out whether it can be made."""
    folder = config.state_folder
    if folder.is_symlink() and not folder.exists():
        return judge_unwritable(folder, OSError(errno.EEXIST, "it is a link to nothing"))
    try:
        if not folder.exists():
            parent = _nearest(folder)
            if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
                raise PermissionError(0, f"{parent} is not writable")
            return Line("state", Verdict.OK, f"{folder}, will be made")
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"?")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return judge_unwritable(folder, error)
    return Line("state", Verdict.OK, f"{folder}, writable")


def disk(config: Config) -> Line:
    """Look for free space where the state is kept."""
    disk = os.statvfs(_nearest(config.state_folder))
    return judge_space(disk.f_bavail * disk.f_frsize, takes_no_file=takes_no_file(disk))


def clock(config: Config) -> Line:
    """Look whether the clock can be right and is kept right; timers and memories depend on it."""
    now = datetime.now(UTC)
    line = judge_clock(now, config.zone, _is_synchronised(), set_back(config.state_folder / "nakari.db", now))
    return judge_zone(line, config.zone, str(told_by_service(config.sockets, "clock").get("zone", "")))


def network(config: Config) -> Line:
    """Tell whether there is a way out where this configuration wants one; nothing is sent."""
    wanted = list(dict.fromkeys(each.to for each in _leaving(config) if each.is_certain))
    if not wanted:
        return Line("network", Verdict.OK, "not needed")
    checked = "the kernel's routing table has a default route; no server was asked"
    tables = [Path("/proc/net") / name for name in ("route", "ipv6_route")]
    if any(has_default_route(table.read_text(encoding="ascii")) for table in tables if table.exists()):
        return Line("network", Verdict.OK, f"there is a way out ({checked}), wanted for {', '.join(wanted)}")
    what = f"no way out: the kernel's routing table has no default route, wanted for {', '.join(wanted)}"
    return Line("network", Verdict.WARNING, what, "nakari does without, with the local voice and what is here already")


def privacy(config: Config) -> Line:
    """Tell what would leave this machine with this configuration and what was chosen, and by which setting."""
    told = "; ".join(map(str, _leaving(config)))
    return Line("privacy", Verdict.OK, f"leaves this machine: {told}" if told else "nothing leaves this machine")


def _leaving(config: Config) -> list[Egress]:
    """Ask each adapter that would be used what it sends. Raises `StateUnusable` where the chosen model is unknown."""
    from agent.intents.model import OfflineModel

    try:
        models = asyncio.run(models_in_use(catalog_of(config), config.state_folder))
    except ConfigError:  # the line of the model tells it; nobody can be asked
        models = Chain.of([OfflineModel()])
    return egress(config, models)


def judge_unwritable(folder: Path, error: OSError) -> Line:
    """Judge that the state folder takes nothing, by what the system says of it."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        what = f"the disk of {folder} is full: nothing that is said to nakari can be kept"
        fix = "free some disk space; what was spoken meanwhile is answered then, what was typed is not kept"
        return Line("state", Verdict.FAULT, what, fix)
    if error.errno == errno.EROFS:
        what, fix = f"the disk of {folder} is read-only", "see with dmesg why, and mount it for writing again"
    elif error.errno in {errno.ENOTDIR, errno.EEXIST, errno.ELOOP}:
        what = f"{folder} cannot be written: {error.strerror}"
        fix = "move what lies there away, or set another [state] folder"
    elif error.errno == errno.EIO:
        what, fix = f"the disk of {folder} fails", "see with dmesg what it reports, and put it on another disk"
    else:
        what = f"{folder} cannot be written: {error.strerror}"
        fix = "make it writable for this user, or set [state] folder"
    return Line("state", Verdict.FAULT, what, fix)


def missing_of(requirements: Iterable[str]) -> list[str]:
    """Return the names of the distributions that are not here; extras are nobody's need."""
    names = [re.split(r"[^\w.-]", line.strip())[0] for line in requirements if "extra ==" not in line]
    return [name for name in names if not _is_installed(name)]


def extras_of(requirements: Iterable[str]) -> dict[str, bool]:
    """Return the extras, each with whether all that it brings is here."""
    brought: defaultdict[str, list[str]] = defaultdict(list)
    for line in requirements:
        if named := re.search(r"""extra == ['"]([\w.-]+)['"]""", line):
            brought[named[1]].append(line.partition(";")[0])
    return {name: not missing_of(lines) for name, lines in brought.items()}


def judge_space(free: int, *, takes_no_file: bool = False) -> Line:
    """Say whether so many free bytes are enough, on a disk that may have no room for one more file."""
    what = f"{free / 1e9:.1f} GB free"
    if takes_no_file:
        fix = "remove files, or move [state] folder"
        return Line("disk", Verdict.FAULT, f"{what}, but no file more can be made (its inodes are used up)", fix)
    if free < NO_SPACE:
        return Line("disk", Verdict.FAULT, what, "make room, or move [state] folder")
    if free < LITTLE_SPACE:
        return Line("disk", Verdict.WARNING, what, "make room soon")
    return Line("disk", Verdict.OK, what)


def judge_clock(now: datetime, zone: tzinfo, is_synchronised: bool, was_set_back: float = 0.0) -> Line:
    """Say whether it can be `now`, with a clock that was set back by so many seconds."""
    what = f"{now.astimezone(zone):%Y-%m-%d %H:%M}, {zone}"
    if now < BUILT:
        return Line("clock", Verdict.FAULT, f"{what} is in the past", "set the clock; a box without one needs NTP")
    if not is_synchronised:
        return Line("clock", Verdict.WARNING, f"{what}, set by nobody", "switch NTP on: timedatectl set-ntp true")
    if was_set_back > JUMP_SECONDS:
        what = f"{what}, set back by {timedelta(seconds=round(was_set_back))} within the newest of the journal"
        return Line("clock", Verdict.WARNING, what, "see why: a timer may have rung twice or late; a box needs NTP")
    return Line("clock", Verdict.OK, what)


def judge_zone(line: Line, zone: tzinfo, of_service: str) -> Line:
    """Return what was said of the clock, or that the running service goes by another zone; "" where none tells."""
    if of_service in ("", str(zone)) or line.verdict is Verdict.FAULT:
        return line
    what = f"{line.what}; the running nakari goes by {of_service}, as it was at its start"
    return Line("clock", Verdict.WARNING, what, "start it anew: systemctl restart nakari")


def set_back(journal: Path, now: datetime) -> float:
    """Return by how many seconds the clock went back at most between the newest entries of a journal, and since."""
    try:
        with read_only(journal) as connection:
            rows = connection.execute("SELECT at FROM journal ORDER BY seq DESC LIMIT ?", (NEWEST_ENTRIES,))
            moments = [now, *(datetime.fromisoformat(at) for (at,) in rows)]
    except (StateUnreadable, ValueError):  # not begun, or damaged: its own line tells that
        return 0.0
    return max(((before - after).total_seconds() for after, before in pairwise(moments)), default=0.0)


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)  # found by its folder's name: reading what all of them say takes 0.3 s
    except metadata.PackageNotFoundError:
        return False
    return True


def has_default_route(table: str) -> bool:
    """Whether the text of /proc/net/route or ipv6_route (proc(5)) has a default route that is up and no refusal."""
    for fields in (line.split() for line in table.splitlines()):
        is_ipv6 = len(fields[0]) == IPV6_DIGITS
        destination, mask, flags = (fields[0], fields[1], fields[8]) if is_ipv6 else (fields[1], fields[7], fields[3])
        is_default = set(destination) == {"0"} == set(mask)
        if is_default and int(flags, 16) & (ROUTE_UP | ROUTE_REJECT) == ROUTE_UP:
            return True
    return False


def _is_synchronised() -> bool:
    found: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(TIMEX_BYTES))  # modes 0: only look
    return found != UNSYNCHRONISED


def _nearest(folder: Path) -> Path:
    """Return the folder, or its nearest ancestor that is there."""
    return next(place for place in (folder, *folder.parents) if place.exists())


CHECKS: tuple[Check, ...] = (program, settings, state, disk, clock, network, privacy)
