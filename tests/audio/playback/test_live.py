"""The player over a sound card that a test turns by hand."""

import asyncio
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.errors import DeviceUnavailable
from audio.pcm import Samples
from audio.playback.live import AHEAD_SECONDS, Filler, LivePlayer, OutputFormat, SampleRing, fill_channels
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import is_tone, note
from tests.room.virtual_time import in_virtual_time, now

RATE = 24_000
LATENCY = 0.05


class HandTurnedOutput:
    """An `Output` that asks for samples when a test says so."""

    def __init__(self, rate: int = RATE) -> None:
        self.rate = rate
        self.fill: Filler | None = None
        self.closed = 0

    def open(self) -> OutputFormat:
        return OutputFormat("hand-turned", self.rate, LATENCY)

    def begin(self, fill: Filler) -> None:
        self.fill = fill

    def close(self) -> None:
        self.closed += 1

    def turn(self, seconds: float, delay: float = LATENCY) -> Samples:
        """Return the next seconds that the card plays."""
        assert self.fill is not None
        out = np.full(round(seconds * self.rate), -1, np.int16)
        self.fill(out, delay)
        return out


def level(value: int, seconds: float, rate: int = RATE) -> SpeechAudio:
    return SpeechAudio(np.full(round(seconds * rate), value, np.int16), rate)


async def started(output: HandTurnedOutput) -> LivePlayer:
    player = LivePlayer(output, "wanted", dead_after=0.3, clock=now)
    await player.start()
    return player


async def test_it_gives_silence_until_there_is_sound_and_after_it() -> None:
    output = HandTurnedOutput()
    player = await started(output)

    assert (player.name, player.busy_until) == ("hand-turned", 0.0)
    assert not output.turn(0.1).any()
    await player.play(level(100, 0.1))
    await player.play(level(200, 0.1))
    played = output.turn(0.3)

    assert played.tolist() == [100] * 2400 + [200] * 2400 + [0] * 2400


@in_virtual_time
async def test_play_returns_at_once_while_little_is_ahead_and_waits_when_much_is() -> None:
    output = HandTurnedOutput()
    player = await started(output)
    began = now()
    await player.play(level(1, AHEAD_SECONDS))
    assert now() == began

    async with asyncio.TaskGroup() as group:
        playing = group.create_task(player.play(level(2, 0.2)))
        await asyncio.sleep(0)
        assert not playing.done()
        output.turn(0.2)

    assert playing.done()


async def test_a_piece_longer_than_the_ring_is_played_whole() -> None:
    output = HandTurnedOutput()
    player = await started(output)
    sound = np.arange(round(2.2 * RATE), dtype=np.int32).astype(np.int16)

    async with asyncio.TaskGroup() as group:
        group.create_task(player.play(SpeechAudio(sound, RATE)))
        await asyncio.sleep(0)
        heard = [output.turn(1.5)]
    heard.append(output.turn(1.0))

    assert np.array_equal(np.concatenate(heard)[: len(sound)], sound)


@pytest.mark.shows("V17")
async def test_stop_drops_all_that_waits_at_once_and_counts_it() -> None:
    output = HandTurnedOutput()
    player = await started(output)

    async with asyncio.TaskGroup() as group:
        playing = group.create_task(player.play(level(5, 4.0)))
        await asyncio.sleep(0)
        output.turn(0.5)
        dropped = player.stop()

    assert playing.done()
    assert dropped == pytest.approx(3.5)
    assert not output.turn(0.5).any()
    assert player.stop() == 0.0
    await player.play(level(7, 0.1))
    assert set(output.turn(0.1).tolist()) == {7}


@in_virtual_time
async def test_busy_until_tells_when_the_last_sample_leaves_the_loudspeaker() -> None:
    output = HandTurnedOutput()
    player = await started(output)

    await player.play(level(1, 0.4))
    assert player.busy_until - now() == pytest.approx(0.4 + LATENCY, abs=1e-6)
    output.turn(0.1)
    assert player.busy_until - now() == pytest.approx(0.4 + LATENCY, abs=1e-6)
    output.turn(0.3)
    ends = player.busy_until
    assert ends - now() == pytest.approx(0.3 + LATENCY, abs=1e-6)
    output.turn(1.0)
    assert player.busy_until == ends


@in_virtual_time
async def test_a_driver_that_tells_no_delay_is_taken_at_its_latency() -> None:
    output = HandTurnedOutput()
    player = await started(output)
    await player.play(level(1, 0.1))

    output.turn(0.1, delay=0.0)

    assert player.busy_until - now() == pytest.approx(0.1 + LATENCY, abs=1e-6)


@in_virtual_time
async def test_drain_ends_with_the_last_sample_and_not_before() -> None:
    output = HandTurnedOutput()
    player = await started(output)
    await player.play(level(1, 0.1))
    output.turn(0.1)

    await player.drain()

    assert 0.0 <= now() - player.busy_until < 0.02
    await player.drain()


