"""The box announced by mDNS: where others reach it, under a name of its own, and taken back at the end."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.http.listening.addresses import Address
from appliance.wyoming.announcement import LOOK_SECONDS, MOST_LABEL_BYTES, Announcement, addresses_towards, name_here
from appliance.wyoming.door import WyomingDoor
from tests.appliance.wyoming.rig import Rig

pytestmark = pytest.mark.shows("X13")


@dataclass
class Network:
    """A network that takes announcements, and addresses that come and go with each look."""

    looks: list[list[str]]
    """What each look finds; the last one for ever."""
    fails: int = 0
    """How many announcements are refused first."""
    told: list[tuple[str, str, tuple[str, ...], int]] = field(default_factory=list)
    changed: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    pauses: list[float] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def announce(self, name: str, addresses: Sequence[str], port: int) -> AsyncIterator[str]:
        if self.fails:
            self.fails -= 1
            raise OSError("the network is down")
        self._note("announced", name, addresses, port)
        try:
            yield f"{name}-2"
        finally:
            self._note("taken back", name, addresses, port)

    def addresses(self) -> list[str]:
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.looks) == 1 and not self.fails:
            await self.over.wait()

    def announcement(self) -> Announcement:
        return Announcement(self.addresses, "nakari-kitchen", self.announce, self.pause)

    def _note(self, what: str, name: str, addresses: Sequence[str], port: int) -> None:
        self.told.append((what, name, tuple(addresses), port))
        self.changed.release()


async def followed(network: Network, changes: int) -> list[str]:
    """Announce until so many changes were told, and stop; return what was told in words."""
    announcement = network.announcement()
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        running = group.create_task(announcement.run(10300))
        for _ in range(changes):
            await network.changed.acquire()
        running.cancel()
    assert announcement.told == ""
    return [f"{what} at {' '.join(addresses)}" for what, _, addresses, _ in network.told]


async def test_it_is_taken_back_at_the_end() -> None:
    network = Network([["192.168.1.5"]])
    assert await followed(network, 1) == ["announced at 192.168.1.5", "taken back at 192.168.1.5"]
    assert network.told[0][1:] == ("nakari-kitchen", ("192.168.1.5",), 10300)


async def test_a_network_that_comes_later_is_waited_for_and_other_addresses_are_announced() -> None:
    network = Network([[], [], ["192.168.1.5"], ["192.168.1.5"], ["192.168.1.9"], ["192.168.1.9"]])
    assert await followed(network, 3) == [
        "announced at 192.168.1.5",
        "taken back at 192.168.1.5",
        "announced at 192.168.1.9",
        "taken back at 192.168.1.9",
    ]
    assert set(network.pauses) == {LOOK_SECONDS}


async def test_a_network_that_refuses_is_tried_again() -> None:
    assert (await followed(Network([["192.168.1.5"]] * 6, fails=2), 1))[0] == "announced at 192.168.1.5"


def test_its_name_tells_it_from_other_boxes_and_is_short_enough() -> None:
    assert name_here() == f"nakari-{socket.gethostname().partition('.')[0]}"[:MOST_LABEL_BYTES]


def test_loopback_is_no_address_for_others() -> None:
    assert addresses_towards(["127.0.0.0/8", "::1/128"]) == []


async def test_the_door_announces_the_port_that_it_has_under_the_name_that_it_got() -> None:
    network = Network([["192.168.1.5"]])
    async with Rig().open() as rig:
        door = WyomingDoor(Address("127.0.0.1:0"), ["192.168.1.0/24"], rig.server, network.announcement())
        async with asyncio.TaskGroup() as group:
            running = group.create_task(door.run())
            await network.changed.acquire()
            told = door.describe()
            running.cancel()
    assert told["announced"] == "nakari-kitchen-2"
    assert told["address"] == f"127.0.0.1:{network.told[0][3]}"
    assert (told["networks"], told["problem"], told["connections"]) == (["192.168.1.0/24"], "", 0)
    assert network.told[-1][0] == "taken back"


async def test_an_address_that_is_taken_is_told_and_had_when_it_is_free() -> None:
    other = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{other.getsockname()[1]}"
    problems: list[object] = []
    listening = asyncio.Event()

    async def pause(seconds: float) -> None:
        problems.append(door.describe()["problem"])
        if len(problems) == 2:
            other.close()
            listening.set()

    async with Rig().open() as rig:
        door = WyomingDoor(Address(address), [], rig.server, None, pause)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(door.run())
            await listening.wait()
            rig.port = int(address.rpartition(":")[2])
            while door.address.problem:  # noqa: ASYNC110  no event tells it
                await asyncio.sleep(0)
            assert await rig.still_answers()
            running.cancel()
    assert str(problems[0]).startswith(f"nothing can be answered at {address}: Address already in use")


@pytest.mark.process
def test_others_find_it_and_a_name_that_is_taken_gets_a_number() -> None:
    program = Path(__file__).with_name("mdns_program.py")
    command = [sys.executable, "-m", f"tests.appliance.wyoming.{program.stem}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    name, addresses, port, other, seen = json.loads(done.stdout)
    assert (name, addresses, port, other) == ("nakari-kitchen", ["127.0.0.1"], 10300, "nakari-kitchen-2")
    assert seen == [["Added", name], ["Added", other], ["Removed", other], ["Removed", name]]
