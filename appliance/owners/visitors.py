"""Visitors' graphs: each in a folder and a process of its own, which runs while it is used and a little longer."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct, field

from agent.errors import ToolFailed
from agent.tools.registry.sharing import NOT_SHARED
from agent.tools.tool import Tool
from appliance.wiring.memory.managed_graph import ManagedGraph
from audio.loops import running, until_set
from memory.errors import GraphUnavailable, MemoryFailure, StateUnusable
from memory.graph.embedded.store import EmbeddedStore
from memory.history.audit import AuditLog
from memory.history.erasure import erase_event
from memory.history.schedule import is_unsaved, save_if_due
from memory.identity import is_public_key
from memory.json_value import Json

RUNNING: Final = 2
"""Stores at a time, 36 MB of their own each when small. One event is in hand: the other store is of the one before."""

UNUSED_SECONDS: Final = 300.0
"""After which a store is stopped: a pause in a conversation is shorter."""

LOOK_SECONDS: Final = 30.0
"""Between two looks whether a store is unused."""

OPEN_SECONDS: Final = 8.0
"""That a call waits for a start (under one on an idle machine) or a repair, which goes on beside; with a statement's
own 10 s it stays within a tool's time."""

log = structlog.get_logger()


class _RunningGraph(Struct, eq=False):
    """One visitor's graph from its start to its stop."""

    graph: ManagedGraph
    store: EmbeddedStore
    used_at: float
    """Seconds of the clock, when it was given back last."""
    users: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Nobody uses it, and nobody is given it any more."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Nothing of it runs any more; another may be started in its folder."""

    async def run(self) -> None:
        """Keep it running until it is to stop, then save it if that is due, and close it."""
        try:
            async with running(self.graph.loops()):
                await self.stopping.wait()
                try:
                    await save_if_due(self.graph.writer, datetime.now(UTC))
                except (MemoryFailure, OSError) as error:
                    log.warning("snapshot_failed", reason=str(error))
        finally:
            await self.graph.close()

    async def stop(self) -> None:
        """Have it stop, and return when nothing of it runs any more."""
        self.stopping.set()
        await self.ended.wait()

    async def until_usable(self) -> None:
        """Return when it is up, and settled. Raises `GraphUnavailable` with the reason when it does not come up."""
        await until_set(self.graph.settled, OPEN_SECONDS)
        if not self.graph.settled.is_set():
            reason = self.store.reason or "it is still being put in order"
            raise GraphUnavailable(f"the memory is not available now: {reason}; try again in a moment")


