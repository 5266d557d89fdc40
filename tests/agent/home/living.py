"""Home Assistant's client at work over the small server, for the length of a test."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent.home.asking import Sentences
from agent.home.consent import Consent
from agent.home.home import Attend, Home, Pace
from agent.intents.intent import Language
from tests.agent.home_server import SmallHome

QUICK = Pace(first=0.02, longest=0.1, settle=0.0, starting=0.02, answers=0.3, patience=5.0, refused=0.05)
"""Seconds."""

PATIENCE = 20.0
"""Seconds after which something hangs."""


@dataclass
class Living:
    """The client and what is built over it."""

    home: Home
    consent: Consent
    sentences: Sentences
    changed: asyncio.Event

    async def until_known(self, *ids: str) -> None:
        """Return when the house is known to hold these entities."""
        async with asyncio.timeout(PATIENCE):
            while self.home.house is None or not all(one in self.home.house.entities for one in ids):
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def living(
    server: SmallHome,
    attend: Sequence[Attend] = (),
    *,
    token: str | None = None,
    language: Language = "en",
    connects: bool = True,
) -> AsyncIterator[Living]:
    """Run the client in the test's own group, and wait until it is connected where it is to be."""
    home = Home(server.url, server.token if token is None else token, QUICK, attend)
    changed = asyncio.Event()
    home.observe(changed.set)
    consent = Consent(home, language)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(home.run())
        try:
            async with asyncio.timeout(PATIENCE):
                if connects:
                    await home.until("connected")
                yield Living(home, consent, Sentences(home, consent, "en"), changed)
        finally:
            running.cancel()
