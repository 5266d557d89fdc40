"""A link to linux-voice-assistant itself, on a virtual sound card: paired, played at, turned down, muted, unplugged."""

import asyncio
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.api.requests.satellites import AddSatellite, TrySatellite, answer_of
from appliance.satellites.errors import SatelliteGone
from appliance.satellites.esphome import EspHome
from appliance.satellites.link import Link
from appliance.satellites.paired import PairedList
from appliance.satellites.satellites import Limits, Satellites
from appliance.satellites.sightings import Sighting
from appliance.satellites.trial import served
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.satellites.linux_voice_assistant import Running, linux_voice_assistant, why_not
from tests.satellites.observer import Notes
from tests.satellites.test_satellites import Air

WHY_NOT = why_not()

pytestmark = [
    pytest.mark.sound,
    pytest.mark.shows("V28", "X15"),
    pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or ""),
]


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


def loudness(recording: Path) -> float:
    """Return the root of the mean square, of 32768."""
    with wave.open(str(recording)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(np.float64)
    return float(np.sqrt(np.mean(samples**2))) if len(samples) else 0.0


async def test_the_real_device_is_paired_plays_obeys_and_comes_back(card: VirtualSound, tmp_path: Path) -> None:
    satellites = Satellites(PairedList(tmp_path), EspHome(), Air().look, Limits(8, 0, 0.0, 0.1))
    with linux_voice_assistant(card) as device:
        place = AddSatellite(satellite=f"127.0.0.1:{device.port}", room="Kitchen", without_key=True)
        told = await answer_of(satellites, place)
        assert "(02:00:00:00:00:01) is the satellite in the Kitchen now" in str(told["done"])
        with card.recording(tmp_path / "heard.wav"):
            tried = await answer_of(satellites, TrySatellite(satellite="Kitchen"))
        assert "it says that it played a sound" in str(tried)
        assert loudness(tmp_path / "heard.wav") > 300
        link = satellites.find("Kitchen")
        link.observe(notes := Notes())
        async with asyncio.TaskGroup() as group:
            running = group.create_task(satellites.run())
            await notes.until(("muted", False))
            assert link.features.has_player
            assert link.features.timers
            assert link.features.wake_words == ("Alexa",)
            link.set_volume(0.4)
            await notes.until(("volume", 0.4))
            link.set_muted(True)
            await notes.until(("muted", True))
            await _unplugged_while_it_plays(device, satellites, notes)
            with linux_voice_assistant(card, port=device.port) as again:
                link.seen(Sighting("lva-020000000001", ("127.0.0.1",), again.port, again.mac))
                await notes.until(("there", True), 2)
            running.cancel()


async def _unplugged_while_it_plays(device: Running, satellites: Satellites, notes: Notes) -> None:
    link = satellites.find("Kitchen")
    async with served(link.local_address) as url, asyncio.TaskGroup() as group:
        failing = group.create_task(_failure_of(link, url))
        await asyncio.to_thread(device.unplug)
        assert "lva-020000000001" in await failing
    await notes.until(("there", False))


async def _failure_of(link: Link, url: str) -> str:
    with pytest.raises(SatelliteGone) as failure:
        await link.announce(url, "")
    return str(failure.value)
