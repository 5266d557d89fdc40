"""The embedded store: a child process of ours, started, supervised, restarted and stopped with us."""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from enum import StrEnum
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Final, Self

import structlog
from msgspec.structs import replace

from memory.awaited import Awaited
from memory.backoff import Backoff
from memory.clock import within
from memory.durable import sync_folder
from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.cypher import Statement
from memory.graph.dump.definitions import IndexDefinition, create_lookup, definition, dropped_index
from memory.graph.embedded.folder import Unstartable, note_lookups
from memory.graph.embedded.index_builder import IndexBuilder
from memory.graph.embedded.indexes import create, free_name_at
from memory.graph.embedded.launch import RunningStore, launch
from memory.graph.embedded.refusals import explained
from memory.graph.embedded.server import Options
from memory.graph.store import EMBEDDED, Dialect, Endpoint, Made, Refused, Store

START_SECONDS: Final = 45.0
"""It takes under one on an idle machine; a store with thousands of labels on an SD card takes more, and its files are
read first (`checksums.READ_SECONDS`)."""

STOP_SECONDS: Final = 1.2
"""It stops in hundredths of a second and writes checksums (`checksums.WRITE_SECONDS`); past this it is killed, which
loses nothing acknowledged."""

PATIENCE: Final = 2.0
"""Seconds that a statement waits for a store that is just starting."""

FIRST_DELAY: Final = 0.2
LONGEST_DELAY: Final = 30.0
"""Seconds before a restart; doubled each time."""

STEADY_SECONDS: Final = 60.0
"""A store that lived so long has recovered: its next restart is quick again."""

LEAST_HEAP: Final = 256
"""Megabytes: a vector index over 50,000 vectors of 384 numbers was built in so many, as quickly as in 768."""

MOST_HEAP: Final = 512
"""Megabytes: the store frees late, so that in time it uses all that it is allowed."""

SHARE: Final = 16
"""The store has a sixteenth of the machine; speech needs the rest."""

log = structlog.get_logger()


