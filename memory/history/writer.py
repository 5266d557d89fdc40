"""The one writer of the graph: each write is audited before it runs and after it is kept."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Final

import structlog
from msgspec import Struct

from memory.clock import utc_now
from memory.errors import AuditBroken, CommitUncertain, GraphRefused, MemoryFailure, SnapshotBroken, StateUnusable
from memory.graph.cypher import Statement
from memory.graph.deterministic import Deterministic, deterministic
from memory.graph.dump.serialization import serialized
from memory.graph.graph import Graph, Witness
from memory.graph.results import Written
from memory.history.addressed import BY_ID, addressed
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.restore import BEFORE, SOURCE, continue_restore
from memory.history.server_integrity import ServerIntegrity
from memory.history.snapshot import Saving, Snapshot, Snapshots
from memory.json_value import Json
from memory.progress import Progress, silently

SHARE: Final = 0.1
"""Of all nodes and relationships; when a statement takes away more, a snapshot comes first."""

FEWEST: Final = 20
"""Nodes and relationships that may go without one: a graph so small is no loss to lose a tenth of."""

PATIENCE: Final = 8.0
"""Seconds after which a write no longer waits for a snapshot: as much is left of a tool's time for trying it again."""

_COUNT: Final = (
    "CALL { MATCH (n) RETURN count(n) AS found UNION ALL MATCH ()-[r]->() RETURN count(r) AS found } "
    "RETURN sum(found) AS found"
)

log = structlog.get_logger()


class _MuchWouldGo(Exception):
    """Rolls a statement back that takes away much, so that a snapshot can be taken first."""

    def __init__(self, found: int) -> None:
        """`found` is how many nodes and relationships there are."""
        super().__init__()
        self.found = found


class Writer:
    """Everything that changes the graph comes through here, one after another.

    Order: attempt in the audit log, synced; the statement in a transaction; its counters read; commit; outcome in the
    audit log. When more than `SHARE` would go, the transaction is rolled back, a snapshot taken and the statement tried
    again: a large graph takes longer to write down than a store lets a transaction live. Where it takes longer than a
    tool has, too, the write ends with a sentence, and the same write finds the snapshot later (`saving`). A crash, a
    cancelled or a torn commit leaves an attempt without an outcome: then a snapshot says what is true, as soon as the
    store is there (`unfinished`) and before anything else is written. So does a restore that was cut off while it
    filled a server's graph: then it is gone on with first.
    """

    def __init__(
        self, graph: Graph, audit: AuditLog, snapshots: Snapshots, server: ServerIntegrity | None = None
    ) -> None:
        """`server` is the graph's store, where that is a server that somebody may empty or replace."""
        self.graph = graph
        self.audit = audit
        self.snapshots = snapshots
        self.unfinished = asyncio.Event()
        """Something broke off, a commit or a forgetting, that `memory.history.erasure.finish` is to end."""
        self._server = server
        self.patience = PATIENCE
        """Seconds that a write waits for a snapshot that is taken beside."""
        self.saving = Saving(self._save)
        """Takes the snapshots before much goes, beside the writes while its `run` runs."""
        self._one = asyncio.Lock()
        self._is_settled = False
        """Whether every attempt in the audit log has its outcome, as far as this process knows."""
        self._is_saved = False
        """Whether nothing was kept since a snapshot was taken for a write that takes away much."""

    async def write(self, cypher: str | Statement, params: Mapping[str, object], origin: Origin) -> Written:
        """Run a statement and keep what it does; it is on the disk, and in the audit log, on return.

        Raises what `Graph.write` raises, `StateUnusable` when the audit log takes nothing, and `GraphUnavailable` when
        a snapshot that comes first takes longer than `patience`: then nothing was changed.
        """
        statement = Statement.parse(cypher, self.graph.limits.statement)
        deadline = asyncio.get_running_loop().time() + self.patience
        while True:
            await self.saving.until_idle(deadline)
            try:
                async with self._one:
                    await self._settle()
                    bound = deterministic(statement, utc_now())
                    return await self._attempt(_Attempt(self, bound, params, origin))
            except _MuchWouldGo as much:
                await self.saving.ask(much.found)

    @asynccontextmanager
    async def exclusively(self, progress: Progress = silently) -> AsyncIterator["Alone"]:
        """Keep everybody else from writing. Raises what finding out about the last write raises.

        `progress` is told of a restore that is gone on with first.
        """
        async with self.unsettled() as alone:
            await self._settle(progress)
            yield alone

    @asynccontextmanager
    async def unsettled(self) -> AsyncIterator["Alone"]:
        """Keep everybody else from writing, before anything is found out about the last write."""
        async with self._one:
            self._is_saved = False
            yield Alone(self)

    async def take_snapshot(self, reason: str) -> Snapshot:
        """Take a snapshot between two writes. Raises what `Snapshots.take` raises."""
        async with self.exclusively() as alone:
            return await alone.snapshot(reason)

    async def see_saved(self, counters: Mapping[str, int]) -> None:
        """Stop a statement that takes away much, its transaction still open, unless a snapshot was taken for it."""
        if self._is_saved:
            return
        gone = counters["nodesDeleted"] + counters["relationshipsDeleted"]
        # Who creates nothing and sets properties, or takes labels away, may be writing over what was there.
        if not counters["nodesCreated"] and not counters["relationshipsCreated"]:
            gone += counters["propertiesSet"] + counters["labelsRemoved"]
        if gone > FEWEST:
            [row] = (await self.graph.read(_COUNT)).records
            found = int(str(row["found"]))
            if gone > SHARE * found:
                raise _MuchWouldGo(found)

    async def _save(self) -> None:
        async with self._one:
            await self._settle()
            await self.snapshots.take(self.graph, "before much was taken away")
            self._is_saved = True

    async def _attempt(self, attempt: "_Attempt") -> Written:
        try:
            written = await self.graph.write(attempt.bound.statement, attempt.params, attempt)
        except _MuchWouldGo:
            await attempt.ended(committed=False, why="rolled back for a snapshot first")
            raise
        except CommitUncertain:
            self.unsettle()
            raise
        except MemoryFailure as error:
            await attempt.ended(committed=False, why=str(error))
            raise
        except BaseException:
            # Cancelled, or a bug: the commit may have happened.
            self.unsettle()
            raise
        self._is_saved = False
        await attempt.ended(committed=True, stats=written.stats)
        return written

    def filling(self) -> AbstractContextManager[None]:
        """Let nobody but the block see a server's graph, which is empty or half full within it."""
        return nullcontext() if self._server is None else self._server.being_filled()

    def unsettle(self) -> None:
        """Take note that an outcome is not known, or could not be written down."""
        self._is_settled = self._is_saved = False
        self.unfinished.set()

    async def _settle(self, progress: Progress = silently) -> None:
        """Bring what broke off to an end before anything else is written, in this order.

        A server that somebody emptied is to be filled; what was filling a server goes on; what is still without an
        outcome gets the one that can be known. Raises `GraphUnavailable` when the graph cannot be read: then all of it
        is to be done before the next write.
        """
        await self._see_emptied()
        if not self._is_settled:
            await self._fill(progress)
            await self._close_open_attempts()
            self._is_settled = True

    async def _see_emptied(self) -> None:
        """Have a server that is empty and should not be filled again; what is open already may do that."""
        if self._server is None or not await self._server.is_emptied():
            return
        self.unsettle()
        if not await self.audit.open():
            log.warning("graph_emptied")
            await self.audit.append("restoring", {"file": "", SOURCE: "", BEFORE: ""})

    async def _fill(self, progress: Progress) -> None:
        """Go on with what is to fill a server's graph. Raises `GraphUnavailable`."""
        for begun in [record for record in await self.audit.open() if SOURCE in record.facts]:
            with self.filling():
                try:
                    await continue_restore(self.graph, self.audit, self.snapshots.folder, begun, progress)
                except (SnapshotBroken, GraphRefused, AuditBroken) as error:
                    log.error("restore_taken_back", reason=str(error))  # noqa: TRY400  a sentence, not a bug
                    continue
                if not begun.facts[SOURCE]:
                    await self.snapshots.take(self.graph, "after it was made again")

    async def _close_open_attempts(self) -> None:
        """Write down of each that nobody knows whether it was kept, after a snapshot of what is there."""
        pending = await self.audit.open()
        if pending:
            await self.snapshots.take(self.graph, "after a write of which nobody knows whether it was kept")
            for record in pending:
                await self.audit.append("outcome", {"of": record.seq, "committed": None})


