"""Builds the indexes of the store of the box in the background and keeps them warm, so that no question has to."""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Final

import structlog

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable
from memory.graph.definitions import IndexDefinition
from memory.graph.indexes import BUILD_SECONDS, Address, Standing, create, is_there, standings, vector_options, warm
from memory.graph.server import DATABASE
from memory.graph.store import Made, VectorOptions
from memory.graph.unfinished import Unfinished

PATIENCE: Final = 5.0
"""Seconds that a call waits for an index: one that makes it goes on without it then, one that asks it is refused."""

MANY: Final = 500
"""Nodes, labels and properties written since the last look after which a vector index may have grown cold."""

_ASKS: Final = re.compile(r"\bvector\W*\.\W*queryNodes\b", re.IGNORECASE)

log = structlog.get_logger()


class Indexes:
    """The vector and full-text indexes of one store.

    Guarantees while `keep` runs: an index that was accepted is built, also when the store or this process dies in
    between; no question builds a vector index over many vectors itself. Without `keep`, the first question does.
    """

    def __init__(self, folder: Path, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic) -> None:
        """Know the indexes of the store in a folder; `patience` is in seconds."""
        self._patience = patience
        self._schema = folder / "databases" / DATABASE / "schema.json"
        self._unfinished = Unfinished(folder / "indexes-unfinished.json")
        self._clock = clock
        self.address: Address | None = None
        """Where the store's second door is; None while it is down."""
        self._stale = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._making: set[str] = set()
        """Names of those whose making the store has not answered yet."""
        self._made: set[str] = set()
        """Names of those that the store has made since it started."""
        self._free = asyncio.Event()
        """That no index is being made: while one is, the store answers nobody."""
        self._free.set()
        self._told: dict[str, str] = {}
        self._failed: dict[str, str] = {}
        """Why a vector index could not be built, by its name."""
        self._late: set[str] = set()
        """Names of those among `_making` whose call went on."""
        self._refused: dict[str, str] = {}
        """Why one of those was not made; kept until it is wanted again."""
        self._written = 0
        self._is_kept = False

    async def keep(self) -> None:
        """Build and warm what needs it, one after another, until cancelled. Raises nothing else."""
        self._is_kept = True
        try:
            while True:
                await self._stale.wait()
                self._stale.clear()
                await self._settle()
                if not self._stale.is_set() and not self._making:
                    self._settled.set()
        finally:
            self._is_kept = False
            self._settled.set()

    def reached(self, at: Address) -> None:
        """Take note that the store has started: nothing is in its memory, and what was not on the disk is lost."""
        self.address = at
        self._made.clear()
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
        return self._refused | self._failed | self._told

    @property
    def is_making(self) -> bool:
        """Whether the store makes an index now, and answers nobody until it is made."""
        return not self._free.is_set()

    async def ready_for(self, cypher: str, params: Mapping[str, object]) -> None:
        """Wait until the store can answer a statement, and does not have to build a vector index for it.

        Raises `GraphUnavailable` when the store still makes an index after `PATIENCE`, and `GraphRefused` when a vector
        index is not built until then, or cannot be.
        """
        if not await within(self._patience, self._free):
            raise GraphUnavailable(
                f"the memory makes an index and answers nobody until it is made ({self._all_told()}): try again later"
            )
        if not self._is_kept or not _ASKS.search(cypher):
            return
        is_ready = await within(self._patience, self._settled)
        named = [name for name in self._failed if name in cypher or name in params.values()]
        if not is_ready or named:
            raise GraphRefused(
                f"the vector indexes are not ready ({self._all_told()}): memory_schema tells when they are; "
                "compare with vector.similarity.cosine meanwhile"
            )

    async def make(self, wanted: IndexDefinition) -> Made:
        """Make an index, durably; one that takes longer than `PATIENCE` is accepted and built without the call.

        Raises `GraphRefused`, and `CommitUncertain` when the store broke off.
        """
        at, name, began = self.address, wanted.known_as, self._clock()
        if at is None or name in self._making:
            raise GraphRefused(f"the index {name} is being made: memory_schema tells when it is ready")
        self._making.add(name)
        self._refused.pop(name, None)
        self._told[name] = "being made"
        self._settled.clear()
        self._free.clear()
        work = asyncio.get_running_loop().run_in_executor(None, self._create, wanted, at)
        work.add_done_callback(partial(self._answered, name))
        await asyncio.wait([work], timeout=self._patience)
        if not work.done():
            self._late.add(name)
            return Made(1, self._note(name))
        try:
            made = work.result()
        except (OSError, HTTPException) as error:
            raise CommitUncertain(
                f"the memory broke off while the index was made ({error}): SHOW INDEXES tells whether it is there, "
                "once the memory is back"
            ) from error
        if made.added and wanted.options and self._is_kept:
            await within(self._patience - (self._clock() - began), self._settled)
        return replace(made, note=self._note(name))

    async def vector_options(self) -> dict[str, VectorOptions]:
        """Return dimensions and function of the vector indexes, by name. Raises `GraphUnavailable`."""
        return await asyncio.to_thread(vector_options, self._schema)

    def _create(self, wanted: IndexDefinition, at: Address) -> Made:
        """Make an index in a worker thread; a vector index stays written down until it is built, too."""
        if wanted.kind == "PLAIN":
            return create(wanted, at)
        if is_there(wanted.known_as, at):
            if wanted.once:
                return Made(0)
            raise GraphRefused(f"the index {wanted.known_as} already exists: DROP INDEX it first, or say IF NOT EXISTS")
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

    def _answered(self, name: str, work: "asyncio.Future[Made]") -> None:
        """Take note of the store's answer, whether the call still waits for it or not."""
        self._making.discard(name)
        if not self._making:
            self._free.set()
        self._told.pop(name, None)
        error = None if work.cancelled() else work.exception()
        if error is None:
            self._made.add(name)
        elif name in self._late:
            self._refused[name] = f"it was not made: {error}"
        self._late.discard(name)
        self._look()

    async def _settle(self) -> None:
        """Make anew what broke off, and warm what is cold; a store that goes away is looked at when it is back."""
        at, self._written = self.address, 0
        if at is None:
            return
        try:
            broken = await asyncio.to_thread(self._unfinished.read)
            for wanted in broken:
                if wanted.known_as not in self._making | self._made:
                    await self._make_anew(wanted, at)
            for index in await asyncio.to_thread(standings, at):
                if index.is_cold:
                    await self._warm(index, at)
            there = {index.name for index in await asyncio.to_thread(standings, at)}
            self._failed = {name: why for name, why in self._failed.items() if name in there}
            done = {wanted.known_as for wanted in broken} - self._making
            await asyncio.to_thread(self._unfinished.cross_out, done)
        except (OSError, HTTPException, ValueError, KeyError) as error:
            if self.address is at:  # else the store was stopped meanwhile, on purpose
                log.warning("graph_indexes_not_warmed", reason=str(error))

    async def _make_anew(self, wanted: IndexDefinition, at: Address) -> None:
        """Make an index whose making broke off: what the store has of it may lack anything."""
        self._free.clear()
        try:
            with self._telling(wanted.known_as, "being made anew"), contextlib.suppress(GraphRefused):
                await asyncio.to_thread(partial(create, wanted, at, anew=True))
                self._made.add(wanted.known_as)
        finally:
            self._free.set()

    async def _warm(self, index: Standing, at: Address) -> None:
        began = self._clock()
        self._failed.pop(index.name, None)
        with self._telling(index.name, f"being built over {index.vectors} vectors"):
            try:
                while not await asyncio.to_thread(warm, index, at):
                    if self._clock() - began > BUILD_SECONDS:
                        self._failed[index.name] = f"it was not built within {BUILD_SECONDS / 60:.0f} minutes"
                        break
            except GraphRefused as error:
                self._failed[index.name] = f"it could not be built: {error}"
        log.info("graph_index_warmed", vectors=index.vectors, seconds=round(self._clock() - began, 3))

    @contextlib.contextmanager
    def _telling(self, name: str, state: str) -> Iterator[None]:
        self._told[name] = state
        try:
            yield
        finally:
            self._told.pop(name, None)

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
