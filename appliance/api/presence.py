"""Whether a nakari answers here, or has the state and is about to answer, or to let go of it."""

import asyncio
import time
from pathlib import Path
from typing import Final

from appliance.admin.exchange import is_used
from appliance.api.client import find_service
from appliance.config.load import Config
from appliance.errors import ServiceNotRunning
from appliance.machines.standby.following import whom_it_follows
from memory.state.database import StateInUse

PATIENCE: Final = 15.0
"""Seconds that one may take from opening the state to answering, on a slow board, or to end."""

PAUSE: Final = 0.1
"""Seconds between two looks."""


async def service_of(config: Config, patience: float = PATIENCE) -> Path:
    """Return the socket at which the service answers; one that starts is waited for, until cancelled.

    Raises `ServiceNotRunning` when there is none: then nobody has the state either, or somebody who did not begin to
    answer in time, or who only follows. Raises `Problem` when the one there belongs to another user.
    """
    until = time.monotonic() + patience
    while True:
        try:
            return find_service(config.sockets)
        except ServiceNotRunning:
            if time.monotonic() > until or not is_used(config.state_folder):
                raise
            if whom_it_follows(config.machines, config.state_folder):
                raise
        await asyncio.sleep(PAUSE)


async def service_that_came(config: Config, in_use: StateInUse) -> Path:
    """Return the socket of a service that took the state while a command was about to.

    Raises `in_use` where it is no service that has it.
    """
    try:
        return await service_of(config)
    except ServiceNotRunning:
        raise in_use from None
