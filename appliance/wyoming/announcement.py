"""Announced by mDNS, so that Home Assistant finds the box by itself; by zeroconf, which is loaded for nothing else."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib import import_module
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

import structlog
from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

KIND: Final = "_wyoming._tcp.local."
"""What Home Assistant looks for."""

LOOK_SECONDS: Final = 60.0
"""Between two looks at this machine's addresses: routers give others, and cables are put in later."""

GROUP, PORT = "224.0.0.251", 5353
"""Of mDNS (RFC 6762)."""

_FAMILIES: Final = {4: socket.AF_INET, 6: socket.AF_INET6}

FAREWELL_SECONDS: Final = 1.0
"""That taking it back may take: the box stops."""

MOST_LABEL_BYTES: Final = 63
"""Of a name in the DNS (RFC 1035)."""

log = structlog.get_logger()

Announce: TypeAlias = "Callable[[str, Sequence[str], int], AbstractAsyncContextManager[str]]"
"""Announces a name, IP addresses and a port for as long as the block lasts; gives the name that it has, which is
another one where somebody else has that already. Raises OSError where no network takes it."""


@asynccontextmanager
async def by_mdns(name: str, addresses: Sequence[str], port: int) -> "AsyncIterator[str]":
    """Announce by multicast on the networks of these addresses."""
    await asyncio.to_thread(import_module, "zeroconf.asyncio")
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    told = AsyncServiceInfo(KIND, f"{name}.{KIND}", parsed_addresses=list(addresses), port=port)
    try:
        zeroconf = AsyncZeroconf(interfaces=list(addresses))
    except RuntimeError as error:  # it knows no network of theirs
        raise OSError(str(error)) from error
    try:
        try:
            await (await zeroconf.async_register_service(told, allow_name_change=True))
        except Error as error:
            raise OSError(f"no name near {name} is free ({type(error).__name__})") from error
        yield told.name.removesuffix(f".{KIND}")
    finally:
        with suppress(OSError, Error):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await zeroconf.async_unregister_all_services()
                await zeroconf.async_close()


def addresses_towards(networks: Sequence[str]) -> list[str]:
    """Return the addresses by which this machine faces networks, in their order, each once.

    The kernel's routes tell; nothing is sent.
    """
    found = []
    for network in map(ip_network, networks):
        with suppress(OSError), socket.socket(_FAMILIES[network.version], socket.SOCK_DGRAM) as asking:
            asking.connect((str(network[min(1, network.num_addresses - 1)] if network.prefixlen else GROUP), PORT))
            found.append(str(asking.getsockname()[0]))
    return [each for each in dict.fromkeys(found) if not ip_address(each).is_loopback]


def name_here() -> str:
    """Return what this box is called: its own name tells it from another one of the house."""
    name = f"nakari-{socket.gethostname().partition('.')[0]}"
    return name.encode()[:MOST_LABEL_BYTES].decode(errors="ignore")


class Announcement(Struct):
    """Keeps the box announced, at the addresses that it has."""

    addresses: Callable[[], Sequence[str]]
    """Returns those at which others reach it now."""
    name: str = field(default_factory=name_here)
    announce: Announce = by_mdns
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    told: str = ""
    """The name under which it is announced now, "" for nowhere."""

    async def run(self, port: int) -> NoReturn:
        """Announce a port until cancelled; then it is taken back."""
        while True:
            if not (where := [*self.addresses()]):
                await self.pause(LOOK_SECONDS)
                continue
            try:
                async with self.announce(self.name, where, port) as self.told:
                    log.info("wyoming_announced", name=self.told, addresses=list(where), port=port)
                    while [*self.addresses()] == where:
                        await self.pause(LOOK_SECONDS)
            except OSError as error:
                log.warning("wyoming_not_announced", reason=str(error), fix="it is tried again in a minute")
                await self.pause(LOOK_SECONDS)
            finally:
                self.told = ""
