"""Pause, resume and loudness: to the sample on a sound card turned by hand, and in a recording."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.pcm import Samples
from audio.playback.live import LivePlayer
from audio.playback.volume import FADE_SECONDS
from audio.playback.wav import SAMPLE_RATE, WavPlayer
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import Clock, read_wav
from tests.audio.playback.test_live import LATENCY, RATE, HandTurnedOutput, level

FADE = round(FADE_SECONDS * RATE)
BUFFER = 0.01


class Card:
    """A live player on a hand-turned card with a clock of its own, and all that the card played."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.output = HandTurnedOutput()
        self.player = LivePlayer(self.output, "card", clock=self.clock)
        self.played: list[Samples] = []

    def turn(self, seconds: float) -> Samples:
        """Play so long, buffer by buffer, while time passes; return what was played."""
        buffers = [self._buffer() for _ in range(round(seconds / BUFFER))]
        self.played += buffers
        return np.concatenate([np.zeros(0, np.int16), *buffers])

    def _buffer(self) -> Samples:
        buffer = self.output.turn(BUFFER)
        self.clock.now += BUFFER
        return buffer


async def card() -> Card:
    made = Card()
    await made.player.start()
    return made


def counting(seconds: float) -> SpeechAudio:
    """Every sample another one, all of them loud enough that a fade leaves none of them zero."""
    return SpeechAudio(np.arange(10_000, 10_000 + round(seconds * RATE), dtype=np.int32).astype(np.int16), RATE)


@pytest.mark.shows("V17")
async def test_a_pause_is_silence_within_the_next_buffer() -> None:
    room = await card()
    await room.player.play(level(8000, 0.5))
    room.turn(0.1)

    room.player.pause()
    next_buffer = room.turn(BUFFER)

    assert not next_buffer[FADE:].any()
    assert next_buffer[0] > 7000, "it fades, it does not click"
    assert (np.diff(next_buffer[:FADE].astype(int)) < 0).all()
    assert not room.turn(1.0).any(), "for as long as it lasts"


@pytest.mark.shows("V17")
async def test_after_a_pause_it_goes_on_exactly_where_it_was() -> None:
    room = await card()
    await room.player.play(counting(0.5))
    before = room.turn(0.1)

    room.player.pause()
    fading = room.turn(0.3)
    room.player.resume()
    after = room.turn(0.5)

    assert before.tolist() == list(range(10_000, 10_000 + len(before)))
    heard = np.count_nonzero(before) + np.count_nonzero(fading) + np.count_nonzero(after)
    assert heard == pytest.approx(0.5 * RATE, abs=2)
    assert after[FADE] == 10_000 + len(before) + FADE + FADE, "the fade out and the fade in each took their samples"
    assert after[0] < 200, "it fades in"


async def test_a_paused_player_counts_what_waits_as_unheard() -> None:
    room = await card()
    await room.player.play(level(8000, 0.5))
    room.turn(0.1)
    room.player.pause()
    room.turn(0.2)

    assert room.player.stop() == pytest.approx(0.4 - FADE_SECONDS, abs=0.001)
    assert not room.turn(0.1).any()
    await room.player.play(level(5000, 0.1))
    assert room.turn(0.1)[-1] == 5000, "a stop ends the pause"


async def test_busy_until_tells_while_it_is_paused_when_the_last_sound_was() -> None:
    room = await card()
    await room.player.play(level(8000, 0.5))
    room.turn(0.1)
    room.player.pause()
    room.turn(BUFFER)
    fell_silent = room.clock.now - BUFFER + FADE_SECONDS + LATENCY
    assert room.player.busy_until == pytest.approx(fell_silent, abs=0.002)

    room.turn(1.0)
    assert room.player.busy_until == pytest.approx(fell_silent, abs=0.002)

    room.player.resume()
    assert room.player.busy_until == pytest.approx(room.clock.now + LATENCY + 0.4 - FADE_SECONDS, abs=0.002)


async def test_drain_waits_for_what_is_paused() -> None:
    room = await card()
    await room.player.play(level(8000, 0.1))
    room.player.pause()
    async with asyncio.TaskGroup() as group:
        draining = group.create_task(room.player.drain())
        for _ in range(5):
            await asyncio.sleep(0)
            room.turn(0.1)
        assert not draining.done()
        room.player.resume()
        room.turn(0.3)
    assert np.count_nonzero(np.concatenate(room.played)) == pytest.approx(0.1 * RATE, abs=2)


async def test_a_pause_before_the_first_sample_clips_nothing() -> None:
    room = await card()
    room.player.pause()
    room.turn(BUFFER)
    await room.player.play(counting(0.1))
    assert not room.turn(0.2).any()
    room.player.resume()
    assert np.count_nonzero(room.turn(0.2)) == pytest.approx(0.1 * RATE, abs=2)


async def test_the_first_sample_after_an_idle_time_is_whole() -> None:
    room = await card()
    assert not room.turn(3.0).any(), "an idle card is given silence, so that it stays awake"
    room.player.set_gain(0.5)
    room.turn(BUFFER)
    await room.player.play(level(8000, 0.1))
    assert room.turn(0.1).tolist() == [4000] * round(0.1 * RATE)


