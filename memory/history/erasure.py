"""Erasure in the graph: what an event wrote leaves audit log, graph and snapshots; digests stay."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import Final

import structlog

from memory.durable import sync_folder
from memory.errors import GraphUnavailable, MemoryFailure, StateUnusable
from memory.graph.dump.dump import load_dump, write_dump
from memory.graph.embedded.store import EmbeddedStore
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.repair import repair_incomplete
from memory.history.replay import RestorePlan, follow, is_whole, restore_plan
from memory.history.restore import empty, made_beside
from memory.history.snapshot import RESTORED_FROM, Snapshot
from memory.history.writer import Writer
from memory.passing_files import folder_for_now

AGAIN_SECONDS: Final = 60.0
"""Between two tries to finish what broke off."""

AFTER: Final = "after forgetting"
"""Reason of the snapshot that takes the place of those that held what was forgotten."""

log = structlog.get_logger()


async def erase_event(writer: Writer, store: EmbeddedStore | None, event_id: str) -> int:
    """Make the graph what it were had this event written nothing; return how many of its statements were erased.

    Raises what `erase_writes` does.
    """
    return await erase_writes(writer, store, lambda record: record.facts.get("event_id") == event_id)


async def erase_owner(writer: Writer, store: EmbeddedStore | None, owner_key: str) -> int:
    """Make the graph what it were had no event of this owner written anything, as `erase_event` does, in one pass."""
    return await erase_writes(writer, store, lambda record: record.facts.get("owner_key") == owner_key)


async def erase_writes(writer: Writer, store: EmbeddedStore | None, is_meant: Callable[[Record], bool]) -> int:
    """Make the graph what it were without these attempts to write; return how many held a content yet.

    The contents of their records go first, so that no replay can ever bring them back; then the graph is made again
    from the newest snapshot before them and every other write since; then the snapshots taken meanwhile are removed;
    at last one is taken that says that nothing is left to do. Broken off in between, `finish` goes on. Raises
    `MemoryFailure`; the contents are gone even then.
    """
    async with writer.unsettled():
        meant, held = await asyncio.to_thread(lambda: _meant(writer.audit.records(), is_meant))
        await writer.audit.erase(meant)
    if meant:
        try:
            await finish(writer, store)
        except BaseException:
            writer.unfinished.set()
            raise
    return held


async def finish(writer: Writer, store: EmbeddedStore | None) -> bool:
    """Take out of graph and snapshots what the audit log holds no more; return whether there was anything to take.

    Writes of which nobody knows are settled first. A store that is away is asked for nothing where there is nothing.
    Raises `MemoryFailure`.
    """
    if not (await _unclean(writer) or await writer.audit.open()):
        return False
    async with writer.exclusively() as alone:
        dirty = await _unclean(writer)
        if not dirty:
            return False
        there = await writer.snapshots.listed()
        plan = await asyncio.to_thread(_plan_without, writer.audit, there, min(dirty))
        await _make_again(writer, store, plan)
        held_it = [snapshot for snapshot in there if snapshot.seq > min(dirty) and snapshot != plan.base]
        await asyncio.to_thread(_remove, held_it, store)
        await alone.snapshot(AFTER)
    return True


async def _unclean(writer: Writer) -> set[int]:
    return await asyncio.to_thread(lambda: unclean(writer.audit.records()))


def _remove(snapshots: list[Snapshot], store: EmbeddedStore | None) -> None:
    """Remove all copies that hold what was forgotten, on the disk too. Blocking."""
    for snapshot in snapshots:
        snapshot.path.unlink(missing_ok=True)
    for folder in {snapshot.path.parent for snapshot in snapshots}:
        sync_folder(folder)
    if store is not None:
        shutil.rmtree(store.folder_before, ignore_errors=True)
        sync_folder(store.folder.parent)


async def finish_later(
    writer: Writer,
    store: EmbeddedStore | None = None,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    *,
    counts: bool = True,
) -> None:
    """Finish what a crash or an outage broke off; try again while the store is away, told once for each reason.

    `counts` has a store of the box looked through first, and made whole where it lacks something: for a start, because
    a write of which nobody knows counts as one that was not kept.
    """
    told = ""
    while True:
        try:
            if store is not None and counts:
                await repair_incomplete(writer, store)
            await finish(writer, store)
        except (GraphUnavailable, StateUnusable, OSError) as error:
            if str(error) != told:
                log.warning("graph_not_settled", reason=str(error))
            told = str(error)
            await pause(AGAIN_SECONDS)
            continue
        except MemoryFailure as error:
            log.error("graph_not_settled", reason=str(error))  # noqa: TRY400  a sentence, not a bug
        return


def unclean(records: Iterable[Record]) -> set[int]:
    """Return the erased writes that may be in the graph yet, kept or not known to be: since the last clean snapshot."""
    attempts, erased = set[int](), set[int]()
    for record in records:
        if record.kind == "attempt":
            attempts.add(record.seq)
        elif record.kind == "outcome" and record.facts["committed"] is False:
            attempts.discard(int(str(record.facts["of"])))
        elif record.kind == "snapshot" and record.facts["reason"] == AFTER:
            erased.clear()
        erased |= record.erases
    return erased & attempts


def _meant(records: Iterable[Record], is_meant: Callable[[Record], bool]) -> tuple[set[int], int]:
    """Return the numbers of the attempts that are meant, and of their outcomes; and how many hold a content yet."""
    numbers, held = set[int](), 0
    for record in records:
        if record.kind == "attempt" and is_meant(record):
            numbers.add(record.seq)
            held += not record.is_erased
        elif record.kind == "outcome" and record.facts["of"] in numbers:
            numbers.add(record.seq)
    return numbers, held


def _plan_without(audit: AuditLog, there: list[Snapshot], first: int) -> RestorePlan:
    """Return how the graph came to be, from a snapshot that cannot hold the erased writes. Blocking."""
    records = list(audit.outline())
    own = {record.facts["file"] for record in records if record.kind == "snapshot"}

    def is_clean(snapshot: Snapshot) -> bool:
        source = snapshot.reason.removeprefix(RESTORED_FROM)
        is_foreign = source != snapshot.reason and source not in own
        return (snapshot.seq < first or is_foreign) and is_whole(snapshot)

    return restore_plan(records, there, is_clean)


async def _make_again(writer: Writer, store: EmbeddedStore | None, plan: RestorePlan) -> None:
    if store is not None:
        await made_beside(store, lambda graph: follow(writer.audit, plan, graph))
        await store.restart()
        return
    async with folder_for_now(writer.audit.folder.parent, "forgetting-") as place:
        before = place / "before"
        await write_dump(writer.graph, before, datetime.now(UTC))
        with writer.filling():
            try:
                await empty(writer.graph)
                await follow(writer.audit, plan, writer.graph)
            except (MemoryFailure, asyncio.CancelledError):
                await empty(writer.graph)
                await load_dump(before, writer.graph)
                raise
