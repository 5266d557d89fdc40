"""A process that erases everything of an owner, and is killed with signal 9 once so much is done."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from appliance.admin.local import erase_everything
from appliance.config.load import load


def main(file: str, owner_key: str, most: str) -> None:
    """Erase, and die at that hundredth."""
    config = load(Path(file), {"HOME": str(Path(file).parent)})

    def told(done: int, of: int) -> None:
        if done >= int(most):
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(erase_everything(config, owner_key, told))


if __name__ == "__main__":
    main(*sys.argv[1:])
