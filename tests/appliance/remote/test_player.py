"""Sound on its way to a place: hardly ahead, cut at once, gone on with to the sample, and never piled up."""

import asyncio

import numpy as np
import pytest

from appliance.remote.mouth import AHEAD_SECONDS, DELAY_SECONDS, PIECE_SECONDS, RemotePlayer
from appliance.remote.outbox import MOST_SOUND, Outbox, Outgoing, SoundBegins, SoundEnds
from audio.errors import DeviceUnavailable
from audio.pcm import Samples
from audio.speech import SpeechAudio
from tests.room.virtual_time import passed, run_virtually

RATE = 10_000
COUNTED = np.arange(3 * RATE, dtype=np.int16)
"""Three seconds of samples that are each other than all before."""


class There:
    """A place that takes what it is sent, in virtual time."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.came: list[tuple[float, Outgoing]] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.outbox = Outbox(self._take)
        self.player = RemotePlayer("there", self.outbox, clock=self.loop.time)

    async def _take(self, item: Outgoing) -> None:
        await self.reads.wait()
        self.came.append((self.loop.time(), item))

    @property
    def kinds(self) -> list[Outgoing]:
        return [item for _, item in self.came if not isinstance(item, bytes)]

    @property
    def sound(self) -> Samples:
        return np.concatenate([np.frombuffer(item, "<i2") for _, item in self.came if isinstance(item, bytes)])


def test_it_is_sent_when_it_is_due_and_all_of_it() -> None:
    async def story() -> None:
        there = There()
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(there.outbox.run())
            began = there.loop.time()
            await there.player.play(SpeechAudio(COUNTED, RATE))
            await there.player.drain()
            assert there.loop.time() - began == pytest.approx(3.0 + DELAY_SECONDS, abs=0.01)
            there.player.finish()
            await passed(0.1)
            sending.cancel()
        sent = 0.0
        for at, item in there.came:
            if isinstance(item, bytes):
                sent += len(item) / 2 / RATE
                assert sent - (at - began) <= AHEAD_SECONDS + PIECE_SECONDS + DELAY_SECONDS + 0.01
        assert np.array_equal(there.sound, COUNTED)
        assert there.kinds == [SoundBegins(RATE, ""), SoundEnds("", is_cut=False)]

    run_virtually(story())


def test_what_a_pause_cut_off_is_sent_again_from_where_it_was_heard() -> None:
    async def story() -> None:
        there = There()
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(there.outbox.run())
            playing = group.create_task(there.player.play(SpeechAudio(COUNTED, RATE)))
            await passed(1.0 + DELAY_SECONDS)
            there.player.pause()
            there.player.pause()
            await passed(0.01)
            heard_before = there.sound
            there.came.clear()
            await passed(5.0)
            assert there.came == [], "nothing comes while it is paused"
            there.player.resume()
            await playing
            await there.player.drain()
            sending.cancel()
        assert there.sound[0] == pytest.approx(1.0 * RATE, abs=2)
        assert len(heard_before) >= 1.0 * RATE
        assert np.array_equal(there.sound, COUNTED[there.sound[0] :])

    run_virtually(story())


def test_a_stop_says_how_much_was_not_heard() -> None:
    async def story() -> None:
        there = There()
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(there.outbox.run())
            playing = group.create_task(there.player.play(SpeechAudio(COUNTED, RATE)))
            await passed(1.0 + DELAY_SECONDS)
            assert there.player.stop() == pytest.approx(2.0, abs=0.01)
            await playing
            await there.player.drain()
            assert there.loop.time() <= 1000 + 1.0 + DELAY_SECONDS + 0.01, "nobody waits for what is not to be heard"
            sending.cancel()
        assert there.kinds[-1] == SoundEnds("", is_cut=True)

    run_virtually(story())


def test_a_place_that_does_not_read_holds_up_its_own_speech_only() -> None:
    async def story() -> None:
        there = There()
        there.reads.clear()
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(there.outbox.run())
            playing = group.create_task(there.player.play(SpeechAudio(np.tile(COUNTED, 10), RATE)))
            await passed(60.0)
            assert there.outbox.sound_waiting <= MOST_SOUND + 1
            there.reads.set()
            await passed(60.0)
            assert playing.done()
            sending.cancel()

    run_virtually(story())


def test_for_a_place_that_is_gone_nothing_waits() -> None:
    async def story() -> None:
        there = There()
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(there.outbox.run())
            playing = group.create_task(there.player.play(SpeechAudio(COUNTED, RATE)))
            await passed(0.5)
            there.outbox.give_up()
            there.player.look()
            with pytest.raises(DeviceUnavailable, match="there is gone; what is left of the reply is in writing"):
                await playing
            await sending

    async def groupless() -> None:
        try:
            await story()
        except* DeviceUnavailable:
            pass

    run_virtually(groupless())
