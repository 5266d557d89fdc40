"""Graphs of visitors: each in a folder and a process of its own, which runs while it is used and a little longer."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import structlog

from agent.errors import ToolFailed
from agent.tools.sharing import NOT_SHARED
from agent.tools.tool import Tool
from appliance.owners.visitor_life import OPEN_SECONDS, VisitorLife
from appliance.wiring.managed_graph import ManagedGraph
from memory.errors import GraphUnavailable, MemoryFailure, StateUnusable
from memory.graph.embedded.store import EmbeddedStore
from memory.history.audit import AuditLog
from memory.history.erasure import erase_event
from memory.history.schedule import is_unsaved
from memory.identity import is_public_key
from memory.json_value import Json

RUNNING: Final = 2
"""Stores at a time, 36 MB of their own each when small. One event is in hand: the other store is of the one before."""

UNUSED_SECONDS: Final = 300.0
"""After which a store is stopped: a pause in a conversation is shorter."""

LOOK_SECONDS: Final = 30.0
"""Between two looks whether a store is unused."""

log = structlog.get_logger()


class Visitors:
    """Lends each visitor their own graph, at most so many of them, `RUNNING` at a time.

    Guarantees: a graph is reached by its owner's events alone, in a process and a folder that holds nobody else's;
    none is started before its first use; it is settled before that use; who wrote nothing leaves nothing.
    """

    def __init__(
        self,
        folder: Path,
        make: Callable[[EmbeddedStore], ManagedGraph],
        most: int,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`folder` has one for each owner key; `make` keeps what is in its store; `most` of them there may be."""
        self.folder = folder
        self._make = make
        self._most = most
        self._clock = clock
        self._pause = pause
        self._group: asyncio.TaskGroup | None = None
        """That of `run`, which all lives are in; None before and after."""
        self._is_hosting = asyncio.Event()
        """Set while there is that group."""
        self._lives: dict[str, VisitorLife] = {}
        """Those that run, or are on their way up or down, by owner key; `RUNNING` at most."""
        self._changing = asyncio.Lock()
        """Held by whoever begins or ends a life: what is in the folders and in `_lives` does not change meanwhile."""
        self._freed = asyncio.Event()
        """Set when somebody gives a graph back."""

    def keys(self) -> list[str]:
        """Return whose graphs are on the disk."""
        return keys_in(self.folder)

    def running(self) -> list[str]:
        """Return whose run now, or are on their way."""
        return sorted(self._lives)

    def describe(self) -> Json:
        """Say how many there are, may be, and run; not whose."""
        return {"graphs": len(self.keys()), "most": self._most, "running": len(self._lives)}

    async def run(self) -> None:
        """Host the graphs that are asked for, and stop those that nobody uses, until cancelled."""
        await asyncio.to_thread(self._leave_nothing)  # of those that a kill left before anything was written
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._is_hosting.set()
            try:
                while True:
                    await self._pause(LOOK_SECONDS)
                    for life in self._lives.values():
                        if life.is_unused_for(UNUSED_SECONDS, self._clock()):
                            life.leave()
            finally:
                self._is_hosting.clear()
                self._group = None

    @asynccontextmanager
    async def lend(self, owner_key: str) -> AsyncIterator[Mapping[str, Tool]]:
        """Lend the tools over a visitor's own graph, by name. Raises `ToolFailed` where they can have none."""
        if not self._may_have(owner_key):
            raise ToolFailed(NOT_SHARED)
        try:
            async with self.of(owner_key) as kept:
                yield {tool.name: tool for tool in kept.tools}
        except MemoryFailure as error:
            raise ToolFailed(str(error)) from error

    @asynccontextmanager
    async def of(self, owner_key: str) -> AsyncIterator[ManagedGraph]:
        """Lend a visitor's graph, started where it does not run. Raises `GraphUnavailable`."""
        life = await self._taken(owner_key)
        try:
            await life.up()
            yield life.kept
        finally:
            life.give_back(self._clock())
            self._freed.set()

    async def erase_event(self, event_id: str) -> int:
        """Take out of the graph that it wrote into what an event wrote; return how many statements it were.

        Raises `MemoryFailure`. An audit log that cannot be read is told and passed over: it is another's, most likely.
        """
        erased = 0
        for owner_key in await asyncio.to_thread(self.keys):
            if await asyncio.to_thread(self._wrote, owner_key, event_id):
                async with self.of(owner_key) as kept:
                    erased += await erase_event(kept.writer, kept.store, event_id)
        return erased

    async def remove(self, owner_key: str) -> bool:
        """Take away a visitor's whole graph, stopped first if it runs; False where there is none. Raises OSError."""
        async with self._changing:
            if life := self._lives.get(owner_key):
                life.leave()
                await life.until_ended()
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
            for life in [*self._lives.values()]:
                if life.is_leaving:
                    await life.until_ended()
                    continue
                try:
                    await stack.enter_async_context(life.kept.writer.exclusively())
                except MemoryFailure as error:
                    log.warning("visitor_graph_not_saved", reason=str(error))
            yield

    async def _save(self, owner_key: str) -> None:
        try:
            if await asyncio.to_thread(lambda: is_unsaved(AuditLog(self.folder / owner_key / "audit").records())):
                async with self.of(owner_key) as kept:
                    await kept.writer.take_snapshot("for a backup")
        except (MemoryFailure, OSError) as error:
            log.warning("visitor_graph_not_saved", reason=str(error))

    def _may_have(self, owner_key: str) -> bool:
        there = self.keys()
        return is_public_key(owner_key) and self._most > 0 and (owner_key in there or len(there) < self._most)

    def _wrote(self, owner_key: str, event_id: str) -> bool:
        try:
            records = AuditLog(self.folder / owner_key / "audit").records()
            return any(record.facts.get("event_id") == event_id for record in records)
        except (MemoryFailure, OSError) as error:
            log.error("visitor_graph_not_looked_into", reason=str(error))  # noqa: TRY400  a sentence, not a bug
            return False

    async def _taken(self, owner_key: str) -> VisitorLife:
        """Return the life of a graph, counted as used; begun, and the one unused for longest ended, where need be."""
        async with self._changing:
            group = await self._host()
            life = self._lives.get(owner_key)
            if life is not None and life.is_leaving:
                await life.until_ended()
                life = None
            if life is None:
                await self._make_room()
                life = self._began(owner_key, group)
            life.take()
            return life

    async def _host(self) -> asyncio.TaskGroup:
        """Return the group of `run`, which may be about to begin. Raises `GraphUnavailable`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(OPEN_SECONDS):
                await self._is_hosting.wait()
        if self._group is None:
            raise GraphUnavailable("the memory is not available now: it is not running")
        return self._group

    async def _make_room(self) -> None:
        while len(self._lives) >= RUNNING:
            unused = [life for life in self._lives.values() if not life.users]
            if unused:
                oldest = min(unused, key=lambda life: life.used_at)
                oldest.leave()
                await oldest.until_ended()
            else:
                self._freed.clear()
                await self._freed.wait()

    def _began(self, owner_key: str, group: asyncio.TaskGroup) -> VisitorLife:
        """Begin a life. Raises `StateUnusable` where the folder takes nothing."""
        folder = self.folder / owner_key
        is_new = not folder.exists()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StateUnusable(f"{folder} cannot be made ({error.strerror}): make room") from error
        store = EmbeddedStore(folder / "graph")
        life = self._lives[owner_key] = VisitorLife(self._make(store), store, self._clock())
        group.create_task(self._live(owner_key, life, is_new=is_new), name="graph: a visitor's")
        return life

    async def _live(self, owner_key: str, life: VisitorLife, *, is_new: bool) -> None:
        try:
            await life.run()
        finally:
            if is_new:
                await asyncio.to_thread(self._leave_nothing, owner_key)
            del self._lives[owner_key]
            life.end()

    def _leave_nothing(self, *owner_keys: str) -> None:
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
