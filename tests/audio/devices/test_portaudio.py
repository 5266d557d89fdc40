"""The one thread for what may hang, and when the list of devices may be read anew."""

import asyncio
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from audio.devices.hotplug import RETRY_PAUSES
from audio.devices.portaudio import (
    FRESH_SECONDS,
    LATEST_FORCED,
    SOONEST_FORCED,
    WAITING_JOBS,
    DeviceList,
    SoundThread,
    finish,
)
from audio.errors import DeviceUnavailable


@pytest.mark.shows("V3")
async def test_a_job_that_hangs_costs_one_thread_and_holds_up_nobody_but_those_behind_it() -> None:
    thread, frozen = SoundThread(), threading.Event()
    loop, before = asyncio.get_running_loop(), threading.active_count()
    stuck = loop.run_in_executor(thread, frozen.wait)
    behind = loop.run_in_executor(thread, threading.get_ident)
    assert threading.active_count() == before + 1
    assert thread.is_at_work
    with pytest.raises(DeviceUnavailable, match="does not answer; restart the sound server"):
        await asyncio.to_thread(thread.call, frozen.wait, 0.01)
    frozen.set()
    assert await stuck
    assert await behind == await loop.run_in_executor(thread, threading.get_ident), "the thread is used again"


async def test_more_jobs_than_may_wait_are_refused() -> None:
    thread, frozen, begun = SoundThread(), threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        frozen.wait()

    first = thread.submit(hang)
    await asyncio.to_thread(begun.wait, 10)
    waiting = [thread.submit(int) for _ in range(WAITING_JOBS)]
    with pytest.raises(DeviceUnavailable):
        thread.submit(int)
    frozen.set()
    await asyncio.wrap_future(first)
    assert [await asyncio.wrap_future(each) for each in waiting] == [0] * WAITING_JOBS


async def test_a_job_that_nobody_waits_for_any_more_is_not_begun() -> None:
    thread, frozen, done = SoundThread(), threading.Event(), threading.Event()
    thread.submit(frozen.wait)
    thread.submit(done.set).cancel()
    frozen.set()
    await asyncio.wrap_future(thread.submit(int))
    assert not done.is_set()


async def test_what_a_job_raises_is_raised_to_whoever_waits() -> None:
    def fail() -> None:
        raise DeviceUnavailable("no such device")

    with pytest.raises(DeviceUnavailable, match="no such device"):
        await asyncio.get_running_loop().run_in_executor(SoundThread(), fail)


class Module:
    """PortAudio's module, as far as the list goes."""

    def __init__(self) -> None:
        self.read = 0
        self.is_open = True
        self.refuses = False

    def _terminate(self) -> None:
        assert self.is_open, "PortAudio not initialized"
        self.read += 1
        self.is_open = False

    def _initialize(self) -> None:
        if self.refuses:
            raise ConnectionError("unanticipated host error")
        self.is_open = True


class OpenStream:
    """A stream of a script."""

    def __init__(self, *, idle: bool = True) -> None:
        self.idle = idle
        self.given_up = 0

    def is_idle(self) -> bool:
        return self.idle

    def give_up(self) -> None:
        self.given_up += 1


class Setting:
    """A list, its module, its hardware and its clock."""

    def __init__(self, folder: Path) -> None:
        self.cards = folder / "cards"
        self.cards.write_text("one card")
        self.now = 1000.0
        self.module = Module()
        self.list = DeviceList(self.cards, lambda: self.now)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


@pytest.mark.shows("V3")
def test_the_list_is_read_anew_while_no_stream_lives_and_not_while_one_does(setting: Setting) -> None:
    stream = OpenStream()
    setting.list.refresh(setting.module)
    setting.list.opened(stream)
    setting.list.refresh(setting.module)
    assert (setting.module.read, stream.given_up) == (1, 0)
    setting.list.closed(stream)
    setting.list.closed(stream)
    setting.now += FRESH_SECONDS
    setting.list.refresh(setting.module)
    assert setting.module.read == 2


