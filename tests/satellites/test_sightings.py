"""What mDNS tells: records into hints, bounded, and nothing believed."""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.satellites.mdns import records_into
from appliance.satellites.sightings import MOST, SERVICE, Sighting, Sightings, mac_of, sighting_of

pytestmark = pytest.mark.shows("V28")

zeroconf: Any = import_module("zeroconf")
"""It exports less than it offers, to a checker."""

PTR, TXT, SRV, A = 12, 16, 33, 1


def now() -> float:
    """Return milliseconds on the clock of zeroconf, which forgets by itself what is too old."""
    return float(zeroconf.current_time_millis())


class Heard:
    """Announcements as zeroconf hands them over, without a network."""

    def __init__(self) -> None:
        self.seen: list[Sighting] = []
        self.sightings = Sightings(self.seen.append)
        self.cache = zeroconf.DNSCache()
        self._listener = records_into(self.sightings)

    def announce(self, name: str, *addresses: str, ttl: int = 4_500, told: Mapping[str, str] | None = None) -> None:
        """Take one packet of a device."""
        own, server = f"{name}.{SERVICE}", f"{name}.local."
        text = b"".join(
            bytes([len(each)]) + each for each in (f"{key}={value}".encode() for key, value in (told or {}).items())
        )
        records: list[Any] = [
            zeroconf.DNSPointer(SERVICE, PTR, 1, ttl, own, now()),
            zeroconf.DNSService(own, SRV, 1, ttl, 0, 0, 6053, server, now()),
            zeroconf.DNSText(own, TXT, 1, ttl, text, now()),
        ]
        packed = [bytes(map(int, each.split("."))) for each in addresses]
        records += [zeroconf.DNSAddress(server, A, 1, ttl, each, created=now()) for each in packed]
        self.take(*records)

    def take(self, *records: Any) -> None:
        """Take records."""
        updates = [zeroconf.RecordUpdate(each, None) for each in records]
        around: Any = SimpleNamespace(cache=self.cache)
        self._listener.async_update_records(around, now(), updates)
        self.cache.async_add_records(records)
        self._listener.async_update_records_complete()


@pytest.fixture
async def heard() -> Heard:
    return await asyncio.to_thread(Heard)


async def test_an_announcement_is_a_sighting_and_a_farewell_its_end(heard: Heard) -> None:
    told = {"mac": "aabbcc000001", "friendly_name": "Kitchen PE", "platform": "ESP32", "version": "2026.9.0"}
    heard.announce("kitchen", "192.168.1.7", told={**told, "api_encryption": "Noise_NNpsk0_25519_ChaChaPoly_SHA256"})
    expected = Sighting(
        *("kitchen", ("192.168.1.7",), 6053, "aa:bb:cc:00:00:01", "Kitchen PE", "ESP32", "2026.9.0"), is_encrypted=True
    )
    assert heard.seen == [expected]
    heard.announce("kitchen", "192.168.1.7", told=told)  # the same again: it may be back
    assert len(heard.seen) == 2
    heard.announce("kitchen", "192.168.1.7", ttl=0, told=told)
    assert heard.sightings.all() == ()


async def test_a_host_that_is_announced_again_is_a_sighting(heard: Heard) -> None:
    heard.announce("kitchen", "192.168.1.7")
    address: Any = zeroconf.DNSAddress("kitchen.local.", A, 1, 120, bytes([192, 168, 1, 9]), created=now())
    heard.take(address)
    assert "192.168.1.9" in heard.seen[-1].addresses


async def test_a_name_that_two_devices_have_is_both_addresses(heard: Heard) -> None:
    heard.announce("kitchen", "192.168.1.7")
    heard.announce("kitchen", "192.168.1.66")
    assert {*heard.seen[-1].addresses} == {"192.168.1.7", "192.168.1.66"}


async def test_other_services_and_broken_records_are_nothing(heard: Heard) -> None:
    nonsense: Any = zeroconf.DNSPointer("_printer._tcp.local.", PTR, 1, 60, "x._printer._tcp.local.", now())
    alone: Any = zeroconf.DNSPointer(SERVICE, PTR, 1, 60, f"alone.{SERVICE}", now())
    strange: Any = zeroconf.DNSPointer(SERVICE, PTR, 1, 60, "strange.local.", now())
    heard.take(nonsense, alone, strange)
    assert heard.seen == []


async def test_a_flood_of_names_is_bounded() -> None:
    sightings = Sightings(lambda _: None)
    for number in range(10_000):
        sightings.saw(Sighting(f"device-{number}", ("192.168.1.7",), 6053))
    assert len(sightings.all()) == MOST


def test_what_is_announced_is_made_harmless() -> None:
    told = {"friendly_name": "x" * 500 + "\x1b[2J", "mac": "not a mac", "platform": "ESP\n32"}
    found = sighting_of("kit\x1bchen", ["8.8.8.8", "192.168.1.7", "hello", "fe80::1%eth0"], 6053, told)
    assert found is not None
    assert found.addresses == ("192.168.1.7", "fe80::1%eth0")  # the Internet's is none of the house's
    assert (found.name, found.mac, found.platform) == ("kitchen", "", "ESP32")
    assert len(found.label) == 64
    assert sighting_of("kitchen", ["8.8.8.8"], 6053, {}) is None
    assert sighting_of("kitchen", ["192.168.1.7"], 0, {}) is None


@pytest.mark.parametrize("text", ["AA:BB:CC:00:00:01", "aabbcc000001", "AA-BB-CC-00-00-01"])
def test_a_mac_address_is_written_one_way(text: str) -> None:
    assert mac_of(text) == "aa:bb:cc:00:00:01"
