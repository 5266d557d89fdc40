"""Where Wyoming is answered: one address, tried again while it is taken, and announced where others reach it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from appliance.http.listening.addresses import Address
from audio.loops import Loop
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.wyoming.announcement import Announcement
    from appliance.wyoming.server import WyomingServer


class WyomingDoor(Struct, frozen=True):
    """Lets programs in by Wyoming while its loop runs."""

    address: Address
    networks: Sequence[str]
    """From where others may come."""
    server: "WyomingServer"
    announcement: "Announcement | None" = None
    """None where no other machine reaches it."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    def loops(self) -> Mapping[str, Loop]:
        """Return its long-lived loop by name."""
        return {"wyoming: programs that ask for ears, a voice or an answer": self.run}

    async def run(self) -> None:
        """Listen, answer and announce until cancelled."""
        listener = await self.address.until_open(self.pause)
        try:
            async with asyncio.TaskGroup() as group:
                if self.announcement is not None:
                    port = listener.getsockname()[1]
                    group.create_task(self.announcement.run(port), name="wyoming: announced")
                await self.server.serve(listener)
        finally:
            self.address.close()

    def describe(self) -> dict[str, Json]:
        """Say for the status where it is answered, or why not, for whom, and who is there."""
        announced = self.announcement.told if self.announcement is not None else ""
        where: dict[str, Json] = {"address": self.address.name, "problem": self.address.problem}
        return {**where, "networks": [*self.networks], "announced": announced, **self.server.describe()}
