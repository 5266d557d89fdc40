"""Where Wyoming is answered: one address, tried again while it is taken, and announced where others reach it."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from appliance.http.listening.addresses import AGAIN_SECONDS, listening, name_of
from audio.loops import Loop
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.wyoming.announcement import Announcement
    from appliance.wyoming.server import WyomingServer

log = structlog.get_logger()


@dataclass(slots=True)
class WyomingDoor:
    """Lets programs in by Wyoming while its loop runs."""

    address: str
    """Address and port."""
    networks: Sequence[str]
    """From where others may come."""
    server: "WyomingServer"
    announcement: "Announcement | None" = None
    """None where no other machine reaches it."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    problem: str = field(default="", init=False)
    """Why it does not listen, in a sentence."""

    def loops(self) -> Mapping[str, Loop]:
        """Return its long-lived loop by name."""
        return {"wyoming: programs that ask for ears, a voice or an answer": self.run}

    async def run(self) -> None:
        """Listen, answer and announce until cancelled."""
        with await self._listening() as listener:
            async with asyncio.TaskGroup() as group:
                if self.announcement is not None:
                    port = listener.getsockname()[1]
                    group.create_task(self.announcement.run(port), name="wyoming: announced")
                await self.server.serve(listener)

    def describe(self) -> dict[str, Json]:
        """Say for the status where it is answered, or why not, for whom, and who is there."""
        announced = self.announcement.told if self.announcement is not None else ""
        told: dict[str, Json] = {"address": self.address, "problem": self.problem, "networks": [*self.networks]}
        return {**told, "announced": announced, **self.server.describe()}

    async def _listening(self) -> socket.socket:
        """Return the socket once there is one; what is in the way is told once."""
        while True:
            try:
                listener = listening(self.address)
            except OSError as error:
                problem = f"nothing can be answered at {self.address}: {error.strerror}; it is tried again"
                if problem != self.problem:
                    self.problem = problem
                    log.warning("wyoming_address_unavailable", address=self.address, reason=problem)
                await self.pause(AGAIN_SECONDS)
            else:
                self.address, self.problem = name_of(listener), ""  # where any free port was wanted, that is one now
                log.info("wyoming_listens", address=self.address)
                return listener
