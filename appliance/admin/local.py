"""The keeper of the memory wherever it is to be had: behind the door of the running service, else in this process."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from appliance.admin.graph_admin import Keeper, keeper_of
from appliance.admin.progress import Progress, in_hundredths
from appliance.api.client import find_service, follow, tell
from appliance.api.memory_requests import Backup, HandOver, MemoryRequest, Replay, Restore, UseTool
from appliance.config.load import Config
from appliance.errors import Problem, ServiceNotRunning
from appliance.exits import Exit
from appliance.owners.erasure import OwnerErasure
from appliance.owners.owners import open_owners
from appliance.reflexes.forget import mindless
from appliance.wiring.graph import GraphSide, graph_side
from appliance.wiring.state import open_state
from memory.graph.embedded.store import START_SECONDS, State
from memory.json_value import Json
from memory.sync import rename_durably

NO_GRAPH = "she has no graph here; set [memory] enabled = true"


class AtTheDoor:
    """A `MemoryHandler` in the running service."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def described(self) -> list[Json]:
        """Return the tools. Raises `Problem`."""
        tools = (await tell(self.path, {"do": "tools"}))["tools"]
        return tools if isinstance(tools, list) else []

    async def use(self, request: UseTool) -> Json:
        """Run a tool there. Raises `Problem`."""
        return await follow(self.path, request.model_dump(mode="json"), lambda done, of: None)

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Have it done there. Raises `Problem`, and what `told` raises, which ends the work there too."""
        return await follow(self.path, request.model_dump(mode="json"), told)

    async def back_up(self, file: Path, told: Progress) -> Json:
        """Have it written there, where a service may write, and take it away to `file`, which is then our user's.

        Raises `Problem`, OSError when it cannot be written.
        """
        await asyncio.to_thread(_refuse_what_is_there, file)
        with _in_the_making(file) as target:
            found = await self.act(Backup(), told)
            assert isinstance(found, dict)
            await asyncio.to_thread(_take_away, Path(str(found["file"])), target)
        return {**found, "file": str(file)}

    async def restore_file(self, file: Path, told: Progress) -> Json:
        """Have the graph made what a snapshot's file holds, wherever it is: the service may not read there.

        Raises `Problem`, OSError when it cannot be read, and what `told` raises, which ends the work there too.
        """
        async with self._handed_over(file.name) as place:
            await asyncio.to_thread(shutil.copyfile, file, place)
            return await self.act(Restore(snapshot=str(place)), told)

    async def replay_to(self, file: Path, until: datetime | None, told: Progress) -> Json:
        """Have the graph made again there, where a service may write, and take it away to `file`, as `back_up` does.

        Raises `Problem`, OSError when it cannot be written, and what `told` raises, which ends the work there too.
        """
        await asyncio.to_thread(_refuse_what_is_there, file)
        with _in_the_making(file) as target:
            async with self._handed_over(file.name) as place:
                made = place.with_name(f"{place.name}.made")
                found = await self.act(Replay(until=until, file=str(made)), told)
                await asyncio.to_thread(_take_away, made, target)
        assert isinstance(found, dict)
        return {**found, "file": str(file)}

    @asynccontextmanager
    async def _handed_over(self, name: str) -> AsyncIterator[Path]:
        """Give an empty file in a folder that the service and we may use; both are gone after the block."""
        handed_over = await self.act(HandOver(name=name), lambda done, of: None)
        assert isinstance(handed_over, dict)
        place = Path(str(handed_over["file"]))
        try:
            yield place
        finally:
            await asyncio.to_thread(shutil.rmtree, place.parent, ignore_errors=True)


class InThisProcess:
    """A `MemoryHandler` of our own."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    async def described(self) -> list[Json]:
        """Return the tools."""
        return self._keeper.described()

    async def use(self, request: UseTool) -> Json:
        """Run a tool. Raises `Problem`."""
        return await self._keeper.use(request)

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Do it. Raises what `Keeper.act` raises."""
        return await self._keeper.act(request, in_hundredths(told))

    async def back_up(self, file: Path, told: Progress) -> Json:
        """Write everything into a new file. Raises what `Keeper.act` raises."""
        return await self.act(Backup(file=str(file)), told)

    async def restore_file(self, file: Path, told: Progress) -> Json:
        """Make the graph what a snapshot's file holds. Raises what `Keeper.act` raises."""
        return await self.act(Restore(snapshot=str(file)), told)

    async def replay_to(self, file: Path, until: datetime | None, told: Progress) -> Json:
        """Make the graph again, into a new file. Raises what `Keeper.act` raises."""
        return await self.act(Replay(until=until, file=str(file)), told)


