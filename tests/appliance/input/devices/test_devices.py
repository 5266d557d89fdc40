"""A box without sound devices: what looking for them costs, and how soon one that comes is used."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.input.devices.devices import Around, MicrophoneSupervision
from audio.capture.input import InputFormat, Taker
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import AGAIN_SECONDS, SLOW_SECONDS, Hotplug
from audio.devices.portaudio import DeviceList, SoundThread
from audio.errors import DeviceUnavailable
from audio.loops import running
from audio.playback.live import Filler, OutputFormat
from audio.playback.reopening import ReopeningOutput
from tests.room.virtual_time import EPOCH, run_virtually, until

HOUR = 3600.0


class CountedPortAudio:
    """PortAudio's module; counts how often it is opened anew."""

    def __init__(self) -> None:
        self.openings = 0

    def _terminate(self) -> None:
        pass

    def _initialize(self) -> None:
        self.openings += 1


class Microphone:
    """An `Input` that is there or not; whoever opens it looks for it in the list of devices first."""

    def __init__(self, box: "Box") -> None:
        self._box = box

    def open(self) -> InputFormat:
        self._box.look()
        return InputFormat("a microphone", 16_000, 1)

    def begin(self, take: Taker) -> None:
        self._box.opened.append("microphone")

    def close(self) -> None:
        pass


class Loudspeaker:
    """An `Output`, likewise."""

    def __init__(self, box: "Box") -> None:
        self._box = box

    def open(self) -> OutputFormat:
        self._box.look()
        return OutputFormat("a loudspeaker", 48_000, 0.06)

    def begin(self, fill: Filler) -> None:
        self._box.opened.append("loudspeaker")

    def close(self) -> None:
        pass


class Box:
    """A box without devices, until a test plugs both in; its supervision is the real one."""

    def __init__(self, folder: Path) -> None:
        self.devices = DeviceList(folder / "no cards")
        self.portaudio = CountedPortAudio()
        self.is_plugged = False
        self.opened: list[str] = []
        self._changed: Callable[[], None] = lambda: None

    def look(self) -> None:
        """Look for a device as the adapters do. Raises `DeviceUnavailable`."""
        self.devices.refresh(self.portaudio, is_missing=True)
        if not self.is_plugged:
            raise DeviceUnavailable("there is no such device on this machine; plug one in")

    def plug_in(self, *, is_told: bool) -> None:
        self.is_plugged = True
        if is_told:
            self._changed()

    async def word(self, changed: Callable[[], None]) -> None:
        """The system's word, a `HotplugSource`."""
        self._changed = changed
        await asyncio.Event().wait()

    async def live(self, seconds: float, then: Callable[[], None], after: float) -> None:
        """Supervise the missing devices for so long, and for a while `after` what a test does."""
        loop = asyncio.get_running_loop()
        hotplug = Hotplug({"a word": self.word}, self.devices)
        microphone = LiveMicrophone(Microphone(self), "a microphone", clock=loop.time, thread=SoundThread())
        supervision = MicrophoneSupervision(microphone, lambda fault: None, hotplug.wait, around=Around(loop.time))
        loudspeaker = ReopeningOutput(Loudspeaker(self), thread=SoundThread(), clock=loop.time)
        supervision.absent("there is no microphone")
        await asyncio.to_thread(loudspeaker.open)

        async def listen() -> None:
            async for _ in microphone.chunks():
                pass

        async with running(hotplug.loops()), asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(supervision.keep(listen, lambda: None)),
                group.create_task(loudspeaker.run(hotplug.wait)),
            ]
            await until(EPOCH + seconds)
            then()
            await until(EPOCH + seconds + after)
            for each in tasks:
                each.cancel()


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


@pytest.mark.shows("V3", "H9")
def test_without_a_word_portaudio_is_opened_once_a_minute_for_each_missing_device(box: Box) -> None:
    run_virtually(box.live(HOUR, then=lambda: None, after=0.0))
    assert box.portaudio.openings <= 2 * (HOUR / SLOW_SECONDS + 2)


@pytest.mark.shows("V3")
def test_what_the_system_tells_of_is_open_within_ten_seconds(box: Box) -> None:
    run_virtually(box.live(HOUR + 5.0, then=lambda: box.plug_in(is_told=True), after=AGAIN_SECONDS))
    assert set(box.opened) == {"loudspeaker", "microphone"}


@pytest.mark.shows("V3")
def test_what_nobody_tells_of_is_open_within_the_slow_look(box: Box) -> None:
    run_virtually(box.live(HOUR + 5.0, then=lambda: box.plug_in(is_told=False), after=SLOW_SECONDS))
    assert set(box.opened) == {"loudspeaker", "microphone"}