async def test_sound_of_any_rate_is_played_at_the_devices() -> None:
    output = HandTurnedOutput(48_000)
    player = await started(output)

    await player.play(SpeechAudio(note(440, 0.2, 22_050), 22_050))
    await player.play(SpeechAudio(note(880, 0.2, 16_000), 16_000))
    async with asyncio.TaskGroup() as group:
        draining = group.create_task(player.drain())
        await asyncio.sleep(0)
        played = output.turn(0.5)

    assert draining.done()
    assert is_tone(played[:9600], 48_000, 440)
    assert is_tone(played[9600:19_200], 48_000, 880)
    assert not played[19_210:].any()


async def test_the_last_sample_of_a_converted_sentence_is_played_too() -> None:
    output = HandTurnedOutput(48_000)
    player = await started(output)

    await player.play(level(1000, 0.1, 24_000))
    async with asyncio.TaskGroup() as group:
        group.create_task(player.drain())
        await asyncio.sleep(0)
        played = output.turn(0.2)

    assert np.flatnonzero(np.abs(played) > 300)[-1] == pytest.approx(4799, abs=2)


@pytest.mark.shows("V3")
@in_virtual_time
async def test_a_card_that_asks_for_nothing_more_is_an_error() -> None:
    output = HandTurnedOutput()
    player = await started(output)

    with pytest.raises(DeviceUnavailable, match=r"hand-turned takes no more sound: check"):
        await player.play(level(1, 1.5))
    with pytest.raises(DeviceUnavailable, match="takes no more sound"):
        await player.drain()


async def test_closing_closes_the_output() -> None:
    output = HandTurnedOutput()
    player = await started(output)

    await player.aclose()
    await player.aclose()

    assert output.closed == 2


def test_every_channel_gets_the_same() -> None:
    channels = np.zeros((3, 2), np.int16)

    def fill(out: Samples, delay: float) -> None:
        out[:] = [1, 2, 3]
        assert delay == LATENCY

    fill_channels(fill, channels, LATENCY)

    assert channels.tolist() == [[1, 1], [2, 2], [3, 3]]


CAPACITY = 16


def read(ring: SampleRing, count: int) -> tuple[list[int], int]:
    out: Samples = np.full(count, -7, np.int16)
    given = ring.read(out)
    return out.tolist(), given


def test_what_was_written_is_read_in_order_and_then_silence() -> None:
    ring = SampleRing(4)

    assert ring.write(np.array([1, 2, 3], np.int16)) == 3
    assert read(ring, 2) == ([1, 2], 2)
    assert read(ring, 3) == ([3, 0, 0], 1)
    assert read(ring, 1) == ([0], 0)


def test_only_what_fits_is_taken() -> None:
    ring = SampleRing(4)

    assert ring.write(np.arange(1, 7, dtype=np.int16)) == 4
    assert ring.write(np.array([9], np.int16)) == 0
    assert (ring.waiting, ring.room) == (4, 0)
    assert read(ring, 4) == ([1, 2, 3, 4], 4)


def test_what_was_dropped_is_never_read_and_what_comes_after_is() -> None:
    ring = SampleRing(8)
    ring.write(np.array([1, 2, 3, 4], np.int16))
    read(ring, 1)

    assert ring.drop() == 3
    assert ring.drop() == 0
    ring.write(np.array([5, 6], np.int16))

    assert ring.waiting == 2
    assert read(ring, 3) == ([5, 6, 0], 2)


@given(st.lists(st.tuples(st.sampled_from(["write", "read", "drop"]), st.integers(0, 20)), max_size=60))
def test_it_behaves_like_a_list(steps: list[tuple[str, int]]) -> None:
    ring, model, next_value = SampleRing(CAPACITY), list[int](), 1

    for step, count in steps:
        if step == "write":
            values = list(range(next_value, next_value + count))
            taken = ring.write(np.array(values, np.int16))
            assert taken <= CAPACITY - len(model)
            model += values[:taken]
            next_value += count
        elif step == "drop":
            assert ring.drop() == len(model)
            model.clear()
        else:
            expected = model[:count]
            del model[:count]
            assert read(ring, count) == (expected + [0] * (count - len(expected)), len(expected))
        assert ring.waiting == len(model)


def test_two_threads_lose_and_double_nothing() -> None:
    ring, total = SampleRing(64), 5_000
    heard: list[int] = []

    def listen() -> None:
        out = np.zeros(17, np.int16)
        while len(heard) < total:
            heard.extend(out[: ring.read(out)].tolist())

    listener = threading.Thread(target=listen)
    listener.start()
    sound = (np.arange(total) + 1).astype(np.int16)
    written = 0
    while written < total:
        written += ring.write(sound[written : written + 23])
    listener.join()

    assert heard == sound.tolist()