@asynccontextmanager
async def open_keeper(config: Config) -> AsyncIterator[AtTheDoor | InThisProcess]:
    """Find the running service, else open the memory here for as long as the block takes.

    Raises `Problem` when there is no graph or another process has the state folder, `StateUnusable`.
    """
    try:
        path = await asyncio.to_thread(find_service, config.sockets)
    except ServiceNotRunning:
        async with keeper_alone(config) as keeper:
            yield InThisProcess(keeper)
    else:
        yield AtTheDoor(path)


@asynccontextmanager
async def keeper_alone(config: Config, patience: float = START_SECONDS) -> AsyncIterator[Keeper]:
    """Open the memory in this process, the store of the box started and, where it is damaged or gone, made again.

    A store that is not up within `patience` seconds is left to say why by itself. Raises what `open_keeper` does.
    """
    async with open_state(config) as state, graph_side(config, state.journal.database) as graph:
        keeper = keeper_of(config, graph)
        if keeper is None:
            raise Problem(NO_GRAPH, Exit.UNAVAILABLE)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(graph.run(), name="graph: the store's child process")
            await _started(graph, patience)
            try:
                yield keeper
            finally:
                running.cancel()


async def erase_everything(config: Config, owner_key: str, told: Progress) -> str:
    """Erase everything of an owner, in the running service or else here; return the sentence that says so.

    Raises `Problem`, `StateUnusable`, and what `told` raises; the next service goes on with what is left.
    """
    try:
        path = await asyncio.to_thread(find_service, config.sockets)
    except ServiceNotRunning:
        return await _erase_alone(config, owner_key, told)
    return str(await follow(path, {"do": "forget.owner", "owner": owner_key}, told))


async def _erase_alone(config: Config, owner_key: str, told: Progress) -> str:
    async with (
        open_state(config) as state,
        graph_side(config, state.journal.database) as graph,
        asyncio.TaskGroup() as group,
    ):
        owners = await open_owners(config, state)
        forgetting = mindless(state)
        running = group.create_task(graph.run(), name="graph: the store's child process")
        await _started(graph, START_SECONDS)
        try:
            return await OwnerErasure(config.state_folder, graph, owners, forgetting).erase(
                owner_key, in_hundredths(told)
            )
        finally:
            running.cancel()


async def _started(graph: GraphSide, patience: float) -> None:
    """Return when the store of the box serves, or after so many seconds; it says why by itself."""
    if graph.store is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await graph.store.until(State.READY)


def _refuse_what_is_there(file: Path) -> None:
    if file.exists():
        raise Problem(f"{file} is there already; name a new file", Exit.CANNOT_CREATE)


@contextmanager
def _in_the_making(file: Path) -> Iterator[BinaryIO]:
    """Give what becomes this file at the end of the block, whole and on the disk; nothing is left when it fails."""
    new = file.with_name(f"{file.name}.new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        rename_durably(new, file)
    finally:
        new.unlink(missing_ok=True)


def _take_away(made: Path, target: BinaryIO) -> None:
    with made.open("rb") as source:
        made.unlink()
        shutil.copyfileobj(source, target)
