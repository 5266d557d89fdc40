"""A paired device against a small one that speaks the native API: what passes, what is refused, what goes wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from appliance.satellites.errors import SatelliteGone, SatelliteRefused
from appliance.satellites.esphome import EspHome
from appliance.satellites.interfaces import NOBODY, Dial, PlayedFormat, VoiceEvent
from appliance.satellites.link import Link
from appliance.satellites.paired import Paired
from appliance.satellites.sightings import Sighting
from appliance.satellites.trial import served
from audio.playback.earcons import bell
from tests.satellites.device import ALL, API_AUDIO, SPEAKER, VOICE, Fault, Manners, SmallDevice, new_key, pb
from tests.satellites.observer import Notes

MAC = "aa:bb:cc:00:00:01"

dial = EspHome()

pytestmark = pytest.mark.shows("V28", "X15")


def paired_with(device: SmallDevice, **other: object) -> Paired:
    told = Paired(MAC, device.name, "Kitchen", "127.0.0.1", device.port, device.key)
    return replace(told, **other)


@asynccontextmanager
async def running(paired: Paired, dial: Dial = dial) -> AsyncIterator[tuple[Link, Notes, list[Paired]]]:
    kept: list[Paired] = []

    async def keep(changed: Paired) -> None:
        kept.append(changed)

    link, notes = Link(paired, dial, keep), Notes()
    link.observe(notes)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(link.run())
        yield link, notes, kept
        task.cancel()


@pytest.mark.parametrize("is_encrypted", [True, False])
async def test_wakes_sound_and_steps_pass(is_encrypted: bool) -> None:
    async with SmallDevice(key=new_key() if is_encrypted else "") as device:
        async with running(paired_with(device)) as (link, notes, _):
            await notes.until(("volume", 0.5))
            assert link.is_there
            assert link.local_address == "127.0.0.1"
            assert link.features.wake_words == ("Okay Nabu",)
            assert link.features.formats[1] == PlayedFormat("flac", 48000, 1, is_for_announcements=True)
            assert link.features.has_mute
            assert link.features.has_player
            assert link.features.start_conversation
            device.wake("okay nabu")
            assert not (await device.told(pb.VoiceAssistantResponse)).error
            pcm = bytes(range(256)) * 20
            device.hear(pcm)
            await notes.until_so(lambda: len(notes.heard) == len(pcm))
            assert notes.heard == pcm
            link.tell(VoiceEvent.STT_END, {"text": "what time is it"})
            assert await device.told_event(VoiceEvent.STT_END) == {"text": "what time is it"}
            device.end_stream()
            await notes.until(("stopped", False))
            device.abort()
            await notes.until(("stopped", True))
            link.set_volume(0.25)
            await notes.until(("volume", 0.25))
            link.set_muted(True)
            await notes.until(("muted", True))
        await notes.until(("there", False))
    assert notes.told[:4] == [("there", True), ("volume", 0.5), ("muted", False), ("wake", "okay nabu", False)]


async def test_refusing_a_wake_is_told_to_the_device() -> None:
    async with SmallDevice() as device, running(paired_with(device)) as (_, notes, _):
        await notes.until(("there", True))
        notes.takes = False
        device.wake()
        assert (await device.told(pb.VoiceAssistantResponse)).error


async def test_an_announcement_lasts_as_long_as_its_playback_and_is_not_told_as_a_reply() -> None:
    async with SmallDevice() as device, running(paired_with(device)) as (link, notes, _):
        await notes.until(("there", True))
        async with served("127.0.0.1") as url:
            await link.announce(url, "dinner is ready", start_conversation=True)
        assert len(device.bodies) == 1
        assert len(device.bodies[0]) == 44 + 4 * 2 * len(bell().samples)  # WAV, two channels, twice the rate
        await notes.until(("wake", "", True))  # its microphone opened again
        async with served("127.0.0.1") as url:
            link.tell(VoiceEvent.TTS_END, {"url": url})
            await notes.until("finished")
        assert notes.told.count("finished") == 1


async def test_a_button_is_no_answer_to_a_reply() -> None:
    async with SmallDevice() as device, running(paired_with(device)) as (_, notes, _):
        await notes.until(("there", True))
        device.wake("")
        await notes.until(("wake", "", False))


async def test_an_announcement_ends_with_the_device() -> None:
    async with SmallDevice() as device, running(paired_with(device)) as (link, notes, _):
        await notes.until(("there", True))
        device.hold_playback()
        async with served("127.0.0.1") as url, asyncio.TaskGroup() as group:
            told = group.create_task(_failure_of(link, url))
            await device.plays()
            await device.unplug()
            assert "kitchen" in await told
        await notes.until(("there", False))
        with pytest.raises(SatelliteGone, match="is not there"):
            await link.announce("http://127.0.0.1/", "")


async def _failure_of(link: Link, url: str) -> str:
    with pytest.raises(SatelliteGone) as failure:
        await link.announce(url, "")
    return str(failure.value)


async def test_a_stop_ends_a_playback() -> None:
    async with SmallDevice() as device, running(paired_with(device)) as (link, notes, _):
        await notes.until(("there", True))
        device.hold_playback()
        async with served("127.0.0.1") as url, asyncio.TaskGroup() as group:
            playing = group.create_task(link.announce(url, ""))
            await device.plays()
            link.stop_media()
            await playing


async def test_a_device_that_is_back_is_noticed_by_its_announcement() -> None:
    async with SmallDevice() as device, running(paired_with(device)) as (link, notes, _):
        await notes.until(("there", True))
        await device.unplug()
        await notes.until(("there", False))
        await device.plug_in()
        link.seen(Sighting("kitchen", ("127.0.0.1",), device.port))
        await notes.until(("there", True), 2)


async def test_new_firmware_and_a_new_name_are_taken_and_kept() -> None:
    async with SmallDevice(manners=Manners(flags=VOICE | API_AUDIO)) as device, running(paired_with(device)) as found:
        link, notes, kept = found
        await notes.until(("there", True))
        assert not kept
        device.manners.flags, device.name = ALL | SPEAKER, "kitchen-2"
        device.drop()
        await notes.until(("there", True), 2)
        assert link.features.announce
        assert link.features.speaker
        assert [each.name for each in kept] == ["kitchen-2"]
        assert link.room == "Kitchen"


async def test_an_address_that_changed_is_found_by_mdns_and_kept() -> None:
    async with SmallDevice() as device, running(paired_with(device, port=1)) as (link, notes, kept):
        await link.settled.wait()
        link.seen(Sighting("kitchen", ("127.0.0.1",), device.port))
        await notes.until(("there", True))
        assert kept[0].port == device.port


async def test_another_device_under_the_name_is_refused_and_the_right_one_found() -> None:
    key = new_key()
    liar, device = SmallDevice(key=key, mac="AA:BB:CC:00:00:02"), SmallDevice(key=key)
    async with liar, device, running(paired_with(liar)) as (link, notes, _):
        await link.settled.wait()
        assert "another device: kitchen (aa:bb:cc:00:00:02), not aa:bb:cc:00:00:01" in str(link.describe())
        assert not liar.messages  # nothing was asked of it, nothing told
        link.seen(Sighting("kitchen", ("127.0.0.1",), device.port, mac=MAC))
        await notes.until(("there", True))
        assert link.paired.port == device.port


async def test_another_device_without_encryption_is_refused_before_it_hears_anything() -> None:
    async with SmallDevice(mac="AA:BB:CC:00:00:02") as liar:
        with pytest.raises(SatelliteRefused, match="is another device"):
            await dial("127.0.0.1", liar.port, "", MAC)
        assert not [each for each in liar.messages if isinstance(each, pb.SubscribeVoiceAssistantRequest)]


async def test_announcements_of_others_are_not_followed() -> None:
    async with SmallDevice() as device, running(paired_with(device, port=1)) as (link, _, _):
        await link.settled.wait()
        link.seen(Sighting("bedroom", ("127.0.0.1",), device.port))
        link.seen(Sighting("kitchen", ("127.0.0.1",), device.port, mac="aa:bb:cc:00:00:09"))
        assert link._places() == [("127.0.0.1", 1)]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (Fault.CUT_HANDSHAKE, "is not reached|broke off|native API"),
        (Fault.GARBAGE, "does not speak ESPHome's native API"),
        (Fault.CLOSES_AFTER_LOGIN, "is not reached|broke off|hung up"),
    ],
)
@pytest.mark.parametrize("is_encrypted", [True, False])
async def test_faults_of_a_connection_are_sentences(fault: Fault, sentence: str, is_encrypted: bool) -> None:
    async with SmallDevice(key=new_key() if is_encrypted else "", manners=Manners(fault)) as device:
        with pytest.raises((SatelliteGone, SatelliteRefused), match=sentence):
            await dial("127.0.0.1", device.port, device.key, MAC)
        await device.until_open(0)


@pytest.mark.parametrize("fault", [Fault.SAYS_NOTHING, Fault.ENDLESS_FRAME])
@pytest.mark.parametrize("is_encrypted", [True, False])
async def test_a_device_that_never_answers_is_given_up(fault: Fault, is_encrypted: bool) -> None:
    async with SmallDevice(key=new_key() if is_encrypted else "", manners=Manners(fault)) as device:
        with pytest.raises(SatelliteGone, match="does not answer in time"):
            await EspHome(connect_seconds=0.3)("127.0.0.1", device.port, device.key, MAC)
        await device.until_open(0)


async def test_a_device_that_answers_no_ping_is_away() -> None:
    hurried = EspHome(ping_seconds=0.05)
    async with SmallDevice(manners=Manners(Fault.NO_PONG)) as device, running(paired_with(device), hurried) as found:
        _, notes, _ = found
        await notes.until(("there", True))
        await notes.until(("there", False))


async def test_a_wrong_key_is_told_with_name_address_and_where_it_is_found() -> None:
    key = new_key()
    async with SmallDevice(key=key) as device:
        other = new_key()
        with pytest.raises(SatelliteRefused) as refused:
            await dial("127.0.0.1", device.port, other, MAC)
        told = str(refused.value)
        assert "kitchen (aa:bb:cc:00:00:01)" in told
        assert "api: encryption: key" in told
        assert other not in told
        assert key not in told


async def test_encryption_is_never_given_up_and_never_silently_wanted() -> None:
    async with SmallDevice() as open_one, SmallDevice(key=new_key()) as device:
        with pytest.raises(SatelliteRefused, match="knows no encryption"):
            await dial("127.0.0.1", open_one.port, new_key(), MAC)
        with pytest.raises(SatelliteRefused, match="wants its key"):
            await dial("127.0.0.1", device.port, "", MAC)


@pytest.mark.parametrize(("flags", "sentence"), [(0, "no voice assistant"), (VOICE | SPEAKER, "cannot send sound")])
async def test_devices_whose_voice_cannot_be_had_are_refused(flags: int, sentence: str) -> None:
    async with SmallDevice(manners=Manners(flags=flags)) as device:
        with pytest.raises(SatelliteRefused, match=sentence):
            await dial("127.0.0.1", device.port, "", "")


async def test_a_voice_that_another_program_has_is_refused_and_taken_when_it_is_free() -> None:
    async with SmallDevice() as device:
        first = await dial("127.0.0.1", device.port, "", MAC)
        await first.listen(NOBODY)
        second = await dial("127.0.0.1", device.port, "", MAC)
        with pytest.raises(SatelliteRefused, match="to another program, such as Home Assistant"):
            await second.listen(NOBODY)
        await second.close()
        await first.close()
        third = await dial("127.0.0.1", device.port, "", MAC)
        assert (await third.listen(NOBODY)).has_microphone
        await third.close()