@pytest.mark.shows("V3", "H9")
def test_both_directions_that_look_in_the_same_moment_read_the_list_once(setting: Setting) -> None:
    looks = []
    for pause in (0.0, 0.05, min(RETRY_PAUSES), 0.05):
        setting.now += pause
        looks.append(setting.list.refresh(setting.module))
    assert looks == [True] * 4
    assert setting.module.read == 2
    setting.cards.write_text("another card")
    setting.list.refresh(setting.module)
    assert setting.module.read == 3, "what was plugged in meanwhile is not in the list"


@pytest.mark.shows("V3", "H9")
def test_what_the_import_read_just_now_is_not_read_again(setting: Setting) -> None:
    setting.list.imported()
    assert setting.list.refresh(setting.module)
    assert setting.module.read == 0
    setting.now += FRESH_SECONDS
    setting.list.refresh(setting.module)
    assert setting.module.read == 1
    setting.list.imported()
    setting.cards.write_text("another card")
    setting.list.refresh(setting.module)
    assert setting.module.read == 2, "what was plugged in since the import is not in the list"


@pytest.mark.shows("V3")
def test_a_sound_system_that_refuses_for_a_while_is_opened_when_it_no_longer_does(setting: Setting) -> None:
    setting.module.refuses = True
    for _ in range(2):
        with pytest.raises(ConnectionError):
            setting.list.refresh(setting.module)
    setting.module.refuses = False
    setting.list.refresh(setting.module)
    assert setting.module.is_open


@pytest.mark.shows("V3")
def test_new_hardware_is_worth_a_gap_in_the_streams(setting: Setting) -> None:
    busy = OpenStream(idle=False)
    setting.list.opened(busy)
    setting.cards.write_text("one card\nand one that was plugged in")
    setting.list.refresh(setting.module)
    setting.list.opened(busy)
    setting.list.refresh(setting.module)
    assert (setting.module.read, busy.given_up) == (1, 1)


@pytest.mark.shows("V3")
def test_for_a_missing_device_idle_streams_are_given_up_ever_less_often(setting: Setting) -> None:
    looks = []
    for second in range(1200):
        setting.now = 1000.0 + second
        setting.list.opened(OpenStream())
        before = setting.module.read
        setting.list.refresh(setting.module, is_missing=True)
        looks += [second] if setting.module.read > before else []
    steps = [later - earlier for earlier, later in pairwise(looks)]
    assert looks[0] == 0
    assert steps[0] <= 2 * SOONEST_FORCED
    assert steps == sorted(steps)
    assert max(steps) <= LATEST_FORCED


@pytest.mark.shows("V3")
def test_a_change_that_the_system_tells_of_is_worth_two_readings_at_once(setting: Setting) -> None:
    def reads() -> bool:
        setting.list.opened(OpenStream())
        return setting.list.refresh(setting.module, is_missing=True)

    assert [reads(), reads()] == [True, False]
    setting.list.expect_change()
    assert [reads(), reads(), reads()] == [True, True, False]


def test_a_busy_stream_is_never_given_up_for_a_missing_device(setting: Setting) -> None:
    busy = OpenStream(idle=False)
    setting.list.opened(busy)
    setting.list.refresh(setting.module, is_missing=True)
    assert (setting.module.read, busy.given_up) == (0, 0)


def test_without_alsa_there_is_no_hardware_to_change(tmp_path: Path) -> None:
    module, devices = Module(), DeviceList(tmp_path / "none")
    devices.opened(OpenStream())
    devices.refresh(module)
    assert module.read == 0


def test_the_exit_waits_for_a_call_that_comes_back_and_not_for_one_that_hangs() -> None:
    thread, frozen, begun = SoundThread(), threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        frozen.wait()

    called = thread.submit(hang)
    begun.wait()
    finish(thread, 0.01)
    assert not called.done()
    thaw = threading.Timer(0.0, frozen.set)
    thaw.start()
    finish(thread, 30.0)
    assert called.done()
    thaw.join()
