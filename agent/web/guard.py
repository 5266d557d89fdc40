"""The guard of everything fetched from strangers: which addresses may be connected to."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from agent.errors import ToolFailed

PORTS: Final = frozenset({80, 443, 8000, 8008, 8080, 8443})
"""Where pages are served; nothing else of a stranger's is spoken to."""

GLOBAL_UNICAST: Final = ip_network("2000::/3")
"""The only part of IPv6 that IANA has given to the public. NAT64 (64:ff9b::/96), addresses that map or embed IPv4,
unique local, link-local, site-local and multicast ones lie outside of it."""

NOT_PUBLIC: Final = tuple(
    ip_network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)
"""IANA's special-purpose registries (RFC 6890 and its successors), written down: what `ipaddress` calls global depends
on the version of Python, and holds multicast. Of IPv6: Teredo and its like, documentation, 6to4."""

HOUSE_BITS: Final = 56
"""Of a public IPv6 address: what a provider commonly gives to one house, whose devices all have such addresses."""

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a name. Raises OSError."""

Towards: TypeAlias = Callable[[str], str]
"""Returns the address that this machine has on the way to another; "" where there is no way."""


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet; False for what is none, or has a zone (`fe80::1%eth0`)."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and (parsed.scope_id or parsed not in GLOBAL_UNICAST):
        return False
    return parsed.is_global and not any(parsed in network for network in NOT_PUBLIC)


def is_of_house(address: str, own: str) -> bool:
    """Whether a public address is this machine's own, or in IPv6 one of the house's; `own` is "" where untold."""
    if not own:
        return False
    there, here = ip_address(address), ip_address(own)
    if isinstance(there, IPv4Address) or isinstance(here, IPv4Address):
        return there == here
    return there in IPv6Network((int(here), HOUSE_BITS), strict=False)


class Guard:
    """Resolves a name once and lets through those of its addresses that are public; who asks connects to these alone.

    So no second answer of a name server can lead elsewhere than to what was judged.
    """

    def __init__(
        self,
        resolve: Resolve | None = None,
        towards: Towards | None = None,
        allowed: Collection[tuple[str, int]] = (),
    ) -> None:
        """Take the system's own name servers and routes where none are given.

        `allowed` are addresses with their ports that pass though they are not public: for tests, which serve there.
        """
        self._resolve = resolve or resolved
        self._towards = towards or own_address
        self._allowed = frozenset(allowed)

    async def addresses(self, host: str, port: int) -> list[str]:
        """Return what of a host may be connected to, in the order of the name server. Raises `ToolFailed`."""
        try:
            found = list(dict.fromkeys(await self._resolve(host, port)))
        except (OSError, UnicodeError) as error:
            raise ToolFailed(f"there is no server named {host[:100]}, or no network") from error
        passing = [address for address in found if self._passes(address, port)]
        if passing:
            return passing
        if any(map(is_public, found)) and port not in PORTS:
            raise ToolFailed(f"refused: port {port} serves no pages")
        raise ToolFailed(f"refused: {host[:100]} is not on the public internet, and nothing else may be looked at")

    def _passes(self, address: str, port: int) -> bool:
        if (address, port) in self._allowed:
            return True
        return port in PORTS and is_public(address) and not is_of_house(address, self._towards(address))


async def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a name, or of an address in any notation that the system takes (`127.1`)."""
    told = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in told]


def own_address(address: str) -> str:
    """Return the address that this machine has towards another, "" where there is none. Nothing is sent for it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # of a datagram socket: the kernel looks for the way, and sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        return ""
