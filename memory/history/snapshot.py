"""Snapshots of the graph: whole dumps in a folder, each named in the audit log, thinned with age."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import asdict

from memory.clock import utc_now
from memory.durable import rename_durably
from memory.errors import GraphUnavailable, MemoryFailure, StateUnusable
from memory.graph.dump.dump import write_dump
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Record

SUFFIX: Final = ".graph.gz"
NOT_YET: Final = ".new"
"""In the place of .gz, of a snapshot that is being written."""
RESTORED_FROM: Final = "restored from "
"""How the reason begins of a snapshot taken right after a restore; the file's name follows."""
EVERYTHING_RESTORED: Final = "after a restore of everything"
"""Reason of the snapshot taken once a backup has taken the place of what was here."""

EACH_KEPT: Final = timedelta(days=7)
WEEKLY_KEPT: Final = timedelta(days=60)
"""Younger than the first every snapshot is kept, then one a week, past the second one a month."""

log = structlog.get_logger()


class Snapshot(Struct, frozen=True):
    """One that is still there."""

    path: Path
    seq: int
    """Its record in the audit log: it holds what was kept before that, and nothing after."""
    at: datetime
    """Aware UTC."""
    nodes: int
    relationships: int
    reason: str


class Snapshots:
    """Takes, lists and thins them. Whoever takes one sees to it that nobody writes meanwhile (`writer`)."""

    def __init__(self, folder: Path, audit: AuditLog, now: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder
        self._audit = audit
        self._now = now

    async def take(self, graph: Graph, reason: str) -> Snapshot:
        """Write a snapshot; durable, and in the audit log, on return.

        Raises `GraphUnavailable`, and `StateUnusable` when the disk takes none of it; a half written one is removed.
        """
        at = self._now()
        path = self.folder / f"{at:%Y%m%dT%H%M%S%fZ}{SUFFIX}"
        written = path.with_suffix(NOT_YET)
        try:
            await asyncio.to_thread(self._begin)
            try:
                dump = await write_dump(graph, written, at)
                # Named in the log first: a file that it does not name would outlive every thinning and forgetting.
                facts = {"file": path.name, **asdict(dump), "reason": reason}
                record = await self._audit.append("snapshot", facts)
                await asyncio.to_thread(rename_durably, written, path)
            finally:
                await asyncio.to_thread(written.unlink, missing_ok=True)
        except OSError as error:
            raise StateUnusable(f"no snapshot can be written in {self.folder} ({error.strerror}): make room") from error
        log.info("snapshot_taken", file=path.name, nodes=dump.nodes, reason=reason)
        return _snapshot(self.folder, record)

    def _begin(self) -> None:
        """Make the folder, and take away what a kill left half written in it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for half in self.folder.glob(f"*{NOT_YET}"):
            half.unlink()

    async def listed(self) -> list[Snapshot]:
        """Return those that are there, oldest first. Raises `AuditBroken`."""
        return await asyncio.to_thread(lambda: list(self.among(self._audit.records())))

    def among(self, records: Iterable[Record]) -> Iterable[Snapshot]:
        """Yield the snapshots that these records name and that are there. Blocking."""
        for record in records:
            if record.kind == "snapshot" and (self.folder / str(record.facts["file"])).is_file():
                yield _snapshot(self.folder, record)

    async def thin(self) -> int:
        """Remove those that age makes superfluous; return how many."""
        listed = await self.listed()
        superfluous = [one for one in listed if one not in worth_keeping(listed, self._now())]
        for one in superfluous:
            await asyncio.to_thread(one.path.unlink, missing_ok=True)
        return len(superfluous)


class Saving:
    """The snapshot that a write waits for: taken beside it while `run` runs, so that it may outlast the write."""

    def __init__(self, take: Callable[[], Awaitable[None]]) -> None:
        """`take` keeps everybody from writing meanwhile."""
        self._take = take
        self._is_beside = False
        self._size = 0
        self._wanted = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._failure: MemoryFailure | OSError | None = None
        """Why the last one was not taken, until somebody is told."""

    async def run(self) -> None:
        """Take what is asked for, until cancelled; a failure is told to who asks next."""
        self._is_beside = True
        try:
            while True:
                await self._wanted.wait()
                try:
                    await self._take()
                except (MemoryFailure, OSError) as error:
                    log.warning("snapshot_failed", reason=str(error))
                    self._failure = error
                self._end()
        finally:
            self._is_beside = False
            self._end()

    async def ask(self, size: int) -> None:
        """Have one taken of so many nodes and relationships; where nobody takes it beside, it is there on return.

        Raises what kept the last one from being taken, and without `run` what `take` raises.
        """
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        if not self._is_beside:
            await self._take()
        else:
            self._size = size
            self._idle.clear()
            self._wanted.set()

    async def until_idle(self, deadline: float) -> None:
        """Wait until none is under way, to a moment of the loop's clock at most. Raises `GraphUnavailable`."""
        try:
            async with asyncio.timeout_at(deadline if self._wanted.is_set() else None):
                await self._idle.wait()
        except TimeoutError:
            raise GraphUnavailable(
                f"much is to be taken away: a snapshot of {self._size} nodes and relationships comes first, and it is "
                "under way; nothing was changed yet, ask again in a minute"
            ) from None

    def _end(self) -> None:
        self._wanted.clear()
        self._idle.set()


def worth_keeping(snapshots: list[Snapshot], now: datetime) -> list[Snapshot]:
    """Return those worth their space: all of a week, the last of each week of two months, the last of each month."""
    last: dict[str, Snapshot] = {}
    for one in sorted(snapshots, key=lambda one: one.seq):
        age = now - one.at
        span = str(one.seq) if age < EACH_KEPT else f"{one.at:%G-W%V}" if age < WEEKLY_KEPT else f"{one.at:%Y-%m}"
        last[span] = one
    return list(last.values())


def _snapshot(folder: Path, record: Record) -> Snapshot:
    facts = record.facts
    return Snapshot(
        path=folder / str(facts["file"]),
        seq=record.seq,
        at=record.at,
        nodes=int(str(facts["nodes"])),
        relationships=int(str(facts["relationships"])),
        reason=str(facts["reason"]),
    )
