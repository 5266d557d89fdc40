"""A process that runs what stays behind in a sandbox, until it is killed."""

import asyncio
import sys
from pathlib import Path

from agent.tools.confined.sandbox import Sandbox
from tests.agent.tools.confined.hostile_code import STAYS_BEHIND

if __name__ == "__main__":
    asyncio.run(Sandbox(Path(sys.argv[1]), 600.0).run(STAYS_BEHIND))
