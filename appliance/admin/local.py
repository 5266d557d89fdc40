"""The admin of the graph: through the socket of a running service, else opened in this process."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

from appliance.admin.archive import everything_of, in_the_making
from appliance.admin.disk import require_answer
from appliance.admin.graph_admin import NO_GRAPH, GraphAdmin, NoGraph, graph_admin_of
from appliance.api.client import PATIENCE, follow, service_of, tell
from appliance.api.requests.memory import Backup, HandOver, MemoryRequest, Replay, Restore, UseTool
from appliance.config.load import Config
from appliance.errors import Exit, Problem, ServiceNotRunning
from appliance.owners.erasure import OwnerErasure
from appliance.owners.owners import open_owners
from appliance.reflexes.forget import mindless
from appliance.wiring.memory.graph import graph_side
from appliance.wiring.memory.state import open_state
from audio.loops import running
from memory.graph.embedded.store import START_SECONDS, State
from memory.json_value import Json, listed
from memory.progress import Progress, in_hundredths, silently


class RemoteAdmin:
    """A `MemoryHandler` in the running service."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def described(self) -> list[Json]:
        """Return the tools. Raises `Problem`."""
        return listed((await tell(self.path, {"do": "tools"}))["tools"])

    async def use(self, request: UseTool) -> Json:
        """Run a tool there. Raises `Problem`."""
        return await follow(self.path, request.model_dump(mode="json"))

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Have it done there, with a file wherever it is, which the service may not read or write.

        Raises `Problem`, OSError for such a file, and what `told` raises, which ends the work there too.
        """
        match request:
            case Backup(file=file) if file:
                return await self._back_up(Path(file), told)
            case Restore(snapshot=snapshot) if await asyncio.to_thread(Path(snapshot).is_file):
                return await self._restore(Path(snapshot), told)
            case Replay(file=file) if file:
                return await self._replay(Path(file), request, told)
        return await self._done(request, told)

    async def _done(self, request: MemoryRequest, told: Progress) -> Json:
        return await follow(self.path, request.model_dump(mode="json"), told)

    async def _back_up(self, file: Path, told: Progress) -> Json:
        """Have it written there, where a service may write, and take it away to `file`, which is then our user's."""
        with in_the_making(file) as target:
            found = await self._done(Backup(), told)
            assert isinstance(found, dict)
            await asyncio.to_thread(_take_away, Path(str(found["file"])), target)
        return {**found, "file": str(file)}

    async def _restore(self, file: Path, told: Progress) -> Json:
        async with self._handed_over(file.name) as place:
            await asyncio.to_thread(shutil.copyfile, file, place)
            return await self._done(Restore(snapshot=str(place)), told)

    async def _replay(self, file: Path, request: Replay, told: Progress) -> Json:
        """Have the graph made again there, where a service may write, and take it away to `file`."""
        with in_the_making(file) as target:
            async with self._handed_over(file.name) as place:
                made = place.with_name(f"{place.name}.made")
                found = await self._done(Replay(until=request.until, file=str(made)), told)
                await asyncio.to_thread(_take_away, made, target)
        assert isinstance(found, dict)
        return {**found, "file": str(file)}

    @asynccontextmanager
    async def _handed_over(self, name: str) -> AsyncIterator[Path]:
        """Give an empty file in a folder that the service and we may use; both are gone after the block."""
        handed_over = await self._done(HandOver(name=name), silently)
        assert isinstance(handed_over, dict)
        place = Path(str(handed_over["file"]))
        try:
            yield place
        finally:
            await asyncio.to_thread(shutil.rmtree, place.parent, ignore_errors=True)


@asynccontextmanager
async def open_admin(config: Config, patience: float = PATIENCE) -> AsyncIterator[RemoteAdmin | GraphAdmin | NoGraph]:
    """Find the running service, else open the memory here for as long as the block takes.

    A service that starts or ends is waited for, `patience` seconds at most. Raises `Problem` when another process has
    the state folder, `StateUnusable`, also where its disk does not answer.
    """
    try:
        path = await service_of(config, patience)
    except ServiceNotRunning:
        await asyncio.to_thread(require_answer, config.state_folder)
        if config.memory.enabled:
            async with local_admin(config) as admin:
                yield admin
        else:
            async with open_state(config.state_folder):
                yield NoGraph(everything_of(config))
    else:
        yield RemoteAdmin(path)


@asynccontextmanager
async def local_admin(config: Config, patience: float = START_SECONDS) -> AsyncIterator[GraphAdmin]:
    """Open the memory in this process, the store of the box started and, where it is damaged or gone, made again.

    A store that is not up within `patience` seconds is left to say why by itself. Raises what `open_admin` does, and
    `Problem` where there is to be no graph.
    """
    async with open_state(config.state_folder) as state, graph_side(config, state.journal.database) as graph:
        admin = graph_admin_of(everything_of(config), graph)
        if isinstance(admin, NoGraph):
            raise Problem(NO_GRAPH, Exit.UNAVAILABLE)
        async with running(graph.loops()):
            if graph.store is not None:  # one that does not come up says why by itself
                await graph.store.until(State.READY, patience)
            yield admin


async def erase_everything(config: Config, owner_key: str, told: Progress) -> str:
    """Erase everything of an owner, in the running service or else here; return the sentence that says so.

    Raises `Problem`, `StateUnusable`, and what `told` raises; the next service goes on with what is left.
    """
    try:
        path = await service_of(config)
    except ServiceNotRunning:
        await asyncio.to_thread(require_answer, config.state_folder)
        return await _erase_alone(config, owner_key, told)
    return str(await follow(path, {"do": "forget.owner", "owner": owner_key}, told))


async def _erase_alone(config: Config, owner_key: str, told: Progress) -> str:
    async with (
        open_state(config.state_folder) as state,
        graph_side(config, state.journal.database) as graph,
        running(graph.loops()),
    ):
        owners = await open_owners(state, config.state_folder, config.mind.max_tool_calls)
        forgetting = mindless(state)
        if graph.store is not None:
            await graph.store.until(State.READY, START_SECONDS)
        return await OwnerErasure(config.state_folder, graph, owners, forgetting).erase(owner_key, in_hundredths(told))


def _take_away(made: Path, target: BinaryIO) -> None:
    with made.open("rb") as source:
        made.unlink()
        shutil.copyfileobj(source, target)
