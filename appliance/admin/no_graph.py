"""What a box without a graph does of what is asked about one: it backs up all else, and says that there is none."""

import asyncio
from pathlib import Path
from typing import Final, NoReturn

from msgspec import Struct

from appliance.admin.archive import Everything, fetched, write_archive
from appliance.admin.progress import Progress, in_hundredths
from appliance.api.requests.memory import Backup, MemoryRequest, UseTool
from appliance.errors import Exit, Problem
from memory.json_value import Json

NO_GRAPH: Final = "there is no graph here; set [memory] enabled = true"


class NoGraph(Struct, frozen=True):
    """Answers in place of a `GraphAdmin`, in the one process that has the state folder."""

    everything: Everything

    async def described(self) -> list[Json]:
        """Raise `Problem`, as all but a backup does."""
        _refuse()

    async def use(self, request: UseTool) -> Json:
        """Raise `Problem`."""
        _refuse()

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Write the backup that is asked for. Raises what `write_archive` raises, and `Problem` for all else."""
        if not isinstance(request, Backup):
            _refuse()
        file = Path(request.file or await asyncio.to_thread(fetched, self.everything.state_folder))
        return await write_archive(self.everything, None, file, in_hundredths(told))


def _refuse() -> NoReturn:
    raise Problem(NO_GRAPH, Exit.UNAVAILABLE)
