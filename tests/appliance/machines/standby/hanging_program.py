"""A machine that is to give the lead away, and whose box does not close, in the folder that is its one argument."""

import asyncio
import sys
from pathlib import Path

from appliance.machines.standby.lease import Lease
from appliance.machines.standby.standby import GIVE_BACK, Standby, Term
from appliance.notify import Watchdog
from tests.appliance.machines.household import household


async def _run(folder: Path) -> None:
    async with household(folder, "attic") as (attic,), asyncio.TaskGroup() as group:
        leads = asyncio.Event()

        async def hang(term: Term) -> None:
            leads.set()
            await term.asked_for.wait()
            await asyncio.Event().wait()

        lease = Lease(attic.engine.keys, attic.name)
        watchdog = Watchdog(attic.told, 9.0, ())
        standby = Standby(attic.engine, attic.state, lease, watchdog, lambda: None, closing_seconds=0.2)
        group.create_task(standby.run(hang, attic.stop))
        await leads.wait()
        await attic.engine.topics.request(GIVE_BACK, b"{}", seconds=600)


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(Path(sys.argv[1]))))
