"""Satellites paired, listed, tried and forgotten: with a small device, without a network."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from appliance.api.requests.satellites import AddSatellite, ListSatellites, RemoveSatellite, TrySatellite, answer_of
from appliance.doctor.examine import Verdict
from appliance.egress import is_here
from appliance.satellites.check import judge_satellites
from appliance.satellites.errors import SatelliteGone, SatelliteRefused, SatellitesDamaged, SatelliteUnknown
from appliance.satellites.esphome import EspHome
from appliance.satellites.interfaces import Device
from appliance.satellites.paired import FILE, Paired, PairedList
from appliance.satellites.satellites import Limits, Satellites, key_of, split_address
from appliance.satellites.sightings import Sighting, Sightings
from appliance.service import LOOPS
from memory.json_value import Json
from tests.processes import ROOT
from tests.satellites.device import VOICE, Manners, SmallDevice, new_key
from tests.satellites.observer import Notes

pytestmark = pytest.mark.shows("V28")


class Air:
    """Announcements without a network: what is in the air is seen by whoever looks, and how often they looked."""

    def __init__(self, *announced: Sighting) -> None:
        self.announced = [*announced]
        self.looks = 0

    @asynccontextmanager
    async def look(self, sightings: Sightings) -> AsyncIterator[None]:
        self.looks += 1
        for each in self.announced:
            sightings.saw(each)
        yield


class Joined:
    """Follows which devices are paired, and each of them."""

    def __init__(self) -> None:
        self.notes: dict[str, Notes] = {}
        self.left_: list[str] = []

    def joined(self, device: Device) -> None:
        self.notes[device.room] = Notes()
        device.observe(self.notes[device.room])

    def left(self, device: Device) -> None:
        self.left_.append(device.room)


def opened(folder: Path, air: Air | None = None, most: int = 8) -> Satellites:
    return Satellites(PairedList(folder), EspHome(), (air or Air()).look, Limits(most, 0, 0.0, 0.2, 0.0))


@asynccontextmanager
async def running(satellites: Satellites) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(satellites.run())
        yield
        task.cancel()


def told_of(answer: object) -> str:
    return json.dumps(answer)


async def test_pairing_by_address_and_by_name_is_kept_for_the_owner_alone(tmp_path: Path) -> None:
    key = new_key()
    kitchen, hall = SmallDevice(key=key), SmallDevice("hall", "AA:BB:CC:00:00:02", key)
    async with kitchen, hall:
        air = Air(Sighting("hall", ("127.0.0.1",), hall.port))
        satellites = opened(tmp_path, air)
        place = f"127.0.0.1:{kitchen.port}"
        told = await answer_of(satellites, AddSatellite(satellite=place, room="Kitchen", key=f" {key}\n"))
        assert told["done"] == "Kitchen (aa:bb:cc:00:00:01) is the satellite in the Kitchen now."
        await answer_of(satellites, AddSatellite(satellite="hall.local", key=key))
    kept = PairedList(tmp_path).read()
    assert kept == (
        Paired("aa:bb:cc:00:00:01", "kitchen", "Kitchen", "127.0.0.1", kitchen.port, key),
        Paired("aa:bb:cc:00:00:02", "hall", "", "127.0.0.1", hall.port, key),
    )
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [link.room for link in opened(tmp_path).links] == ["Kitchen", "hall"]
    assert key not in told_of(await answer_of(satellites, ListSatellites())) + told_of(told) + repr(kept)


async def test_a_device_without_encryption_is_paired_only_when_it_is_said_and_told(tmp_path: Path) -> None:
    async with SmallDevice() as device:
        place = f"127.0.0.1:{device.port}"
        with pytest.raises(SatelliteRefused, match="--without-key"):
            await answer_of(opened(tmp_path), AddSatellite(satellite=place))
        told = await answer_of(opened(tmp_path), AddSatellite(satellite=place, without_key=True))
    assert "whoever is in this network can listen to it" in str(told["done"])


async def test_what_cannot_be_paired_is_not_kept(tmp_path: Path) -> None:
    key = new_key()
    async with SmallDevice(key=key, manners=Manners(flags=VOICE)) as mute, SmallDevice(key=key) as device:
        satellites = opened(tmp_path)
        for port, wrong, sentence in [
            (mute.port, key, "cannot send sound"),
            (device.port, new_key(), "not the key of kitchen"),
            (device.port, "hello", "44 characters"),
        ]:
            with pytest.raises(SatelliteRefused, match=sentence):
                await answer_of(satellites, AddSatellite(satellite=f"127.0.0.1:{port}", key=wrong))
        with pytest.raises(SatelliteGone, match="attic is not announced"):
            await answer_of(satellites, AddSatellite(satellite="attic", key=key))
        with pytest.raises(SatelliteGone, match="is not reached"):
            await answer_of(satellites, AddSatellite(satellite="127.0.0.1:1", key=key))
    assert not (tmp_path / FILE).exists()


async def test_rooms_are_one_each_and_as_many_as_are_allowed(tmp_path: Path) -> None:
    kitchen, other = SmallDevice(), SmallDevice("other", "AA:BB:CC:00:00:02")
    async with kitchen, other:
        satellites = opened(tmp_path, most=1)
        first = AddSatellite(satellite=f"127.0.0.1:{kitchen.port}", room="Hall", without_key=True)
        await answer_of(satellites, first)
        second = AddSatellite(satellite=f"127.0.0.1:{other.port}", room="hall", without_key=True)
        with pytest.raises(SatelliteRefused, match="allows no more"):
            await answer_of(satellites, second)
        with pytest.raises(SatelliteRefused, match="in the room hall already"):
            await answer_of(opened(tmp_path), second)
        again = AddSatellite(satellite=f"127.0.0.1:{kitchen.port}", room="Kitchen", without_key=True)
        await answer_of(satellites, again)
        assert [link.room for link in satellites.links] == ["Kitchen"]


async def test_while_it_runs_devices_join_and_leave(tmp_path: Path) -> None:
    async with SmallDevice() as device:
        air, joined = Air(), Joined()
        satellites = opened(tmp_path, air)
        satellites.observe(joined)
        async with running(satellites):
            await asyncio.sleep(0)
            assert air.looks == 0  # nothing is asked of the network before one is paired
            request = AddSatellite(satellite=f"127.0.0.1:{device.port}", without_key=True)
            await answer_of(satellites, request)
            await joined.notes["kitchen"].until(("there", True))
            assert air.looks == 1
            status = satellites.describe()["paired"]
            assert "connected" in str(status)
            assert "2026.9.0" in str(status)
            told = await answer_of(satellites, RemoveSatellite(satellite="KITCHEN"))
            assert told["done"] == "kitchen (aa:bb:cc:00:00:01) is forgotten, its key too."
            assert joined.notes["kitchen"].told[-1] == ("there", False)
            assert joined.left_ == ["kitchen"]
            await device.until_open(0)
        assert PairedList(tmp_path).read() == ()
        with pytest.raises(SatelliteUnknown, match="no satellite is called kitchen"):
            satellites.find("kitchen")


@pytest.mark.parametrize("is_running", [True, False])
async def test_a_trial_plays_and_listens(tmp_path: Path, is_running: bool) -> None:
    async with SmallDevice() as device:
        satellites, joined = opened(tmp_path), Joined()
        satellites.observe(joined)
        await answer_of(satellites, AddSatellite(satellite=f"127.0.0.1:{device.port}", without_key=True))
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(satellites.run()) if is_running else None
            if is_running:
                await joined.notes["kitchen"].until(("there", True))
            trying = group.create_task(
                answer_of(satellites, TrySatellite(satellite="kitchen", wake_seconds=20.0)), name="trial"
            )
            assert (await device.played()).startswith(b"RIFF")
            await joined.notes["kitchen"].until(("there", True))
            joined.notes["kitchen"].takes = False
            await _woken_until_taken(device)
            device.hear(b"\x00\x20" * 2048)
            told = await trying
            if serving is not None:
                serving.cancel()
    report = told["satellite"]
    assert isinstance(report, dict)
    assert report["played"] == "it says that it played a sound"
    assert report["heard"] == "woken by okay nabu, its microphone gives sound (-12 dBFS at most)"
    assert "can be muted" in str(report["features"])


async def _woken_until_taken(device: SmallDevice) -> None:
    """Say the wake word until somebody takes it: a trial listens once its sound was played."""
    from aioesphomeapi.api_pb2 import VoiceAssistantResponse  # type: ignore[attr-defined]

    count, error = 0, True
    while error:
        count += 1
        device.wake()
        error = (await device.told(VoiceAssistantResponse, count)).error


async def test_a_trial_of_one_that_is_away_says_why(tmp_path: Path) -> None:
    PairedList(tmp_path).write((Paired("aa:bb:cc:00:00:01", "kitchen", "", "127.0.0.1", 1),))
    with pytest.raises(BaseExceptionGroup) as failure:
        await opened(tmp_path).try_out("kitchen")
    assert "127.0.0.1:1 is not reached" in str(failure.value.exceptions[0])


async def test_a_list_that_is_damaged_while_it_runs_is_told(tmp_path: Path) -> None:
    satellites = opened(tmp_path)
    assert await answer_of(satellites, ListSatellites()) == {"paired": [], "found": []}
    (tmp_path / FILE).write_text("[1")
    told = await answer_of(satellites, ListSatellites())
    assert "it is damaged; restore it from a backup" in str(told["problem"])


@pytest.mark.parametrize("content", [b"", b"{", b'{"satellites": [{"id": 3}]}', b"\xff\xfe"])
async def test_a_damaged_list_is_one_sentence_and_is_not_overwritten(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(SatellitesDamaged, match="it is damaged; restore it from a backup, or remove it"):
        PairedList(tmp_path).read()
    satellites = opened(tmp_path)
    line = judge_satellites(satellites.describe())
    assert line.verdict is Verdict.FAULT
    with pytest.raises(SatellitesDamaged):
        await answer_of(satellites, AddSatellite(satellite="127.0.0.1", without_key=True))
    assert (tmp_path / FILE).read_bytes() == content


def test_the_list_is_whole_after_a_write_that_failed(tmp_path: Path) -> None:
    kept = PairedList(tmp_path)
    first = Paired("aa:bb:cc:00:00:01", "kitchen", key=new_key())
    kept.write((first,))
    (tmp_path / f"{FILE}.new").mkdir()
    with pytest.raises(SatellitesDamaged, match="cannot be written: Is a directory"):
        kept.write(())
    assert kept.read() == (first,)


async def test_found_devices_are_those_that_may_hear_and_are_not_paired(tmp_path: Path) -> None:
    air = Air(
        Sighting("kitchen", ("192.168.1.7",), 6053, platform="ESP32", is_encrypted=True),
        Sighting("plug", ("192.168.1.8",), 6053, platform="ESP8266"),
        Sighting("old-pi", ("192.168.1.9",), 6053, platform="HOST"),
    )
    PairedList(tmp_path).write((Paired("aa:bb:cc:00:00:09", "old-pi"),))
    told = await answer_of(opened(tmp_path, air), ListSatellites(search=True))
    assert isinstance(told["found"], list)
    assert [each["name"] for each in told["found"] if isinstance(each, dict)] == ["kitchen"]
    assert air.looks == 1
    await answer_of(opened(tmp_path, air), ListSatellites())
    assert air.looks == 1


def test_what_is_sent_to_a_satellite_is_told(tmp_path: Path) -> None:
    sent = Paired("aa:bb:cc:00:00:01", "kitchen", address="192.168.1.7").sends_to
    assert [(each.what, each.to) for each in sent] == [
        ("what is said in the kitchen, and its state", "192.168.1.7:6053")
    ]
    assert not is_here(sent[0].to)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("192.168.1.7", ("192.168.1.7", 6053)),
        ("192.168.1.7:16053", ("192.168.1.7", 16053)),
        ("pi.home:6053", ("pi.home", 6053)),
        ("[fe80::1]:7000", ("fe80::1", 7000)),
        ("fe80::1", ("fe80::1", 6053)),
        ("kitchen", ("", 6053)),
        ("kitchen.local", ("", 6053)),
        ("aa:bb:cc:00:00:01", ("", 6053)),
    ],
)
def test_addresses_are_told_from_names(text: str, place: tuple[str, int]) -> None:
    assert split_address(text) == place


@pytest.mark.parametrize("text", ["a", "=" * 44, "AAAA", "ä" * 44])
def test_what_is_no_key_is_a_sentence(text: str) -> None:
    with pytest.raises(SatelliteRefused, match="44 characters"):
        key_of(text)


def test_the_doctor_tells_of_each() -> None:
    there: Json = {"room": "kitchen", "state": "connected", "firmware": "2026.9.0", "is_encrypted": True}
    away: Json = {"room": "hall", "state": "away", "reason": "nobody answers", "is_encrypted": False}
    assert judge_satellites({"paired": [there]}).verdict is Verdict.OK
    line = judge_satellites({"paired": [there, away]})
    assert line.verdict is Verdict.WARNING
    assert line.what == "kitchen connected (firmware 2026.9.0); hall away, speaks without encryption"
    assert line.fix == "hall: nobody answers"


def test_its_loop_is_named(tmp_path: Path) -> None:
    assert {*opened(tmp_path).loops()} <= {*LOOPS}


def test_nothing_is_loaded_for_satellites_before_one_is_dialled() -> None:
    program = "import appliance.api.requests.satellites, sys; print({'aioesphomeapi', 'zeroconf'} & {*sys.modules})"
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
