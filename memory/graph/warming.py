"""Makes the indexes of the store of the box, large ones in quiet moments, and keeps them warm for questions."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Final

import structlog

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable
from memory.graph.definitions import IndexDefinition, asked_index, names_index
from memory.graph.indexes import BUILD_SECONDS, Address, Standing, create, look, standings, vector_options, warm
from memory.graph.server import DATABASE
from memory.graph.stages import ON_ITS_WAY, QUIET, Clock, Stage, Stages
from memory.graph.store import Made, VectorOptions
from memory.graph.unfinished import Unfinished

PATIENCE: Final = 5.0
"""Seconds that a call waits for an index: one that makes it goes on without it then, one that asks it is refused."""

MANY: Final = 500
"""Nodes, labels and properties written since the last look after which a vector index may have grown cold."""

MANY_NODES: Final = 10_000
"""Of the label of an index: over fewer the store makes it in about a second, in which it answers nobody."""

log = structlog.get_logger()


class Indexes:
    """The vector and full-text indexes of one store.

    Guarantees while `keep` runs: an index that was accepted is made and built, also when the store or this process dies
    in between; no question builds a vector index over many vectors itself. Without `keep` an index is made at once,
    and the first question builds it. How far each is, is its `memory.graph.stages.Stage`.
    """

    def __init__(
        self, folder: Path, patience: float = PATIENCE, quiet: float = QUIET, clock: Clock = time.monotonic
    ) -> None:
        """Know the indexes of the store in a folder; `patience` and `quiet` are in seconds."""
        self._patience = patience
        self._clock = clock
        self._schema = folder / "databases" / DATABASE / "schema.json"
        self._unfinished = Unfinished(folder / "indexes-unfinished.json")
        self.address: Address | None = None
        """Where the store's second door is; None while it is down."""
        self._stages = Stages(clock, quiet)
        self._stale = asyncio.Event()
        """That they are to be looked at."""
        self._settled = asyncio.Event()
        """That they were, and that no vector index is cold."""
        self._settled.set()
        self._written = 0
        self._is_kept = False

    async def keep(self) -> None:
        """Make, build and warm what needs it, one after another, until cancelled. Raises nothing else."""
        self._is_kept = True
        try:
            while True:
                await self._until_needed()
                self._stale.clear()
                await self._settle()
                if not self._stale.is_set():
                    self._settled.set()
        finally:
            self._is_kept = False
            self._settled.set()

    def reached(self, at: Address) -> None:
        """Take note that the store has started: nothing is in its memory, and what was not on the disk is lost."""
        self.address = at
        self._stages.begin_anew()
        self._look()

    def lost(self) -> None:
        """Take note that the store is gone."""
        self.address = None

    def wrote(self, counters: Mapping[str, int]) -> None:
        """Take note of what a write did."""
        self._written += counters["nodesCreated"] + counters["propertiesSet"] + counters["labelsAdded"]
        if self._written >= MANY:
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
        kind = asked_index(cypher) if self._is_kept else None
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
        at, name, began = self.address, wanted.known_as, self._clock()
        if at is None:
            raise GraphUnavailable("the memory is not available now: try again later")
        try:
            is_there, nodes = await asyncio.to_thread(look, wanted, at)
            if self._is_to_wait(nodes) and not is_there:
                await asyncio.to_thread(self._unfinished.add, wanted)
                self._stages.enter(name, Stage.WAITING, f" (over {nodes} nodes)")
                self._stale.set()
                return Made(1, self._note(name))
        except (OSError, HTTPException) as error:
            raise GraphUnavailable(f"the memory is not available now: {error}") from error
        if is_there and wanted.once:
            return Made(0)
        if is_there:
            raise GraphRefused(f"the index {name} already exists: DROP INDEX it first, or say IF NOT EXISTS")
        self._stages.enter(name, Stage.MAKING, f" over {nodes} nodes" if nodes else "")
        self._settled.clear()
        work = asyncio.get_running_loop().run_in_executor(None, self._create, wanted, at)
        work.add_done_callback(partial(self._answered, wanted))
        await asyncio.wait([work], timeout=self._patience)
        if not work.done():
            return Made(1, self._note(name))
        made = self._outcome(name, work)
        if made.added and wanted.options and self._is_kept:
            await within(self._patience - (self._clock() - began), self._settled)
        return replace(made, note=self._note(name))

    async def vector_options(self) -> dict[str, VectorOptions]:
        """Return dimensions and function of the vector indexes, by name. Raises `GraphUnavailable`."""
        return await asyncio.to_thread(vector_options, self._schema)

    async def _until_free(self) -> None:
        """Wait until no index is being made, at most `PATIENCE` from when its making began; note that somebody asks."""
        self._stages.asked()
        since = self._stages.since(Stage.MAKING)
        if since is not None and not await within(self._patience - (self._clock() - since), self._stages.free):
            raise GraphUnavailable(
                f"the memory makes an index and answers nobody until it is made ({self._all_told()}): try again later"
            )

    async def _until_needed(self) -> None:
        """Wait for something to look at, or for the quiet that an index waits for."""
        while self._stages.names(Stage.WAITING) and self.address:
            left = self._stages.quiet_in()
            if left <= 0 or await within(left, self._stale):
                return
        await self._stale.wait()

    def _is_to_wait(self, nodes: int) -> bool:
        return self._is_kept and nodes >= MANY_NODES and self._stages.quiet_in() > 0

    def _create(self, wanted: IndexDefinition, at: Address) -> Made:
        """Make an index in a worker thread; a vector index stays written down until it is built, too."""
        if wanted.kind == "PLAIN":
            return create(wanted, at)
        self._unfinished.add(wanted)
        made = Made(0)
        try:
            made = create(wanted, at)
        except GraphRefused:
            self._unfinished.cross_out([wanted.known_as])
            raise
        if not (made.added and self._is_kept and wanted.options):
            self._unfinished.cross_out([wanted.known_as])
        return made

    def _answered(self, wanted: IndexDefinition, work: "asyncio.Future[Made]") -> None:
        """Take note of the store's answer, whether the call still waits for it or not."""
        name = wanted.known_as
        error = None if work.cancelled() else work.exception()
        if error is not None:
            self._stages.enter(name, Stage.REFUSED, f": {error}")
        elif self._is_kept and wanted.options:
            self._stages.enter(name, Stage.BUILDING)
        else:
            self._stages.leave([name])
        self._look()

    def _outcome(self, name: str, work: "asyncio.Future[Made]") -> Made:
        """Return what became of an index whose call hears it, so that nothing else need tell it."""
        if work.exception() is not None:
            self._stages.leave([name])
        try:
            return work.result()
        except (OSError, HTTPException) as error:
            raise CommitUncertain(
                f"the memory broke off while the index was made ({error}): SHOW INDEXES tells whether it is there, "
                "once the memory is back"
            ) from error

    async def _settle(self) -> None:
        """Make what is written down, and warm what is cold; a store that goes away is looked at when it is back."""
        await self._stages.free.wait()
        at, self._written = self.address, 0
        if at is None:
            return
        try:
            written = {each.known_as: each for each in await asyncio.to_thread(self._unfinished.read)}
            self._stages.leave(set(self._stages.names(Stage.WAITING)) - written.keys())
            for name, wanted in written.items():
                if self._stages.of(name) not in (Stage.MAKING, Stage.BUILDING):
                    await self._make_anew(wanted, at)
            await self._warm_all(at)
            done = [name for name in written if self._stages.of(name) not in ON_ITS_WAY]
            await asyncio.to_thread(self._unfinished.cross_out, done)
        except (OSError, HTTPException, ValueError, KeyError) as error:
            self._stages.leave(self._stages.names(Stage.BUILDING))
            if self.address is at:  # else the store was stopped meanwhile, on purpose
                log.warning("graph_indexes_not_warmed", reason=str(error))

    async def _make_anew(self, wanted: IndexDefinition, at: Address) -> None:
        """Make an index that waited, or whose making broke off: what the store has of it may lack anything."""
        name = wanted.known_as
        _, nodes = await asyncio.to_thread(look, wanted, at)
        if self._is_to_wait(nodes):
            self._stages.enter(name, Stage.WAITING, f" (over {nodes} nodes)")
            return
        self._stages.enter(name, Stage.MAKING, f" over {nodes} nodes")
        self._settled.clear()
        try:
            await asyncio.to_thread(partial(create, wanted, at, anew=True))
        except GraphRefused as error:
            self._stages.enter(name, Stage.REFUSED, f": {error}")
        except (OSError, HTTPException):
            self._stages.leave([name])
            raise
        else:
            self._stages.enter(name, Stage.BUILDING)

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

    def _note(self, name: str) -> str:
        state = self.states.get(name, "")
        return f"the index {name} is accepted, {state}; memory_schema tells when it is ready" if state else ""

    def _look(self) -> None:
        """Have the indexes looked at, and questions of them wait for it."""
        self._settled.clear()
        self._stale.set()

    def _all_told(self) -> str:
        return "; ".join(f"{name}: {state}" for name, state in self.states.items()) or "they are being read"


async def within(seconds: float, event: asyncio.Event) -> bool:
    """Wait so long for an event; say whether it came."""
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
    except TimeoutError:
        return False
    return True
