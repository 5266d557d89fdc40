"""A link over weeks, in virtual time: returns are noticed, rests bounded, and nothing grows."""

import asyncio
import gc
import random
import tracemalloc
from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from appliance.satellites.errors import SatelliteFailure, SatelliteGone, SatelliteRefused
from appliance.satellites.interfaces import About, Features, Incoming, VoiceEvent
from appliance.satellites.link import LONGEST_REST, Link
from appliance.satellites.paired import Paired
from appliance.satellites.sightings import Sighting
from tests.room.virtual_time import passed, run_virtually
from tests.satellites.observer import Notes

DAYS: Final = 30
DAY: Final = 86_400.0
MAC: Final = "aa:bb:cc:00:00:01"
KITCHEN: Final = Paired(MAC, "kitchen", "Kitchen", "192.168.1.7")
GROWTH_BYTES: Final = 100_000
"""That weeks may leave behind: caches of the interpreter."""

pytestmark = pytest.mark.shows("V28")


def now() -> float:
    return asyncio.get_running_loop().time()


class Network:
    """A house's network in which one device comes and goes; as `Dial` it takes what connections take."""

    def __init__(self) -> None:
        self.address = "192.168.1.7"
        self.is_up = True
        self.refusal: SatelliteFailure | None = None
        self.dials = deque[float](maxlen=400)
        """When, the newest ones: they are to hold no more memory than the link does."""
        self.count = 0
        self.open: list[Connection] = []

    async def __call__(self, address: str, port: int, key: str, mac: str) -> "Connection":
        self.dials.append(now())
        self.count += 1
        await passed(0.05)
        if self.refusal is not None:
            raise self.refusal
        if not self.is_up or address != self.address:
            await passed(3.0)
            raise SatelliteGone(f"what is at {address}:{port} does not answer in time")
        self.open.append(connection := Connection(self))
        return connection

    def cut(self) -> None:
        for each in [*self.open]:
            each.over.set()


class Connection:
    """One connection, as `Session`."""

    about = About(MAC, "kitchen")
    local_address = "192.168.1.2"

    def __init__(self, network: Network) -> None:
        self._network = network
        self.over = asyncio.Event()

    async def listen(self, incoming: Incoming) -> Features:
        await passed(0.05)
        return Features(has_microphone=True, announce=True)

    def ask_states(self) -> None: ...

    async def ended(self) -> None:
        await self.over.wait()

    async def close(self) -> None:
        self._network.open.remove(self)

    def tell(self, event: VoiceEvent, data: Mapping[str, str]) -> None: ...

    async def announce(self, url: str, text: str, *, start_conversation: bool, patience_seconds: float) -> None: ...

    def stop_media(self) -> None: ...

    def send_audio(self, pcm: bytes) -> None: ...

    def set_volume(self, level: float) -> None: ...

    def set_muted(self, is_muted: bool) -> None: ...


def held() -> tuple[int, int]:
    """Return the bytes and the descriptors that are held."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0], len([*Path("/proc/self/fd").iterdir()])


async def nothing(_: Paired) -> None:
    """Keep nothing."""


def linked(network: Network) -> tuple[Link, Notes]:
    link, notes = Link(KITCHEN, network, nothing, now), Notes()
    link.observe(notes)
    return link, notes


def test_thirty_days_of_outages_leave_nothing_behind_and_every_return_is_noticed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(17)

    async def live() -> tuple[list[float], list[float], list[tuple[int, int, int]], int]:
        network = Network()
        link, notes = linked(network)
        announced: list[float] = []
        silent: list[float] = []
        kept: list[tuple[int, int, int]] = []
        async with asyncio.TaskGroup() as group:
            running = group.create_task(link.run())
            await notes.until(("there", True))
            outages = 0
            while now() < DAYS * DAY:
                await passed(chance.expovariate(1 / 5_000.0))
                network.is_up = False
                network.cut()
                await passed(chance.choice([1.0, 20.0, 600.0, 7_000.0]))
                network.is_up, back = True, now()
                is_announced = chance.random() < 0.7
                if chance.random() < 0.2:
                    network.address = f"192.168.1.{chance.randrange(2, 250)}"
                    is_announced = True  # else nobody can know
                if is_announced:
                    link.seen(Sighting("kitchen", (network.address,), 6053, MAC))
                notes.told.clear()
                if not link.is_there:
                    await notes.until(("there", True))
                (announced if is_announced else silent).append(now() - back)
                outages += 1
                if outages % 100 == 0:
                    capsys.readouterr()  # the log, which is held for the test
                    kept.append((*held(), len(asyncio.all_tasks())))
            running.cancel()
        assert not network.open
        return announced, silent, kept, network.count

    tracemalloc.start()
    try:
        announced, silent, kept, dials = run_virtually(live())
    finally:
        tracemalloc.stop()
    assert len(announced) + len(silent) > 250
    assert max(announced) < LONGEST_REST / 10 + 10.0
    assert max(silent) < LONGEST_REST + 10.0
    assert dials < DAYS * 24 * 30
    (size, files, tasks), last = kept[0], kept[-1]
    assert last[0] - size < GROWTH_BYTES
    assert last[1:] == (files, tasks)


def test_rests_double_to_five_minutes_and_an_absence_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    async def live() -> list[float]:
        network = Network()
        network.is_up = False
        link, _ = linked(network)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(link.run())
            await passed(DAY)
            running.cancel()
        return [after - before - 3.05 for before, after in pairwise(network.dials)]

    rests = run_virtually(live())
    for number, rest in enumerate(rests):
        assert min(2.0**number, LONGEST_REST) * 0.8 <= rest + 0.01
        assert rest <= min(2.0**number, LONGEST_REST) + 0.01
    assert capsys.readouterr().out.count("satellite_away") == 1


def test_a_flood_of_announcements_is_no_flood_of_connections() -> None:
    async def live() -> int:
        network = Network()
        network.refusal = SatelliteRefused("192.168.1.66:6053 is another device: kitchen (aa:bb:cc:00:00:66), not it")
        link, _ = linked(network)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(link.run())
            await passed(600.0)
            network.dials.clear()
            for number in range(36_000):
                link.seen(Sighting("kitchen", (f"192.168.1.{number % 200 + 10}",), 6053))
                await passed(0.1)
            running.cancel()
        return len(network.dials)

    assert run_virtually(live()) <= 2 * 3_600 / (LONGEST_REST / 10 * 0.8)  # two places each time


def test_a_device_that_hangs_up_at_once_is_not_hurried_after(capsys: pytest.CaptureFixture[str]) -> None:
    async def live() -> int:
        network = Network()
        link, notes = linked(network)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(link.run())
            cutting = group.create_task(cut_always(network, notes))
            await passed(DAY)
            running.cancel()
            cutting.cancel()
        return network.count

    async def cut_always(network: Network, notes: Notes) -> None:
        while True:
            await notes.until(("there", True))
            notes.told.clear()
            network.cut()

    assert run_virtually(live()) < DAY / LONGEST_REST * 1.3 + 20
    assert capsys.readouterr().out.count("satellite_away") == 1


def test_a_refusal_is_told_once_and_its_end_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    async def live() -> None:
        network = Network()
        network.refusal = SatelliteRefused("kitchen gives its voice to another program")
        link, notes = linked(network)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(link.run())
            await passed(DAY)
            network.refusal = None
            await notes.until(("there", True))
            running.cancel()

    run_virtually(live())
    assert capsys.readouterr().out.count("gives its voice to another program") == 1
