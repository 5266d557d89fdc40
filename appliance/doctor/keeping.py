"""What the doctor looks at of what keeps the graph: the audit log read through, the snapshots, and room for both."""

import os
import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from appliance.admin.exchange import DATABASE
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.owners.visitors import keys_in
from memory.errors import AuditBroken, StateUnreadable
from memory.history.audit import AuditLog
from memory.history.audit_anchor import anchors_in
from memory.history.replay import is_whole
from memory.history.schedule import is_unsaved
from memory.history.snapshot import EVERYTHING_RESTORED, Snapshots

OLD: Final = timedelta(days=3)
"""Of a newest snapshot while there are writes since: one is due each day that something is written."""

LOOKED_AT: Final = 5
"""Newest snapshots that are read to their end, until one is whole."""


def audit(config: Config) -> Line:
    """Read the audit log through: whether it is as it was written, and ends where its anchor says."""
    log = AuditLog(config.state_folder / "audit")
    try:
        anchors = anchors_in(config.state_folder / DATABASE)
        count = erased = 0
        restored = ""
        for record in log.verified(anchors):
            count += 1
            erased += record.is_erased
            if record.facts.get("reason") == EVERYTHING_RESTORED:
                restored = f"; restored from a backup on {record.at:%Y-%m-%d %H:%M} UTC"
    except AuditBroken as error:
        return Line("audit", Verdict.FAULT, str(error), "the graph goes on; put the folder back from a backup")
    except StateUnreadable as error:
        return Line("audit", Verdict.WARNING, str(error), "nobody can tell whether its end was cut off")
    finally:
        log.close()
    what = f"{count} records verified, {erased} of them erased{restored}" if count else "not begun"
    what += "" if anchors or not count else "; its end is not anchored yet, the next start does that"
    return Line("audit", Verdict.OK, what)


def snapshots(config: Config) -> Line:
    """Find the newest snapshot that can be restored, and how old it is."""
    with closing(AuditLog(config.state_folder / "audit")) as log:
        records = list(log.outline())
    there = list(Snapshots(config.state_folder / "snapshots", log).among(records))
    writes = sum(record.kind == "attempt" for record in records)
    newest = next((one for one in islice(reversed(there), LOOKED_AT) if is_whole(one)), None)
    if newest is None:
        return judge_none(len(there), writes)
    since = sum(record.kind == "attempt" and record.seq > newest.seq for record in records)
    return judge_age(datetime.now(UTC) - newest.at, since, damaged=newest is not there[-1])


def room(config: Config) -> Line:
    """Compare the room on the disk with what a rebuild, or a forgetting, of the graph needs for a moment."""
    state = config.state_folder
    if not state.exists():
        return Line("room", Verdict.OK, "nothing is kept yet")
    needed = sum(bytes_below(state / name) for name in ("graph", "snapshots"))
    return judge_room(shutil.disk_usage(state).free, needed)


def visitors(config: Config) -> Line:
    """Look at what keeps visitors' graphs, and at nothing that is in them."""
    folder = config.state_folder / "owners"
    looked = [_looked(folder / key) for key in keys_in(folder)]
    return judge_visitors(looked, config.memory.visitors, datetime.now(UTC))


class Looked(Struct, frozen=True):
    """What is known of a visitor's graph from outside."""

    key: str
    bytes: int
    records: int = 0
    """Of its audit log, verified."""
    saved_at: datetime | None = None
    """Of its last snapshot; aware UTC."""
    is_unsaved: bool = False
    """Whether something was written since."""
    broken: str = ""
    """What is wrong with its audit log."""


def _looked(folder: Path) -> Looked:
    size = bytes_below(folder)
    try:
        with closing(AuditLog(folder / "audit")) as log:
            records = list(log.verified(anchors_in(folder.parent.parent / DATABASE, folder.name)))
    except (AuditBroken, StateUnreadable) as error:
        return Looked(folder.name, size, broken=str(error))
    saved_at = max((record.at for record in records if record.kind == "snapshot"), default=None)
    return Looked(folder.name, size, len(records), saved_at, is_unsaved(records))


def bytes_below(folder: Path) -> int:
    """Return the size of all files below a folder; it lives meanwhile, and what goes in that moment has none."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(place, name).stat().st_size
    return size


def judge_visitors(looked: Sequence[Looked], most: int, now: datetime) -> Line:
    """Judge visitors' graphs, of which there may be so many."""
    if not looked:
        return Line("visitors", Verdict.OK, f"no graph of a visitor yet, {most} there may be")
    told = f"{len(looked)} graphs of at most {most}, {sum(one.bytes for one in looked) / 1e6:.1f} MB"
    for one in looked:
        if one.broken:
            fix = f"put owners/{one.key} back from a backup, or erase it with `nakari forget --owner {one.key}`"
            return Line("visitors", Verdict.FAULT, f"{told}; of {one.key} {one.broken}", fix)
    saved = max((one.saved_at for one in looked if one.saved_at), default=None)
    age = f"the last snapshot is {(now - saved).total_seconds() / 3600:.1f} h old" if saved else "no snapshot yet"
    told += f", {sum(one.records for one in looked)} records verified; {age}"
    told += f", {sum(one.is_unsaved for one in looked)} with writes since"
    if len(looked) >= most:
        fix = "the next visitor gets none: raise [memory] visitors, or make room with `nakari forget --owner KEY`"
        return Line("visitors", Verdict.WARNING, told, fix)
    return Line("visitors", Verdict.OK, told)


def judge_none(there: int, writes: int) -> Line:
    """Judge that no snapshot can be restored, of so many that are there and after so many writes."""
    if there:
        fix = "run `nakari memory snapshot`; the audit log has every write"
        return Line("snapshots", Verdict.FAULT, f"none of the newest of {there} can be read", fix)
    told = f"none yet; the audit log holds all {writes} attempts to write" if writes else "none yet"
    return Line("snapshots", Verdict.OK, told)


def judge_age(age: timedelta, writes: int, *, damaged: bool) -> Line:
    """Judge by the age of the newest restorable snapshot, the writes since, and whether a newer one is damaged."""
    what = f"the newest restorable one is {age.total_seconds() / 3600:.1f} h old, {writes} writes since"
    if damaged:
        return Line("snapshots", Verdict.WARNING, f"{what}; a newer one is damaged", "run `nakari memory snapshot`")
    if age > OLD and writes:
        return Line("snapshots", Verdict.WARNING, what, "they are taken while the service runs; start it")
    return Line("snapshots", Verdict.OK, what)


def judge_room(free: int, needed: int) -> Line:
    """Judge free bytes by those that making the graph again takes beside the present one."""
    what = f"{free / 1e9:.1f} GB free, a rebuild or a backup of the graph takes {needed / 1e9:.1f} GB for a moment"
    if free < needed:
        return Line("room", Verdict.WARNING, what, "make room, or nakari can neither forget nor be restored")
    return Line("room", Verdict.OK, what)


CHECKS: tuple[Check, ...] = (audit, snapshots, room, visitors)
