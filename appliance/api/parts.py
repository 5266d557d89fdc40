"""What the status is made of: what each part says of itself, those that look at the disk in a thread."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from time import monotonic
from typing import Final

from msgspec import Struct

from memory.errors import StateUnusable
from memory.json_value import Json

PATIENCE: Final = 1.5
"""Seconds that a part of the status, or a command that is noted, waits for a disk that does not answer: one that
closes the ears must not wait for it."""

Part = Callable[[], Mapping[str, Json] | Awaitable[Mapping[str, Json]]]
"""Returns what one part says of itself in the status."""


class Look:
    """What a part says of itself by a look at the disk, which a thread takes: a disk that is silent holds up one."""

    def __init__(self, look: Callable[[], Mapping[str, Json]]) -> None:
        """`look` is called in a thread, once at a time."""
        self._look = look
        self._looking: asyncio.Future[Mapping[str, Json]] | None = None

    async def __call__(self) -> Mapping[str, Json]:
        """Return what the look tells that is being taken, else what a new one does."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().run_in_executor(None, self._look)
        return await asyncio.shield(self._looking)


class Told(Struct, frozen=True):
    """What the status tells besides the mailbox."""

    parts: Mapping[str, Part]
    started_at: float
    """Seconds on `time.monotonic`."""

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return round(monotonic() - self.started_at, 1)

    async def described(self, besides: Collection[str]) -> dict[str, Json]:
        """Return what each part says of itself, besides some of them."""
        return {name: await _told(part) for name, part in self.parts.items() if name not in besides}


async def _told(part: Part) -> dict[str, Json]:
    """Return what a part says of itself; nothing where it reads what cannot be read."""
    told = part()
    if not isinstance(told, Awaitable):
        return dict(told)
    try:
        async with asyncio.timeout(PATIENCE):
            return dict(await told)
    except (TimeoutError, StateUnusable):
        return {}