async def test_a_change_of_gain_is_heard_within_the_next_buffer_and_does_not_jump() -> None:
    room = await card()
    heard: list[Samples] = []
    room.player.tap(lambda samples, rate, at: heard.append(samples.copy()))
    await room.player.play(level(8000, 0.5))
    room.turn(0.1)

    room.player.set_gain(0.25)
    lower = room.turn(BUFFER)
    room.player.set_gain(1.0)
    higher = room.turn(BUFFER)

    assert set(lower[FADE:].tolist()) == {2000}
    assert set(higher[FADE:].tolist()) == {8000}
    steps = np.abs(np.diff(np.concatenate(room.played).astype(int)))
    assert steps.max() <= 8000 / FADE + 1
    assert np.array_equal(np.concatenate(heard), np.concatenate(room.played)), "the echo reference is what sounds"


@given(st.lists(st.sampled_from(["turn", "turn", "pause", "resume"]), max_size=40), st.integers(1, 400))
def test_whatever_pauses_come_each_sample_is_played_once_and_in_order(steps: list[str], buffer: int) -> None:
    output = HandTurnedOutput()
    player = LivePlayer(output, "card", clock=Clock())
    asyncio.run(player.start())
    asyncio.run(player.play(level(30_000, 0.2)))
    played: list[Samples] = []
    for step in [*steps, "resume", *["turn"] * (2 * round(0.2 * RATE) // buffer + 2)]:
        if step == "turn":
            played.append(output.turn(buffer / RATE))
        else:
            {"pause": player.pause, "resume": player.resume}[step]()
    sound = np.concatenate(played)
    jumps = np.abs(np.diff(sound.astype(int), prepend=0, append=0)) > 30_000 / FADE + 1
    assert np.count_nonzero(jumps) <= 2, "where the sound itself begins and ends"
    # A fade that ends at silence leaves samples of zero: one for each pause at most.
    assert 0 <= 0.2 * RATE - np.count_nonzero(sound) <= 1 + 2 * steps.count("pause")


def written(value: int, seconds: float) -> SpeechAudio:
    return SpeechAudio(np.full(round(seconds * SAMPLE_RATE), value, np.int16), SAMPLE_RATE)


async def recording(path: Path, *, realtime: bool = True) -> tuple[WavPlayer, Clock]:
    clock = Clock()
    player = WavPlayer(path, realtime=realtime, clock=clock)
    await player.start()
    return player, clock


async def test_in_a_recording_a_pause_is_as_long_as_it_lasted_and_nothing_is_lost(tmp_path: Path) -> None:
    player, clock = await recording(tmp_path / "said.wav")
    await player.play(written(100, 0.6))
    clock.now += 0.2
    player.pause()
    assert player.busy_until == clock.now
    clock.now += 0.3
    player.resume()
    assert player.busy_until == pytest.approx(clock.now + 0.4)
    await player.aclose()

    samples, _ = read_wav(tmp_path / "said.wav")
    runs = np.split(samples, np.flatnonzero(np.diff(samples)) + 1)
    assert [int(run[0]) for run in runs] == [100, 0, 100]
    assert [len(run) / SAMPLE_RATE for run in runs] == pytest.approx([0.2, 0.3, 0.4])


async def test_in_a_recording_what_comes_during_a_pause_follows_what_was_held(tmp_path: Path) -> None:
    player, clock = await recording(tmp_path / "said.wav")
    await player.play(written(100, 0.2))
    player.pause()
    player.pause()
    await player.play(written(200, 0.2))
    clock.now += 1.0
    player.resume()
    player.resume()
    samples, _ = read_wav(tmp_path / "said.wav")
    assert set(samples[:SAMPLE_RATE].tolist()) == {0}
    assert set(samples[SAMPLE_RATE : round(1.2 * SAMPLE_RATE)].tolist()) == {100}
    assert set(samples[round(1.2 * SAMPLE_RATE) :].tolist()) == {200}

    player.pause()
    assert player.stop() == pytest.approx(0.4)
    await player.play(written(300, 0.1))
    assert set(read_wav(tmp_path / "said.wav")[0][SAMPLE_RATE:].tolist()) == {300}, "a stop ends the pause"


async def test_in_a_recording_a_gain_changes_what_was_not_heard_yet(tmp_path: Path) -> None:
    player, clock = await recording(tmp_path / "said.wav")
    await player.play(written(1000, 0.4))
    clock.now += 0.1
    player.set_gain(0.5)
    clock.now += 0.1
    player.set_gain(1.0)
    samples, _ = read_wav(tmp_path / "said.wav")
    tenth = SAMPLE_RATE // 10
    assert samples[::tenth].tolist() == [1000, 500, 1000, 1000]
    assert len(samples) == 4 * tenth


async def test_without_waiting_a_pause_changes_nothing(tmp_path: Path) -> None:
    player, _ = await recording(tmp_path / "said.wav", realtime=False)
    await player.play(written(100, 0.2))
    player.pause()
    player.set_gain(0.5)
    await player.play(written(100, 0.2))
    player.resume()
    await player.drain()
    samples, _ = read_wav(tmp_path / "said.wav")
    assert samples[:: SAMPLE_RATE // 5].tolist() == [100, 50, 0]
    assert player.stop() == 0.0
