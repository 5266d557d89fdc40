"""Announces two boxes of one name on the loopback interface and looks for them there; prints what was seen, as JSON.

A process of its own, for the tests' own sends nothing to a group's address.
"""

import asyncio
import json
from typing import Any

from zeroconf import ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from appliance.wyoming.announcement import KIND, by_mdns

HERE, THERE, LOOKING = ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.3"]
"""An address each, as on machines of their own: what is sent to one socket of a shared port, another may get."""
PATIENCE = 80.0


async def main() -> None:
    """Announce, look, take it back."""
    seen: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    def changed(name: str, state_change: Any, **_: object) -> None:
        if state_change is not ServiceStateChange.Updated:
            seen.put_nowait((state_change.name, name.removesuffix(f".{KIND}")))

    looking = AsyncZeroconf(interfaces=LOOKING)
    browser = AsyncServiceBrowser(looking.zeroconf, KIND, handlers=[changed])
    async with asyncio.timeout(PATIENCE):
        async with by_mdns("nakari-kitchen", HERE, 10300) as name:
            added = await seen.get()
            found = AsyncServiceInfo(KIND, f"{name}.{KIND}")
            await found.async_request(looking.zeroconf, 20_000)
            async with by_mdns("nakari-kitchen", THERE, 10301) as other:
                second = await seen.get()
            third = await seen.get()
        last = await seen.get()
    print(json.dumps([name, found.parsed_addresses(), found.port, other, [added, second, third, last]]))  # noqa: T201
    await browser.async_cancel()
    await looking.async_close()


if __name__ == "__main__":
    asyncio.run(main())
