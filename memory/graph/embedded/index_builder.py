"""Keeps the indexes of the store of the box: what is to be made is made, vector indexes are warm for questions."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import Final

import structlog

from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.definitions import IndexDefinition, asked_index, dropped_index, names_index
from memory.graph.embedded.deferral import Deferral, within
from memory.graph.embedded.indexes import BUILD_SECONDS, Address, Standing, standings, vector_options, warm
from memory.graph.embedded.making import Making
from memory.graph.embedded.server import DATABASE
from memory.graph.embedded.stages import ON_ITS_WAY, QUIET, Clock, Stage, Stages
from memory.graph.embedded.unfinished import Unfinished
from memory.graph.store import Made, VectorOptions

PATIENCE: Final = 5.0
"""Seconds that a call waits for an index: one that makes it goes on without it then, one that asks it is refused."""

MANY: Final = 500
"""Nodes, labels and properties written since the last look after which a vector index may have grown cold."""

log = structlog.get_logger()


class Indexes:
    """The vector and full-text indexes of one store.

    Guarantees while `keep` runs: an index that was accepted is made and built, also when the store or this process dies
    in between; no question builds a vector index over many vectors itself. Without `keep` an index is made at once,
    and the first question builds it. How far each is, is its `memory.graph.embedded.stages.Stage`.
    """

    def __init__(
        self, folder: Path, patience: float = PATIENCE, quiet: float = QUIET, clock: Clock = time.monotonic
    ) -> None:
        """Know the indexes of the store in a folder; `patience` and `quiet` are in seconds."""
        self._patience = patience
        self._clock = clock
        self._schema = folder / "databases" / DATABASE / "schema.json"
        self.address: Address | None = None
        """Where the store's second door is; None while it is down."""
        self._written_down = Unfinished(folder / "indexes-unfinished.json")
        self._stages = Stages(clock, quiet)
        self._deferral = Deferral(self._written_down, self._stages)
        self._making = Making(self._written_down, self._deferral, self._stages, patience, self._look)
        self._stale = asyncio.Event()
        """That they are to be looked at."""
        self._settled = asyncio.Event()
        """That they were, and that no vector index is cold."""
        self._settled.set()
        self._changes = 0
        """Nodes, labels and properties written since the last look."""

    async def keep(self) -> None:
        """Make, build and warm what needs it, one after another, until cancelled. Raises nothing else."""
        self._deferral.is_on = True
        try:
            while True:
                await self._deferral.until_due(self._stale)
                self._stale.clear()
                await self._settle()
                if not self._stale.is_set():
                    self._settled.set()
        finally:
            self._deferral.is_on = False
            self._settled.set()

    def reached(self, at: Address) -> None:
        """Take note that the store has started: nothing is in its memory, and what was not on the disk is lost."""
        self.address = at
        self._stages.begin_anew()
        self._look()

    def lost(self) -> None:
        """Take note that the store is gone, and what was on its way with it."""
        self.address = None
        self._stages.begin_anew()

    def wrote(self, counters: Mapping[str, int]) -> None:
        """Take note of what a write did."""
        self._changes += counters["nodesCreated"] + counters["propertiesSet"] + counters["labelsAdded"]
        if self._changes >= MANY:
            self._look()

    @property
    def states(self) -> dict[str, str]:
        """What is to be said of those indexes that are not ready, by name."""
        return self._stages.told()

    @property
    def is_making(self) -> bool:
        """Whether the store makes an index now, and answers nobody until it is made."""
        return not self._stages.free.is_set()

    async def ready_for(self, cypher: str, params: Mapping[str, object]) -> None:
        """Wait until the store can answer a statement, and does not have to build a vector index for it.

        Raises `GraphUnavailable` when the store makes an index for `PATIENCE` already, and `GraphRefused` when an index
        that is asked is not ready within that time, or cannot be.
        """
        await self._until_free()
        dropped = dropped_index(cypher)
        if dropped is not None and self._stages.of(dropped) is Stage.BUILDING:
            await self._cross_out(dropped)
        kind = asked_index(cypher) if self._deferral.is_on else None
        if kind is None:
            return
        is_ready = kind == "FULLTEXT" or await within(self._patience, self._settled)
        unready = self._stages.names(*ON_ITS_WAY, Stage.UNBUILT)
        if not is_ready or any(names_index(name, cypher, params) for name in unready):
            raise GraphRefused(
                f"the indexes are not ready ({self._all_told()}): memory_schema tells when they are; "
                "compare with vector.similarity.cosine, or with CONTAINS, meanwhile"
            )

    async def make(self, wanted: IndexDefinition) -> Made:
        """Make an index, durably; one that takes longer than `PATIENCE` is accepted, and made without the call.

        Raises `GraphRefused`, `GraphUnavailable` when the store makes another one, `CommitUncertain` when it broke off.
        """
        await self._until_free()
        name, began = wanted.known_as, self._clock()
        if self.address is None:
            raise GraphUnavailable("the memory is not available now: try again later")
        made = await self._making.make(wanted, self.address)
        if self._stages.of(name) is Stage.BUILDING:
            await within(self._patience - (self._clock() - began), self._settled)
        state = self.states.get(name)
        note = f"the index {name} is accepted, {state}; memory_schema tells when it is ready" if state else ""
        return replace(made, note=note)

    def is_waiting(self, name: str) -> bool:
        """Whether an index is wished for, and waits to be made."""
        return self._deferral.is_waiting(name)

    async def forget(self, name: str) -> Made:
        """Have an index that waits made no more. Raises `GraphUnavailable`, `GraphRefused` when it waits no more."""
        try:
            if await self._deferral.forget(name):
                return Made(0, removed=1)
        except OSError as error:
            raise GraphUnavailable(f"the memory is not available now: {error}") from error
        raise GraphRefused(f"the index {name} is being made by now: DROP INDEX it again when it is")

    async def unmade(self) -> dict[str, str]:
        """Return the statements of those that were accepted and may not be made yet, by name."""
        return await self._deferral.statements()

    async def vector_options(self) -> dict[str, VectorOptions]:
        """Return dimensions and function of the vector indexes, by name. Raises `GraphUnavailable`."""
        return await asyncio.to_thread(vector_options, self._schema)

    async def _cross_out(self, name: str) -> None:
        """Have one not made anew by the next start that is about to be dropped while it is built.

        Should it stay after all it is as good: it was made, and whoever keeps the indexes builds what is cold.
        """
        try:
            await asyncio.to_thread(self._written_down.cross_out, [name])
        except OSError as error:
            raise GraphUnavailable(f"the memory is not available now: {error}") from error

    async def _until_free(self) -> None:
        """Wait until no index is being made, at most `PATIENCE` from when its making began; note that somebody asks."""
        self._stages.asked()
        since = self._stages.since(Stage.MAKING)
        if since is not None and not await within(self._patience - (self._clock() - since), self._stages.free):
            raise GraphUnavailable(
                f"the memory makes an index and answers nobody until it is made ({self._all_told()}): try again later"
            )

    async def _settle(self) -> None:
        """Make what is written down, and warm what is cold; a store that goes away is looked at when it is back."""
        await self._stages.free.wait()
        at, self._changes = self.address, 0
        if at is None:
            return
        try:
            written = {each.known_as: each for each in await asyncio.to_thread(self._written_down.read)}
            self._stages.leave(set(self._stages.names(Stage.WAITING)) - written.keys())
            for name, wanted in written.items():
                if self._stages.of(name) not in (Stage.MAKING, Stage.BUILDING):
                    await self._making.make_anew(wanted, at)
            await self._warm_all(at)
            done = [name for name in written if self._stages.of(name) not in ON_ITS_WAY]
            await asyncio.to_thread(self._written_down.cross_out, done)
        except (OSError, HTTPException, ValueError, KeyError) as error:
            self._stages.leave(self._stages.names(Stage.BUILDING))
            if self.address is at:  # else the store was stopped meanwhile, on purpose
                log.warning("graph_indexes_not_warmed", reason=str(error))

    async def _warm_all(self, at: Address) -> None:
        """Build the vector indexes that need it; all that were made by now are ready then, or UNBUILT."""
        made = self._stages.names(Stage.BUILDING)
        found = await asyncio.to_thread(standings, at)
        gone = set(self._stages.names(Stage.UNBUILT)) - {index.name for index in found}
        for index in found:
            if index.is_cold:
                await self._warm(index, at)
        self._stages.leave([*gone, *(name for name in made if self._stages.of(name) is Stage.BUILDING)])

    async def _warm(self, index: Standing, at: Address) -> None:
        began = self._clock()
        self._stages.enter(index.name, Stage.BUILDING, f" over {index.vectors} vectors")
        try:
            while not await asyncio.to_thread(warm, index, at):
                if self._clock() - began > BUILD_SECONDS:
                    raise GraphRefused(f"not within {BUILD_SECONDS / 60:.0f} minutes")  # noqa: TRY301
        except GraphRefused as error:
            self._stages.enter(index.name, Stage.UNBUILT, f": {error}")
        else:
            self._stages.leave([index.name])
        log.info("graph_index_warmed", vectors=index.vectors, seconds=round(self._clock() - began, 3))

    def _look(self) -> None:
        """Have the indexes looked at, and questions of them wait for it."""
        self._settled.clear()
        self._stale.set()

    def _all_told(self) -> str:
        return "; ".join(f"{name}: {state}" for name, state in self.states.items()) or "they are being read"
