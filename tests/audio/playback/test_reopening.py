"""A loudspeaker that comes and goes, by an output that a test plugs in and out."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from audio.devices.hotplug import RETRY_PAUSES
from audio.devices.portaudio import SoundThread
from audio.errors import DeviceUnavailable
from audio.pcm import Samples
from audio.playback.live import Filler, LivePlayer, OutputFormat
from audio.playback.reopening import DEAD_SECONDS, KEPT_SECONDS, LOOK_SECONDS, PlayedSound, ReopeningOutput
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import is_tone, note


class Socket:
    """An `Output` that is plugged in or not; its callbacks are a test's."""

    def __init__(self, rate: int = 48_000, *, plugged: bool = True) -> None:
        self.rate = rate
        self.plugged = plugged
        self.fill: Filler | None = None
        self.log: list[str] = []
        self.may_close = threading.Event()
        self.may_close.set()

    def open(self) -> OutputFormat:
        self.log.append("open")
        if not self.plugged:
            raise DeviceUnavailable("there is no loudspeaker: plug one in")
        return OutputFormat(f"a card at {self.rate} Hz", self.rate, 0.05)

    def begin(self, fill: Filler) -> None:
        self.log.append("begin")
        self.fill = fill

    def close(self) -> None:
        self.may_close.wait(10)
        self.fill = None

    def turn(self, seconds: float) -> Samples:
        """Return what is played next."""
        assert self.fill is not None
        out = np.full(round(seconds * self.rate), -1, np.int16)
        self.fill(out, 0.05)
        return out


class Room:
    """A loudspeaker, its player, and a clock that moves by looking."""

    def __init__(self, socket: Socket) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.socket = socket
        self.output = ReopeningOutput(socket, thread=SoundThread(), clock=lambda: self.now, sleep=self._sleep)
        self.player = LivePlayer(self.output, "wanted", clock=lambda: self.now)
        self.changes: list[bool] = []
        self.output.observe(self._changed)
        self._change = asyncio.Event()
        self.plug_in_after = 0
        """Looks until it is plugged in; 0 for never."""
        self.looks = 0
        """Times that a look was waited for."""
        self.stops_when_reopened = False
        self.is_reopened = asyncio.Event()

    async def _sleep(self, seconds: float) -> None:
        if self.stops_when_reopened and self.socket.log.count("begin") > 1:
            self.is_reopened.set()
            await asyncio.Event().wait()
        self.slept.append(seconds)
        self.now += seconds
        if self.plug_in_after and len(self.slept) >= self.plug_in_after:
            self.socket.plugged = True
        await asyncio.sleep(0)

    async def _next_look(self) -> None:
        self.looks += 1
        await self._sleep(60.0)

    def _changed(self, is_there: bool) -> None:
        self.changes.append(is_there)
        self._change.set()

    async def until_change(self) -> None:
        await self._change.wait()
        self._change.clear()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            watching = group.create_task(self.output.run(self._next_look))
            yield
            watching.cancel()


def sound(hertz: float = 440, seconds: float = 0.3, rate: int = 48_000) -> SpeechAudio:
    return SpeechAudio(note(hertz, seconds, rate), rate)


@pytest.mark.shows("V3")
async def test_a_card_that_asks_for_nothing_is_opened_again_and_plays_what_is_new() -> None:
    room = Room(Socket())
    await room.player.start()
    await room.player.play(sound())
    async with room.watched():
        await room.until_change()
        await room.until_change()
    assert room.changes == [False, True]
    assert room.slept[0] == LOOK_SECONDS
    assert sum(room.slept) >= DEAD_SECONDS
    assert room.output.describe() == {"device": "a card at 48000 Hz", "state": "open", "times_lost": 1}
    room.player.stop()
    await room.player.play(sound(880))
    assert is_tone(room.socket.turn(0.3), 48_000, 880)


@pytest.mark.shows("V3")
async def test_without_one_nothing_is_heard_and_said_to_be_heard() -> None:
    room = Room(Socket(plugged=False))
    await room.player.start()
    assert not room.output.is_there
    assert room.output.describe()["reason"] == "there is no loudspeaker: plug one in"
    room.now += 60
    await room.player.play(sound())
    with pytest.raises(DeviceUnavailable, match="takes no more sound"):
        await room.player.drain()


@pytest.mark.shows("V3")
async def test_one_that_is_plugged_in_later_is_looked_for_on_the_systems_word_only() -> None:
    room = Room(Socket(plugged=False))
    room.plug_in_after = 12
    await room.player.start()
    async with room.watched():
        await room.until_change()
    assert room.changes == [True]
    assert room.slept[:12] == [LOOK_SECONDS, *[60.0] * 11]
    assert room.looks == 11
    assert room.socket.log.count("begin") == 1


@pytest.mark.shows("V3")
async def test_one_that_was_lost_is_looked_for_soon_and_then_on_the_systems_word() -> None:
    room = Room(Socket())
    await room.player.start()
    room.socket.plugged = False
    async with room.watched():
        await room.until_change()
        tries = len(room.slept)
        room.plug_in_after = tries + len(RETRY_PAUSES) + 2
        await room.until_change()
    assert room.slept[tries:][: len(RETRY_PAUSES)] == list(RETRY_PAUSES)
    assert room.looks == 2


@pytest.mark.shows("V3")
async def test_a_stream_that_was_given_up_for_a_look_at_the_list_is_opened_again_and_nobody_is_told() -> None:
    room = Room(Socket())
    room.stops_when_reopened = True
    await room.player.start()
    room.socket.turn(0.0)
    async with room.watched():
        async with asyncio.timeout(120):
            await room.is_reopened.wait()
        assert (room.changes, room.output.is_there, room.output.times_lost) == ([], True, 0)


@pytest.mark.shows("V3", "V2")
async def test_another_card_with_another_rate_plays_the_same_sound() -> None:
    room = Room(Socket())
    await room.player.start()
    room.socket.rate = 44_100
    async with room.watched():
        await room.until_change()
        await room.until_change()
    await room.player.play(sound(440, 0.5))
    assert is_tone(room.socket.turn(0.4)[4410:], 44_100, 440)


@pytest.mark.shows("V3")
async def test_a_close_that_hangs_holds_up_the_reopening_and_nothing_else() -> None:
    room = Room(Socket())
    await room.player.start()
    room.socket.may_close.clear()
    before = threading.active_count()
    async with room.watched():
        await room.until_change()
        await asyncio.sleep(0)
        assert (room.changes, room.output.is_there) == ([False], False)
        assert threading.active_count() == before
        room.socket.may_close.set()
        await room.until_change()
    assert room.output.is_there


def test_what_was_played_is_kept_for_a_while_as_the_microphone_would_hear_it() -> None:
    played = PlayedSound()
    assert len(played.last(0.0)) == 0
    for number in range(600):
        played.keep(note(440, 0.02, 48_000), 48_000, number * 0.02)
    kept = played.last(12.0)
    assert len(kept) / 16_000 == pytest.approx(KEPT_SECONDS, abs=0.05)
    assert kept.any()
    assert len(played.last(12.0 + 2 * KEPT_SECONDS)) == 0


def test_silence_that_was_played_is_nothing_to_compare_with() -> None:
    played = PlayedSound()
    for number in range(100):
        played.keep(np.zeros(960, np.int16), 48_000, number * 0.02)
    assert len(played.last(2.0)) == 0
