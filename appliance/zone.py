"""Whether the machine has moved to another time zone since the start: everything that knows the hour began with one."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import tzinfo
from typing import Final

LOOK_SECONDS: Final = 60.0
"""Between two looks; what is seen twice is so, and no link that is just being set anew."""


async def moved(
    home: tzinfo, zone_now: Callable[[], tzinfo], rest: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> str:
    """Return the name of the zone that the machine is in once that is another than `home`; `zone_now` reads files."""
    seen = str(home)
    while True:
        await rest(LOOK_SECONDS)
        before, seen = seen, str(await asyncio.to_thread(zone_now))
        if seen == before != str(home):
            return seen
