"""Which addresses may be connected to: those of the public internet, and none of this machine or this house."""

import pytest

from agent.errors import ToolFailed
from agent.web.guard import Guard, is_of_house, is_public, own_address, resolved
from tests.agent.web.web_server import Names

PUBLIC = ("93.184.216.34", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:2800:220:1:248:1893:25c8:1946", "2a00:1450::1")

REFUSED = {
    "127.0.0.1": "this machine", "127.8.8.8": "this machine", "::1": "this machine",
    "0.0.0.0": "unspecified", "::": "unspecified",
    "10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
    "fc00::1": "private", "fd12:3456::1": "private", "fec0::1": "site-local",
    "169.254.169.254": "link-local, where clouds tell secrets", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
    "100.64.0.1": "shared", "100.127.255.255": "shared",
    "224.0.0.1": "multicast", "239.255.255.250": "multicast", "ff02::1": "multicast", "ff0e::1": "multicast",
    "255.255.255.255": "broadcast", "240.0.0.1": "reserved",
    "192.0.2.1": "documentation", "2001:db8::1": "documentation", "3fff::1": "documentation",
    "198.18.0.1": "benchmarks", "192.88.99.1": "6to4", "192.0.0.8": "IETF's",
    "::ffff:127.0.0.1": "IPv4 in IPv6", "::ffff:93.184.216.34": "IPv4 in IPv6", "::127.0.0.1": "IPv4 in IPv6",
    "2002:7f00:1::": "6to4", "2002:5db8:d822::1": "6to4", "64:ff9b::7f00:1": "NAT64", "64:ff9b:1::1": "NAT64",
    "2001::1": "Teredo", "page.test": "no address", "": "no address", "127.1": "no address as it is resolved",
}  # fmt: skip


@pytest.mark.shows("F9")
@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_public_internet_passes(address: str) -> None:
    assert is_public(address)


@pytest.mark.shows("F9")
@pytest.mark.parametrize("address", REFUSED)
def test_no_other_address_passes(address: str) -> None:
    assert not is_public(address), REFUSED[address]


@pytest.mark.shows("F9")
@pytest.mark.parametrize(
    ("address", "own", "of_house"),
    [
        ("93.184.216.34", "93.184.216.34", True),
        ("93.184.216.35", "93.184.216.34", False),
        ("2a00:1:2:3400::5", "2a00:1:2:34ff::9", True),
        ("2a00:1:2:3500::5", "2a00:1:2:34ff::9", False),
        ("2a00:1:2:3500::5", "93.184.216.34", False),
        ("93.184.216.34", "", False),
    ],
)
def test_what_has_a_public_address_in_this_house_is_of_this_house(address: str, own: str, of_house: bool) -> None:
    """Everything in a house has a public IPv6 address, its doors open to whoever is inside."""
    assert is_of_house(address, own) == of_house


async def test_a_public_address_of_this_house_is_refused() -> None:
    guard = Guard(Names({"lamp.test": "2a00:1:2:3400::5"}), lambda _: "2a00:1:2:34ff::9")
    with pytest.raises(ToolFailed, match="not on the public internet"):
        await guard.addresses("lamp.test", 80)


@pytest.mark.shows("F9")
async def test_of_a_name_with_public_and_private_addresses_only_the_public_ones_are_left() -> None:
    guard = Guard(Names({"both.test": "192.168.1.1 93.184.216.34 ::1"}), lambda _: "")
    assert await guard.addresses("both.test", 443) == ["93.184.216.34"]


@pytest.mark.parametrize("port", [22, 25, 2480, 6379, 7687, 8123, 65535])
async def test_a_port_that_serves_no_pages_is_refused(port: int) -> None:
    guard = Guard(Names({"page.test": "93.184.216.34"}), lambda _: "")
    with pytest.raises(ToolFailed, match=f"port {port} serves no pages"):
        await guard.addresses("page.test", port)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1"])
async def test_this_machine_is_refused_by_the_names_it_has(host: str) -> None:
    with pytest.raises(ToolFailed, match="not on the public internet"):
        await Guard().addresses(host, 80)
    assert set(await resolved(host, 80)) <= {"127.0.0.1", "::1"}


async def test_a_name_that_is_not_there_is_told() -> None:
    async def fails(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    with pytest.raises(ToolFailed, match=r"no server named gone\.test, or no network"):
        await Guard(fails).addresses("gone.test", 80)


def test_the_way_to_an_address_is_asked_of_the_kernel() -> None:
    assert own_address("127.0.0.9") == "127.0.0.1"
    assert own_address("::1") in ("::1", "")
