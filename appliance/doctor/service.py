"""What the running service says: whether it answers, and how its parts are."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.errors import Problem, ServiceNotRunning
from memory.json_value import Json

PART_SECONDS: Final = 12.0
"""Within which the service tells of a part: less than all checks have, so that the other lines are still told."""


def service(config: Config) -> Line:
    """Ask the running service how it is."""
    from appliance.api.client import find_service, status_of

    try:
        path = find_service(config.sockets)
    except ServiceNotRunning:
        from appliance.machines.standby.following import whom_it_follows

        return Line("service", Verdict.OK, whom_it_follows(config.machines, config.state_folder) or "not running")
    began = time.monotonic()
    asyncio.run(status_of(path))
    return Line("service", Verdict.OK, f"running, answers at {path} in {time.monotonic() - began:.3f} s")


def told_by_service(sockets: Sequence[Path], part: str, seconds: float = PART_SECONDS) -> Mapping[str, Json]:
    """Return what the running service says of one of its parts; nothing where none is running."""
    from appliance.api.client import find_service, status_of

    try:
        told = asyncio.run(status_of(find_service(sockets), seconds)).get(part)
    except Problem:
        return {}
    return told if isinstance(told, dict) else {}


CHECKS: tuple[Check, ...] = (service,)
