"""Opens a box, ears over an engine in memory or a whole one, and prints which modules that took."""

import asyncio
import json
import sys
from pathlib import Path

from msgspec.structs import replace

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import open_box
from appliance.wiring.environment import REAL


async def _run(file: Path) -> None:
    config = load(file, {"HOME": str(file.parent)})
    environment = REAL
    if config.machines.url:
        from tests.engine_fake import FakeEngine

        environment = replace(REAL, engine=lambda config: FakeEngine())
    async with open_box(config, RunOptions(deaf=True), environment) as box:

        async def warmed() -> None:
            await box.loops()["warm: connections and voices, off the start path"]()

        await serve(box, warmed)


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1])))
    sys.stdout.write("\n" + json.dumps(sorted(sys.modules)) + "\n")
