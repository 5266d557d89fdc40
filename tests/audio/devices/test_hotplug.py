"""The word of the system that devices came or went: when it makes somebody look, and where it comes from."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from audio.devices.hotplug import (
    AGAIN_SECONDS,
    CONNECT_SECONDS,
    QUICK_TRIES,
    SETTLE_SECONDS,
    SLOW_SECONDS,
    Hotplug,
    ServerChanges,
    folder_changes,
)
from audio.devices.portaudio import DeviceList
from audio.loops import running
from tests.room.virtual_sound import virtual_sound
from tests.room.virtual_time import EPOCH, passed, run_virtually, until


class Word:
    """A `HotplugSource` that tells of a change at given seconds."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = seconds
        self.runs = 0
        self.is_watching = False

    async def __call__(self, changed: Callable[[], None]) -> None:
        self.runs, self.is_watching = self.runs + 1, True
        try:
            for at in self._seconds:
                await until(EPOCH + at)
                changed()
            await asyncio.Event().wait()
        finally:
            self.is_watching = False


async def looks_of(hotplug: Hotplug, until_seconds: float, look_seconds: float = 0.0) -> list[float]:
    """Return the seconds at which somebody who misses a device looks for it."""
    loop, looks = asyncio.get_running_loop(), list[float]()
    with suppress(TimeoutError):
        async with asyncio.timeout_at(EPOCH + until_seconds):
            while True:
                await hotplug.wait()
                looks.append(round(loop.time() - EPOCH, 3))
                await passed(look_seconds)
    return looks


async def all_looks(word: Word, until_seconds: float, look_seconds: float = 0.0, waiting: int = 1) -> list[list[float]]:
    """Return the looks of each of some who miss a device."""
    hotplug = Hotplug({"a word": word}, DeviceList())
    async with running(hotplug.loops()):
        return list(await asyncio.gather(*(looks_of(hotplug, until_seconds, look_seconds) for _ in range(waiting))))


def looks(*words: float, until_seconds: float = 190.0, look_seconds: float = 0.0) -> list[float]:
    return run_virtually(all_looks(Word(*words), until_seconds, look_seconds))[0]


@pytest.mark.shows("V3", "H9")
def test_without_a_word_a_missing_device_is_looked_for_once_a_minute() -> None:
    assert looks() == [SLOW_SECONDS, 2 * SLOW_SECONDS, 3 * SLOW_SECONDS]


@pytest.mark.shows("V3")
def test_a_word_is_followed_by_two_looks() -> None:
    told = [10 + SETTLE_SECONDS, 10 + AGAIN_SECONDS]
    assert looks(10.0) == [*told, told[-1] + SLOW_SECONDS, told[-1] + 2 * SLOW_SECONDS]
    assert max(told) < 20.0, "what is plugged in is taken up within ten seconds"


def test_many_words_at_once_are_one() -> None:
    assert looks(10.0, 10.1, 10.2, 10.9, until_seconds=60.0) == [10.9 + SETTLE_SECONDS, 10.9 + AGAIN_SECONDS]


def test_words_that_never_end_cost_no_more_than_silence() -> None:
    assert looks(*(number / 2 for number in range(400)), until_seconds=130.0) == [SLOW_SECONDS, 2 * SLOW_SECONDS]


def test_a_word_that_comes_during_a_look_is_not_lost() -> None:
    assert looks(SLOW_SECONDS + 0.5, until_seconds=100.0, look_seconds=3.0) == [60.0, 65.5]


def test_whoever_waits_is_told() -> None:
    assert run_virtually(all_looks(Word(5.0), 30.0, waiting=2)) == [[5 + SETTLE_SECONDS, 5 + AGAIN_SECONDS]] * 2


def test_nothing_is_watched_while_no_device_is_missing() -> None:
    word = Word()
    hotplug = Hotplug({"a word": word}, DeviceList())

    async def main() -> list[tuple[int, bool]]:
        states = list[tuple[int, bool]]()
        async with running(hotplug.loops()):
            for waits in (0, 1, 0, 1):
                async with asyncio.TaskGroup() as missing:
                    waiting = [missing.create_task(hotplug.wait()) for _ in range(waits)]
                    await passed(1.0)
                    states.append((word.runs, word.is_watching))
                    for each in waiting:
                        each.cancel()
                await passed(3 * SLOW_SECONDS)
        return states

    assert run_virtually(main()) == [(0, False), (1, True), (1, False), (2, True)]