class Visitors(Struct, eq=False):
    """Lends each visitor their own graph, at most so many of them, `RUNNING` at a time.

    Guarantees: a graph is reached by its owner's events alone, in a process and a folder that holds nobody else's;
    none is started before its first use; it is settled before that use; who wrote nothing leaves nothing.
    """

    folder: Path
    """Has one for each owner key."""
    make: Callable[[EmbeddedStore], ManagedGraph]
    """Manages what is in its store."""
    most: int
    """Of them there may be so many."""
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _group: asyncio.TaskGroup | None = None
    """That of `run`, which all graphs run in; None before and after."""
    _has_group: asyncio.Event = field(default_factory=asyncio.Event)
    _graphs: dict[str, _RunningGraph] = {}
    """Those that run, or are on their way up or down, by owner key; `RUNNING` at most."""
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever starts or stops one: what is in the folders and in `_graphs` does not change meanwhile."""
    _freed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody gives a graph back."""

    def keys(self) -> list[str]:
        """Return whose graphs are on the disk."""
        return keys_in(self.folder)

    def running(self) -> list[str]:
        """Return whose run now, or are on their way."""
        return sorted(self._graphs)

    def describe(self) -> dict[str, Json]:
        """Say how many there are, may be, and run; not whose. Blocking."""
        return {"graphs": len(self.keys()), "most": self.most, "running": len(self._graphs)}

    async def run(self) -> None:
        """Run the graphs that are asked for, and stop those that nobody uses, until cancelled."""
        await asyncio.to_thread(self._remove_unwritten)  # of those that a kill left before anything was written
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._has_group.set()
            try:
                while True:
                    await self.pause(LOOK_SECONDS)
                    for each in self._graphs.values():
                        if not each.users and self.clock() - each.used_at >= UNUSED_SECONDS:
                            each.stopping.set()
            finally:
                self._has_group.clear()
                self._group = None

    def may_have(self, owner_key: str) -> bool:
        """Whether a visitor has a graph, or there is room for theirs. Blocking."""
        there = self.keys()
        return is_public_key(owner_key) and self.most > 0 and (owner_key in there or len(there) < self.most)

    @asynccontextmanager
    async def lend(self, owner_key: str) -> AsyncIterator[Mapping[str, Tool]]:
        """Lend the tools over a visitor's own graph, by name.

        Raises `ToolFailed` where they can have none, and `GraphUnavailable`.
        """
        if not await asyncio.to_thread(self.may_have, owner_key):
            raise ToolFailed(NOT_SHARED)
        async with self.of(owner_key) as graph:
            yield {tool.name: tool for tool in graph.tools}

    @asynccontextmanager
    async def of(self, owner_key: str) -> AsyncIterator[ManagedGraph]:
        """Lend a visitor's graph, started where it does not run. Raises `GraphUnavailable`."""
        async with self._changing:
            running = self._graphs.get(owner_key)
            if running is not None and running.stopping.is_set():
                await running.ended.wait()
                running = None
            if running is None:
                await self._make_room()
                running = await self._start(owner_key)
            running.users += 1
        try:
            await running.until_usable()
            yield running.graph
        finally:
            running.users -= 1
            running.used_at = self.clock()
            self._freed.set()

    async def erase_event(self, event_id: str) -> int:
        """Take out of the graph that it wrote into what an event wrote; return how many statements it were.

        Raises `MemoryFailure`. An audit log that cannot be read is told and passed over: it is another's, most likely.
        """
        erased = 0
        for owner_key in await asyncio.to_thread(self.keys):
            if await asyncio.to_thread(self._wrote, owner_key, event_id):
                async with self.of(owner_key) as graph:
                    erased += await erase_event(graph.writer, graph.store, event_id)
        return erased

    async def remove(self, owner_key: str) -> bool:
        """Take away a visitor's whole graph, stopped first if it runs; False where there is none. Raises OSError."""
        async with self._changing:
            if running := self._graphs.get(owner_key):
                await running.stop()
            if owner_key not in await asyncio.to_thread(self.keys):
                return False
            await asyncio.to_thread(shutil.rmtree, self.folder / owner_key)
            return True

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """Let nobody write into any of these graphs; their snapshots and audit logs then hold all that is in them.

        One that does not come up is left as it is, which is told: its audit log has every write even so.
        """
        for owner_key in await asyncio.to_thread(self.keys):
            await self._save(owner_key)
        async with self._changing, AsyncExitStack() as stack:
            for each in [*self._graphs.values()]:
                if each.stopping.is_set():
                    await each.ended.wait()
                    continue
                try:
                    await stack.enter_async_context(each.graph.writer.exclusively())
                except MemoryFailure as error:
                    log.warning("visitor_graph_not_saved", reason=str(error))
            yield

    async def _save(self, owner_key: str) -> None:
        try:
            if await asyncio.to_thread(lambda: is_unsaved(self._audit(owner_key).records())):
                async with self.of(owner_key) as graph:
                    await graph.writer.take_snapshot("for a backup")
        except (MemoryFailure, OSError) as error:
            log.warning("visitor_graph_not_saved", reason=str(error))

    def _audit(self, owner_key: str) -> AuditLog:
        return AuditLog(self.folder / owner_key / "audit")

    def _wrote(self, owner_key: str, event_id: str) -> bool:
        try:
            return any(record.facts.get("event_id") == event_id for record in self._audit(owner_key).records())
        except (MemoryFailure, OSError) as error:
            log.error("visitor_graph_not_looked_into", reason=str(error))  # noqa: TRY400  a sentence, not a bug
            return False

    async def _make_room(self) -> None:
        """Stop the one unused for longest where as many run as may, once there is one."""
        while len(self._graphs) >= RUNNING:
            self._freed.clear()
            if unused := [each for each in self._graphs.values() if not each.users]:
                await min(unused, key=lambda each: each.used_at).stop()
            else:
                await self._freed.wait()

    async def _start(self, owner_key: str) -> _RunningGraph:
        """Start a graph. Raises `StateUnusable` where the folder takes nothing, `GraphUnavailable` without `run`."""
        await until_set(self._has_group, OPEN_SECONDS)
        if self._group is None:
            raise GraphUnavailable("the memory is not available now: it is not running")
        folder = self.folder / owner_key
        try:
            is_new = await asyncio.to_thread(self._make, folder)
        except OSError as error:
            raise StateUnusable(f"{folder} cannot be made ({error.strerror}): make room") from error
        store = EmbeddedStore(folder / "graph")
        running = self._graphs[owner_key] = _RunningGraph(self.make(store), store, self.clock())
        self._group.create_task(self._run(owner_key, running, is_new=is_new), name="graph: a visitor's")
        return running

    def _make(self, folder: Path) -> bool:
        """Make a visitor's folder; return whether it was not there. Blocking. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not folder.exists()
        folder.mkdir(mode=0o700, exist_ok=True)
        return is_new

    async def _run(self, owner_key: str, running: _RunningGraph, *, is_new: bool) -> None:
        try:
            await running.run()
        finally:
            if is_new:
                await asyncio.to_thread(self._remove_unwritten, owner_key)
            del self._graphs[owner_key]
            running.ended.set()

    def _remove_unwritten(self, *owner_keys: str) -> None:
        """Remove the folders of those who wrote nothing, of all where nobody is named. Blocking.

        Nothing was written where the audit log was never begun; one that is empty now may have been. What the disk
        refuses is told, and looked at again by the next start.
        """
        try:
            for folder in [self.folder / owner_key for owner_key in owner_keys or self.keys()]:
                if not any(file for name in ("audit", "snapshots") for file in (folder / name).glob("*")):
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            log.warning("visitor_graph_not_removed", reason=str(error))


def keys_in(folder: Path) -> list[str]:
    """Return whose graphs are in this folder. Blocking."""
    return sorted(one.name for one in folder.iterdir() if is_public_key(one.name)) if folder.is_dir() else []