class Alone(Struct, frozen=True):
    """What may be done while nobody else writes."""

    writer: Writer

    async def snapshot(self, reason: str) -> Snapshot:
        """Take a snapshot. Raises what `Snapshots.take` raises."""
        return await self.writer.snapshots.take(self.writer.graph, reason)


class _Attempt(Witness):
    """One statement on its way; the audit log's witness of it."""

    def __init__(self, writer: Writer, bound: Deterministic, params: Mapping[str, object], origin: Origin) -> None:
        self.bound = bound
        self.params = {**params, **bound.params}
        self._writer = writer
        self._origin = origin
        self._seq = 0
        """Its record in the audit log; 0 before there is one."""

    async def attempted(self, number: int) -> None:
        """Write the attempt down before it happens."""
        await self.ended(committed=False, why="nothing of it was kept, and it was tried again")
        facts: dict[str, Json] = {
            "event_id": self._origin.event_id,
            "owner_key": self._origin.owner_key,
            "attempt": number,
            "inexact": [*self.bound.inexact],
        }
        content: dict[str, Json] = {"cypher": self.bound.statement.text, "params": serialized(dict(self.params))}
        if BY_ID in self.bound.inexact and (named := await addressed(self._writer.graph, self.params)):
            content["named"] = named
        self._seq = (await self._writer.audit.append("attempt", facts, content)).seq

    async def counted(self, counters: Mapping[str, int]) -> None:
        """Stop a statement that takes away much, unless a snapshot was taken for it."""
        await self._writer.see_saved(counters)

    async def ended(self, *, committed: bool, why: str = "", stats: Mapping[str, int] | None = None) -> None:
        """Write the outcome down, once; where the disk refuses it, the next write finds out what is true."""
        if not self._seq:
            return
        facts: dict[str, Json] = {"of": self._seq, "committed": committed}
        facts |= {"stats": {name: count for name, count in stats.items() if count}} if stats else {}
        self._seq = 0
        try:
            # A refusal repeats the statement's words: it is its own, and can be erased.
            await self._writer.audit.append("outcome", facts, {"why": why} if why else None)
        except StateUnusable as error:
            log.warning("audit_outcome_missing", reason=str(error))
            self._writer.unsettle()
        except asyncio.CancelledError:  # while the log was busy: it may never have begun
            self._writer.unsettle()
            raise