class Words:
    """Counts the words of a real source, and waits for them."""

    def __init__(self) -> None:
        self.count = 0
        self._told = asyncio.Event()

    def changed(self) -> None:
        self.count += 1
        self._told.set()

    async def next(self) -> None:
        """Return at a word that no other call has waited for."""
        async with asyncio.timeout(120):
            await self._told.wait()
        self._told.clear()


@pytest.mark.shows("V3")
async def test_a_real_folder_tells_of_cards_and_of_their_rights(tmp_path: Path) -> None:
    words, folder = Words(), tmp_path / "snd"
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(folder_changes(words.changed, folder))
        await words.next()
        (tmp_path / "no sound").mkdir()
        folder.mkdir()
        await words.next()
        assert words.count == 2, "another folder beside it is no word"
        card = folder / "pcmC1D0c"
        card.touch(0o600)
        await words.next()
        card.chmod(0o660)
        await words.next()
        told = words.count
        card.read_bytes()
        card.unlink()
        await words.next()
        assert words.count == told + 1, "who only opens a card changes nothing"
        folder.rmdir()
        await words.next()
        watching.cancel()


async def test_a_folder_that_cannot_be_watched_is_silent(tmp_path: Path) -> None:
    words = Words()
    await folder_changes(words.changed, tmp_path / "none" / "snd")
    assert words.count == 0


class Printing:
    """Runs `ServerChanges` on programs that print."""

    def __init__(self, command: Sequence[str], tries: int = 2) -> None:
        self.words = 0
        self.slept: list[float] = []
        self._tries = tries
        self._source = ServerChanges(command, self._sleep)

    async def run(self) -> None:
        with suppress(TimeoutError):
            await self._source(self._changed)

    def _changed(self) -> None:
        self.words += 1

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self._tries:
            raise TimeoutError


@pytest.mark.parametrize(
    ("line", "is_change"),
    [
        ("Event 'new' on source #3", True),
        ("Event 'remove' on sink #1", True),
        ("Event 'new' on card #0", True),
        ("Event 'change' on server #-1", True),
        ("Event 'change' on source #3", False),
        ("Event 'new' on source-output #7", False),
        ("Event 'remove' on sink-input #7", False),
        ("Event 'new' on client #12", False),
    ],
)
async def test_only_devices_are_a_word_and_not_our_own_streams(line: str, is_change: bool) -> None:
    printing = Printing(["echo", line])
    await printing.run()
    assert printing.words == 2 * is_change
    assert printing.slept == [CONNECT_SECONDS] * 2, "a server that ended is asked for again"


@pytest.mark.shows("H9")
async def test_a_server_that_never_answers_is_asked_for_ever_more_rarely() -> None:
    printing = Printing(["false"], QUICK_TRIES + 5)
    await printing.run()
    assert printing.slept[:QUICK_TRIES] == [CONNECT_SECONDS] * QUICK_TRIES
    assert printing.slept[QUICK_TRIES:] == [6.0, 12.0, 24.0, 48.0, SLOW_SECONDS]


@pytest.mark.parametrize("command", [["env", "no-such-program"], ["/no/such/program"]])
async def test_without_the_program_nobody_is_asked_again(command: list[str]) -> None:
    printing = Printing(command)
    await printing.run()
    assert (printing.words, printing.slept) == (0, [])


@pytest.mark.sound
@pytest.mark.shows("V3")
async def test_a_real_sound_server_tells_that_it_came_and_of_its_devices() -> None:
    words = Words()
    with virtual_sound() as card:
        command = ["env", *(f"{name}={value}" for name, value in card.environment.items()), "pactl", "subscribe"]
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(ServerChanges(command)(words.changed))
            await words.next()
            await asyncio.to_thread(card.load, "module-null-source", "source_name=other")
            await words.next()
            watching.cancel()
