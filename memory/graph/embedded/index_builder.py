"""Builds the indexes of the embedded store: a small one at once, a large one when it is quiet, a torn one again.

What is wanted and not ready yet stands in a file beside the graph. One loop makes what is in it, and warms each vector
index by a query, so that no question has to build it. After a crash it looks at the file and at the store, and goes on.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memory.clock import within
from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.cypher import Statement
from memory.graph.dump.definitions import (
    IndexDefinition,
    WantedIndexes,
    as_cypher,
    dropped_index,
    names_index,
    queried_index,
)
from memory.graph.embedded.folder import schema_of
from memory.graph.embedded.http_api import Address
from memory.graph.embedded.indexes import (
    BUILD_SECONDS,
    VectorIndex,
    create,
    look,
    made_at_once,
    vector_indexes,
    vector_options,
    warm,
)
from memory.graph.store import Made, StoreIndexes, VectorOptions

PATIENCE: Final = 5.0
"""Seconds that a call waits for an index: one that makes it goes on without it then, one that asks it is refused."""

MANY_CHANGES: Final = 500
"""Nodes, labels and properties written since the last look after which a vector index may have grown cold."""

MANY_NODES: Final = 10_000
"""Of the label of an index: over fewer the store makes it in about a second."""

QUIET_SECONDS: Final = 20.0
"""Without a statement, after which the store may be kept from answering; no statement runs so long."""

LONGEST_WAIT: Final = 600.0
"""Seconds that an index waits for the quiet; then it is made in any case."""

log = structlog.get_logger()


class Stage(StrEnum):
    """Of an index that is not ready; one that is ready, or unknown, has none."""

    WAITING = "waits to be made in a quiet moment, because the memory answers nobody meanwhile"
    MAKING = "being made"
    BUILDING = "being built"
    FAILED = "it could not be made"
    """Told until it is wanted anew or dropped, or the store starts anew."""


class _Progress(Struct, frozen=True):
    stage: Stage
    detail: str
    since: float
    """Seconds of the clock."""


class IndexBuilder(StoreIndexes):
    """The indexes of one store.

    Guarantees while `run` runs: an index that was accepted is made and built, also when the store or this process dies
    in between; no question builds a vector index over many vectors itself; one over `MANY_NODES` or more is made when
    no statement came for `QUIET_SECONDS`, at the latest after `LONGEST_WAIT`. Without `run` an index is made at once,
    and the first question builds it.
    """

    def __init__(self, folder: Path, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic) -> None:
        """`folder` is the store's; `patience` and the clock are in seconds."""
        self._patience = patience
        self._clock = clock
        self._schema = schema_of(folder)
        self._wanted = WantedIndexes(folder / "indexes-unfinished.json")
        self._progress: dict[str, _Progress] = {}
        self._answers: dict[str, asyncio.Future[Made | GraphRefused]] = {}
        """What came of those that were wanted since the store started, for the calls that wait for it."""
        self._is_running = False
        self.address: Address | None = None
        """Where the store's HTTP API is; None while it is down."""
        self._asked_at = clock()
        self._changes = 0
        """Nodes, labels and properties written since the last look."""
        self._stale = asyncio.Event()
        """The indexes are to be looked at."""
        self._settled = asyncio.Event()
        """They were, and no vector index is cold."""
        self._settled.set()
        self._free = asyncio.Event()
        """No index is being made: while one is, the store answers nobody."""
        self._free.set()

    async def run(self) -> None:
        """Make, build and warm what needs it, one after another, until cancelled. Raises nothing else."""
        self._is_running = True
        try:
            while True:
                await self._until_due()
                self._stale.clear()
                await self._settle()
                if not self._stale.is_set():
                    self._settled.set()
        finally:
            self._is_running = False
            self._settled.set()

    def started(self, at: Address) -> None:
        """Take note that the store has started: what was not on the disk is lost."""
        self.stopped()
        self.address = at
        self._look()

    def stopped(self) -> None:
        """Take note that the store is gone, and what was under way with it."""
        self.address = None
        self._answers.clear()
        self._leave(self._progress)

    def wrote(self, counters: Mapping[str, int]) -> None:
        """Take note of what a write did."""
        self._changes += counters["nodesCreated"] + counters["propertiesSet"] + counters["labelsAdded"]
        if self._changes >= MANY_CHANGES:
            self._look()

    @property
    def states(self) -> dict[str, str]:
        """What is to be said of those indexes that are not ready, by name."""
        return {name: f"{at.stage}{at.detail}" for name, at in self._progress.items()}

    @property
    def is_making(self) -> bool:
        """Whether the store makes an index now, and answers nobody until it is made."""
        return not self._free.is_set()

    async def ready_for(self, statement: Statement, params: Mapping[str, object]) -> None:
        """Wait until the store can answer a statement, and does not have to build a vector index for it.

        Raises `GraphUnavailable` when the store makes an index for `PATIENCE` already, and `GraphRefused` when an index
        that is asked is not ready within that time, or cannot be.
        """
        await self._until_free()
        dropped = dropped_index(statement)
        if dropped is not None:
            # Should it stay after all it is as good: it was made, and the loop builds what is cold.
            await self._forget(dropped)
        kind = queried_index(statement) if self._is_running else None
        if kind is None:
            return
        is_ready = kind == "FULLTEXT" or await within(self._patience, self._settled)
        if not is_ready or any(names_index(name, statement, params) for name in self._progress):
            raise GraphRefused(
                f"the indexes are not ready ({self._all_told()}): memory_schema tells when they are; "
                "compare with vector.similarity.cosine, or with CONTAINS, meanwhile"
            )

    async def make(self, wanted: IndexDefinition) -> Made:
        """Make an index, durably; one that takes longer than `PATIENCE` is accepted, and made without the call.

        Raises `GraphRefused`, `GraphUnavailable` before anything happened, `CommitUncertain` when nobody knows.
        """
        await self._until_free()
        name, began, at = wanted.known_as, self._clock(), self.address
        if at is None:
            raise GraphUnavailable("the memory is not available now: try again later")
        try:
            if self.is_waiting(name) or (await asyncio.to_thread(look, wanted, at))[0]:
                return _there(wanted)
            if not self._is_running:
                return await made_at_once(wanted, at)
            answer = self._answers[name] = asyncio.get_running_loop().create_future()
            self._enter(name, Stage.WAITING)
            await asyncio.to_thread(self._wanted.add, wanted)
        except (OSError, HTTPException) as error:
            if self._answers.pop(name, None):
                self._leave([name])
            raise GraphUnavailable(f"the memory is not available now: {error}") from error
        self._look()
        await asyncio.wait([answer], timeout=self._patience)
        if isinstance(made := answer.result() if answer.done() else Made(1), GraphRefused):
            self._leave([name])  # it is told here
            raise made
        if self._stage(name) is Stage.BUILDING:
            await within(self._patience - (self._clock() - began), self._settled)
        state = self.states.get(name) or ("" if answer.done() else Stage.WAITING)
        note = f"the index {name} is accepted, {state}; memory_schema tells when it is ready" if state else ""
        return replace(made, note=note)

    @contextmanager
    def making(self, name: str) -> Iterator[None]:
        """Let whoever asks meanwhile know that an index is made, which is not of those kept here."""
        self._enter(name, Stage.MAKING)
        try:
            yield
        finally:
            self._leave([name])

    def is_waiting(self, name: str) -> bool:
        """Whether an index is wanted, and waits to be made."""
        return self._stage(name) is Stage.WAITING

    async def drop_waiting(self, name: str) -> Made:
        """Have an index that waits made no more. Raises `GraphUnavailable`, `GraphRefused` when it waits no more."""
        if not self.is_waiting(name):
            raise GraphRefused(f"the index {name} is being made by now: DROP INDEX it again when it is")
        await self._forget(name)
        return Made(0, removed=1)

    async def unmade(self) -> dict[str, str]:
        """Return the statements of those that were accepted and may not be made yet, by name."""
        return {each.known_as: as_cypher(each) for each in await asyncio.to_thread(self._wanted.read)}

    async def vector_options(self) -> dict[str, VectorOptions]:
        """Return dimensions and function of the vector indexes, by name. Raises `GraphUnavailable`."""
        return await asyncio.to_thread(vector_options, self._schema)

    async def _settle(self) -> None:
        """Make what is wanted, and warm what is cold; a store that goes away is looked at when it is back."""
        at, self._changes = self.address, 0
        if at is None:
            self._leave(self._progress)  # the next start looks at the file
            return
        try:
            await self._make_all(at)
            await self._warm_all(at)
        except (OSError, HTTPException, ValueError, KeyError) as error:
            self._leave(self._in(Stage.WAITING, Stage.MAKING, Stage.BUILDING))
            if self.address is at:  # else the store was stopped meanwhile, on purpose
                log.warning("graph_indexes_not_warmed", reason=str(error))

    async def _make_all(self, at: Address) -> None:
        """Make those that are wanted and may be made now, one after another. Raises OSError and HTTPException."""
        wanted = await asyncio.to_thread(self._wanted.read)
        for each in wanted:
            if self._stage(each.known_as) is not Stage.BUILDING:
                self._enter(each.known_as, Stage.WAITING)
        for each in wanted:
            await self._make_if_due(each, at)

    async def _make_if_due(self, wanted: IndexDefinition, at: Address) -> None:
        """Make one that waits; whoever drops it meanwhile has it wait no more. Raises OSError and HTTPException."""
        name = wanted.known_as
        _, nodes = await asyncio.to_thread(look, wanted, at) if self.is_waiting(name) else (True, 0)
        if not self.is_waiting(name):
            return
        if nodes >= MANY_NODES and self._quiet_in() > 0:
            self._enter(name, Stage.WAITING, f" over {nodes} nodes")
            self._answer(name, Made(1))
            return
        self._enter(name, Stage.MAKING, f" over {nodes} nodes" if nodes else "")
        # One of before the store started was accepted then, and what there is of it may lack anything.
        wanted = wanted if name in self._answers else replace(wanted, once=True)
        try:
            made = await asyncio.to_thread(partial(create, wanted, at, anew=True))
        except GraphRefused as error:
            self._enter(name, Stage.FAILED, f": {error}")
            await asyncio.to_thread(self._wanted.remove, [name])
            self._answer(name, error)
            return
        if wanted.kind == "VECTOR":
            self._enter(name, Stage.BUILDING)
        else:
            await asyncio.to_thread(self._wanted.remove, [name])
            self._leave([name])
        self._answer(name, made)

    def _answer(self, name: str, made: Made | GraphRefused) -> None:
        answer = self._answers.pop(name, None)
        if answer is not None and not answer.done():
            answer.set_result(made)

    async def _warm_all(self, at: Address) -> None:
        """Build the vector indexes that need it; all that were made by now are ready then, or FAILED."""
        made = self._in(Stage.BUILDING)
        for index in [each for each in await asyncio.to_thread(vector_indexes, at) if each.is_cold]:
            await self._warm(index, at)
        await asyncio.to_thread(self._wanted.remove, made)
        self._leave([name for name in made if self._stage(name) is Stage.BUILDING])

    async def _warm(self, index: VectorIndex, at: Address) -> None:
        """Build one; between two questions those are made that were wanted meanwhile."""
        began = self._clock()
        self._enter(index.name, Stage.BUILDING, f" over {index.vectors} vectors")
        try:
            while not await asyncio.to_thread(warm, index, at):
                if self._clock() - began > BUILD_SECONDS:
                    raise GraphRefused(f"not within {BUILD_SECONDS / 60:.0f} minutes")  # noqa: TRY301
                await self._make_all(at)
        except GraphRefused as error:
            self._enter(index.name, Stage.FAILED, f": {error}")
        else:
            self._leave([index.name])
        log.info("graph_index_warmed", vectors=index.vectors, seconds=round(self._clock() - began, 3))

    async def _until_due(self) -> None:
        """Return when the indexes are to be looked at, or what waits may be made."""
        while self._in(Stage.WAITING):
            left = self._quiet_in()
            if left <= 0 or await within(left, self._stale):
                return
        await self._stale.wait()

    async def _until_free(self) -> None:
        """Wait until no index is being made, at most `PATIENCE` from when its making began; note that somebody asks."""
        self._asked_at = self._clock()
        since = self._since(Stage.MAKING)
        if since is not None and not await within(self._patience - (self._clock() - since), self._free):
            raise GraphUnavailable(
                f"the memory makes an index and answers nobody until it is made ({self._all_told()}): try again later"
            )

    async def _forget(self, name: str) -> None:
        """Have one be made no more, by the next start neither. Raises `GraphUnavailable`."""
        self._leave([name])
        try:
            await asyncio.to_thread(self._wanted.remove, [name])
        except OSError as error:
            raise GraphUnavailable(f"the memory is not available now: {error}") from error

    def _quiet_in(self) -> float:
        """Return the seconds until an index may be made that waits; none or less: now."""
        now, since = self._clock(), self._since(Stage.WAITING)
        left = self._asked_at + QUIET_SECONDS - now
        return left if since is None else min(left, since + LONGEST_WAIT - now)

    def _stage(self, name: str) -> Stage | None:
        return self._progress[name].stage if name in self._progress else None

    def _in(self, *stages: Stage) -> list[str]:
        return [name for name, at in self._progress.items() if at.stage in stages]

    def _since(self, stage: Stage) -> float | None:
        return min((at.since for at in self._progress.values() if at.stage is stage), default=None)

    def _enter(self, name: str, stage: Stage, detail: str = "") -> None:
        """Let an index be in a stage; one that is in it already is in it since before."""
        before = self._progress.get(name)
        since = before.since if before and before.stage is stage else self._clock()
        self._progress[name] = _Progress(stage, detail, since)
        self._see_free()

    def _leave(self, names: Iterable[str]) -> None:
        """Let these be ready, or unknown."""
        for name in list(names):
            self._progress.pop(name, None)
        self._see_free()

    def _see_free(self) -> None:
        (self._free.clear if self._in(Stage.MAKING) else self._free.set)()

    def _look(self) -> None:
        """Have the indexes looked at, and questions of them wait for it."""
        self._settled.clear()
        self._stale.set()

    def _all_told(self) -> str:
        return "; ".join(f"{name}: {state}" for name, state in self.states.items()) or "they are being read"


def _there(wanted: IndexDefinition) -> Made:
    """Return what it means that an index is there, or waits. Raises `GraphRefused`."""
    if wanted.once:
        return Made(0)
    raise GraphRefused(f"the index {wanted.known_as} already exists: DROP INDEX it first, or say IF NOT EXISTS")
