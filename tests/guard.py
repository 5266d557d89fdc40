"""Refuses sockets beyond this machine to code that runs in the test process."""

import ipaddress
import socket
import sys

LOCAL_NAMES = {"", "localhost", "ip6-localhost", socket.gethostname()}


def is_local(host: str | bytes | None) -> bool:
    """Say whether a host, name or literal address, is this machine; only literal addresses and its own names are."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else (host or "")
    if name.lower() in LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback or address.is_unspecified


def refuse_the_network() -> list[str]:
    """Refuse names and addresses beyond loopback from now on; the list returned gains each one that was tried.

    An audit hook stays until the interpreter ends and sees every Python thread; native code and child processes pass by
    it, which is why `tests/service/privacy.py` exists.
    """
    reached: list[str] = []

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event not in (
            "socket.connect",
            "socket.sendto",
            "socket.sendmsg",
            "socket.getaddrinfo",
            "socket.gethostbyname",
        ):
            return
        host = _host(event, arguments)
        if host is not None and not is_local(host):
            reached.append(host)
            raise ConnectionRefusedError(f"tests reach nothing beyond loopback, and this was {host}")

    sys.addaudithook(refuse)
    return reached


def _host(event: str, arguments: tuple[object, ...]) -> str | None:
    """Return the host that a socket event names; None where it names none (unix sockets, connected ones)."""
    named = arguments[0] if event.startswith("socket.get") else arguments[1]
    if isinstance(named, tuple):
        named = named[0]
    elif not event.startswith("socket.get"):
        return None
    return named.decode("ascii", "replace") if isinstance(named, bytes) else str(named) if named else None