class State(StrEnum):
    """Whether statements can be run now."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    DOWN = "down"
    """Failed or ended; tried again while `run` is running."""


class EmbeddedStore(Awaited[State], Store):
    """ArcadeDB native in a child process, serving Bolt to this process alone.

    Guarantees: what was committed survives the death of the child and of this process at any moment; the child never
    outlives this process; nobody without its passwords is served; one process at a time has the folder. Run it
    supervised by `run`, or bare by `async with`.
    """

    dialect: Dialect = EMBEDDED
    sends_to = ()

    def __init__(
        self,
        folder: Path,
        bolt_port: int = 0,
        *,
        heap_megabytes: int = 0,
        statement_seconds: float = 10.0,
        start_seconds: float = START_SECONDS,
        indexes: IndexBuilder | None = None,
    ) -> None:
        """Keep a graph in a folder, in a process with so many megabytes of heap; 0 is by the machine's size.

        A process that does not serve within `start_seconds` is ended.
        """
        super().__init__(State.STOPPED, "it was not started")
        self.folder = folder
        self.bolt_port = bolt_port
        """The port asked for; 0 for any free one, another at each start."""
        self.is_damaged = False
        """Whether what is in the folder could not be opened at the last start: only another folder helps."""
        self.may_open = False
        """Whether it might open all the same: the files are not as they were left, and that is all that is known."""
        self._heap_megabytes = heap_megabytes or usual_heap(
            os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
        )
        self._statement_seconds = statement_seconds
        self._start_seconds = start_seconds
        self._serving: RunningStore | None = None
        self._as_it_is = False
        self.indexes: IndexBuilder = indexes or IndexBuilder(folder)
        self._is_supervised = False
        self._hurry = asyncio.Event()
        """Somebody waits for the next start: `run` does not pause before it."""

    @property
    def next_folder(self) -> Path:
        """A folder that appears here, by a rename, takes the place of the present one at the next start."""
        return self.folder.with_name(f"{self.folder.name}.next")

    @property
    def folder_before(self) -> Path:
        """Where the last folder is kept that another one took the place of."""
        return self.folder.with_name(f"{self.folder.name}.before")

    @property
    def pid(self) -> int | None:
        """Process id of the child while it is ready."""
        return self._serving.child.pid if self._serving and self.state is State.READY else None

    async def __aenter__(self) -> Self:
        """Start it; raises `GraphUnavailable` with the reason when it does not come up."""
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop it."""
        await self.stop()

    async def run(self) -> None:
        """Keep it running until cancelled: start, watch, restart with growing delays, stop. Raises nothing else.

        Its indexes are built and warmed by a loop of their own (`IndexBuilder.run`).
        """
        backoff = Backoff(FIRST_DELAY, LONGEST_DELAY, steady=STEADY_SECONDS)
        self._is_supervised = True
        try:
            while True:
                await self._live_once()
                await within(backoff.failed(), self._hurry)
                self._hurry.clear()
        finally:
            self._is_supervised = False
            await self.stop()

    async def restart(self) -> None:
        """Stop the child and serve again, from `next_folder` if there is one.

        Raises `GraphUnavailable` with the reason when it does not come up.
        """
        if not self._is_supervised:
            await self.stop()
            await self.start()
            return
        self._entered[State.READY].clear()
        if self._serving is not None:
            await self._serving.child.stop(STOP_SECONDS)
        self._hurry.set()
        if not await self.until(State.READY, self._start_seconds):
            raise GraphUnavailable(f"the memory is not available now: {self.reason}")

    async def make_lookups(self, lookups: Iterable[tuple[str, str]]) -> None:
        """Make plain indexes over properties, by label and key, that hold texts; nobody may write meanwhile.

        The engine gives such a property a type, to which it would convert what is written later; the start that ends
        this takes the type back, as does any other after a kill in between. Raises `GraphRefused`, `GraphUnavailable`.
        """
        wanted = [*lookups]
        try:
            await asyncio.to_thread(note_lookups, self.folder, wanted)
        except OSError as error:
            raise GraphUnavailable(f"{self.folder} takes nothing ({error.strerror}): make room") from error
        try:
            for lookup in wanted:
                await self._make_lookup(*lookup)
        except (GraphRefused, GraphUnavailable):
            await self.restart()
            raise
        await self.restart()  # whoever is cancelled before goes down with the store

    async def start(self) -> None:
        """Start the child and wait until it serves. Raises `GraphUnavailable` with the reason when it does not."""
        self._enter(State.STARTING, "it is starting")
        began = time.monotonic()
        try:
            folder = await asyncio.to_thread(self._put_in_place)
        except OSError as error:
            self.is_damaged = False
            raise self._failure(
                f"{self.next_folder} cannot take the place of {self.folder} ({error.strerror})"
            ) from error
        options = Options(self.bolt_port, self._heap_megabytes, self._statement_seconds, as_it_is=self._as_it_is)
        try:
            self._serving = await launch(folder, options, self._start_seconds)
        except Unstartable as error:
            self.is_damaged, self.may_open = error.is_damaged, error.may_open
            raise self._failure(str(error)) from error
        self.is_damaged = self.may_open = self._as_it_is = False
        self.indexes.started(self._serving.address)
        self._enter(State.READY, "")
        log.info("graph_store_started", pid=self.pid, seconds=round(time.monotonic() - began, 3))

    def waits_for(self, reason: str) -> None:
        """Have it say, while it is not started, what keeps it from that."""
        self._enter(State.STOPPED, reason)

    def take_as_it_is(self) -> None:
        """Have the next start open the files without a look at whether they are what they were."""
        self._as_it_is = True

    async def stop(self) -> None:
        """Stop the child and wait for its end; it has nothing to lose by being killed if it does not stop."""
        serving, self._serving = self._serving, None
        self.indexes.stopped()
        if serving is not None:
            await serving.child.stop(STOP_SECONDS)
        self._enter(State.STOPPED, "it was stopped")

    async def endpoint(self) -> Endpoint:
        """Return where it serves since its last start; waits `PATIENCE` for one under way.

        Raises `GraphUnavailable` with the reason when it is not up.
        """
        if self.state is State.STARTING:
            await self.until(State.READY, PATIENCE)
        if self._serving is not None and self._serving.child.ended.is_set():
            self._down(f"its process {self._serving.child.end}")
        if self._serving is None:
            raise GraphUnavailable(f"the memory is not available now: {self.reason}")
        return self._serving.endpoint

    async def overran(self) -> None:
        """Kill the child: a statement went on past the store's own limit and would hold a core for ever.

        Not while it makes an index: then it answers late, and would have to begin anew.
        """
        if self._serving is not None and not self.indexes.is_making:
            log.warning("graph_store_killed", reason="a statement did not end at its time limit")
            child = self._serving.child
            child.kill()
            await child.ended.wait()

    async def frees_name(self, name: str) -> bool:
        """Take an empty label out of the way of a relationship type of its name, or the reverse."""
        at = self.indexes.address
        with suppress(OSError, HTTPException):
            return at is not None and await asyncio.to_thread(free_name_at, name, at)
        return False

    async def explained(self, refused: Refused) -> GraphRefused:
        """Return what was wrong: some of the store's messages over Bolt leave it out, those over HTTP do not."""
        if self._serving is None or not refused.message.startswith(self.dialect.unexplained):
            return GraphRefused(refused.message)
        return await explained(refused, self._serving.address)

    def shim(self, statement: Statement) -> Callable[[], Awaitable[Made]] | None:
        """Return what makes an index, or drops one that waits to be made; else None.

        Raises `GraphRefused` for an index that cannot be made here.
        """
        dropped = dropped_index(statement)
        if dropped is not None and self.indexes.is_waiting(dropped):
            return partial(self.indexes.drop_waiting, dropped)
        wanted = definition(statement)
        return None if wanted is None else partial(self._make, wanted)

    async def _make(self, wanted: IndexDefinition) -> Made:
        await self.endpoint()
        return await self.indexes.make(wanted)

    async def _make_lookup(self, label: str, key: str) -> None:
        wanted, at = definition(Statement.parse(create_lookup(label, key))), self.indexes.address
        if wanted is None or at is None:
            raise GraphUnavailable("the memory is not available now: try again later")
        with self.indexes.making(wanted.known_as):
            try:
                await asyncio.to_thread(create, replace(wanted, once=True), at)
            except (OSError, HTTPException) as error:
                raise GraphUnavailable(f"the memory broke off while an index was made: {error}") from error

    async def _live_once(self) -> None:
        """Start the child and return when it has ended or did not start."""
        try:
            await self.start()
        except GraphUnavailable as error:
            log.warning("graph_store_failed", reason=str(error))
            return
        if self._serving is None:
            return
        child = self._serving.child
        await child.ended.wait()
        self._down(f"its process {child.end} and is being restarted")
        tell = log.info if child.was_stopped else log.error  # stopped by `restart`
        tell("graph_store_ended", end=child.end, last_words=child.last_words)

    def _put_in_place(self) -> Path:
        """Let a folder that waits take the place of this one; a crash in between is finished at the next start.

        Returns where the folder is, links followed. Blocking.
        """
        if self.next_folder.is_dir():
            if self.folder.is_dir():
                shutil.rmtree(self.folder_before, ignore_errors=True)
                self.folder.rename(self.folder_before)
            self.next_folder.rename(self.folder)
            sync_folder(self.folder.parent)  # the audit log is about to say so
            log.warning("graph_store_replaced", kept=str(self.folder_before))
        return self.folder.resolve()

    def _failure(self, reason: str) -> GraphUnavailable:
        self._down(reason)
        return GraphUnavailable(f"the memory is not available now: {reason}")

    def _down(self, reason: str) -> None:
        self._serving = None
        self.indexes.stopped()
        self._enter(State.DOWN, reason)


def usual_heap(machine: int) -> int:
    """Return the megabytes of heap for a machine of so many."""
    return min(max(machine // SHARE, LEAST_HEAP), MOST_HEAP)
