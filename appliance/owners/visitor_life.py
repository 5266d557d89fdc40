"""One visitor's graph from its start to its stop: used, unused, leaving, ended; and since when nobody uses it."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import structlog

from appliance.wiring.managed_graph import ManagedGraph
from memory.errors import GraphUnavailable, MemoryFailure
from memory.graph.embedded.store import EmbeddedStore
from memory.history.schedule import save_if_due

OPEN_SECONDS: Final = 8.0
"""That a call waits for a start (under one on an idle machine) or a rebuild, which goes on beside; with a statement's
own 10 s it stays within a tool's time."""

log = structlog.get_logger()


class VisitorLife:
    """A store that runs, and the graph in it. It is used or unused any number of times, then leaves, and has ended."""

    def __init__(self, kept: ManagedGraph, store: EmbeddedStore, now: float) -> None:
        """`now` is in seconds of the clock that `give_back` and `is_unused_for` are told."""
        self.kept = kept
        self.users = 0
        """Who have taken it and not given it back."""
        self.used_at = now
        """Seconds of the clock, when it was given back last."""
        self._store = store
        self._leaves = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def is_leaving(self) -> bool:
        """Whether it is to stop: nobody uses it, and nobody is given it any more."""
        return self._leaves.is_set()

    def take(self) -> None:
        """Begin to use it."""
        self.users += 1

    def give_back(self, now: float) -> None:
        """Use it no longer."""
        self.users -= 1
        self.used_at = now

    def is_unused_for(self, seconds: float, now: float) -> bool:
        """Whether nobody has used it for so long."""
        return not self.users and now - self.used_at >= seconds

    def leave(self) -> None:
        """Let `run` end; `until_ended` waits for it."""
        self._leaves.set()

    def end(self) -> None:
        """Take note that nothing of it runs any more."""
        self._ended.set()

    async def until_ended(self) -> None:
        """Return when nothing of it runs any more; another may be started in its folder."""
        await self._ended.wait()

    async def up(self) -> None:
        """Return when it is up, and settled. Raises `GraphUnavailable` with the reason when it does not come up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(OPEN_SECONDS):
                await self.kept.settled.wait()
        if not self.kept.settled.is_set():
            reason = self._store.reason or "it is still being put in order"
            raise GraphUnavailable(f"the memory is not available now: {reason}; try again in a moment")

    async def run(self) -> None:
        """Keep it running until it is to leave, then save it if that is due, and close it."""
        try:
            async with asyncio.TaskGroup() as group:
                running = group.create_task(self.kept.run(), name="graph: a visitor's")
                await self._leaves.wait()
                await self._save_if_due()
                running.cancel()
        finally:
            await self.kept.close()

    async def _save_if_due(self) -> None:
        try:
            await save_if_due(self.kept.writer, datetime.now(UTC))
        except (MemoryFailure, OSError) as error:
            log.warning("snapshot_failed", reason=str(error))
