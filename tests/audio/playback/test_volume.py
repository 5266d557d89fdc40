"""Louder, quieter, ducked: what the player is told."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.pcm import Samples
from audio.playback.volume import FADE_SECONDS, QUIETEST, STEP, Ramp, Volume, gain, scaled
from tests.audio.mouth_fakes import ScriptedPlayer


def a_volume(percent: int = 100) -> tuple[Volume, list[float]]:
    player = ScriptedPlayer()
    return Volume(player, percent), player.gains


def test_the_configured_volume_is_applied_at_once() -> None:
    _, gains = a_volume(40)
    assert gains == [gain(40)]


@pytest.mark.shows("V16")
def test_quieter_steps_down_to_the_quietest_and_no_further() -> None:
    volume, gains = a_volume(60)
    assert [volume.quieter() for _ in range(5)] == [60 - STEP, 60 - 2 * STEP, 60 - 3 * STEP, QUIETEST, QUIETEST]
    assert gains[1] == gain(60 - STEP)
    assert gains[-1] == gain(QUIETEST) > 0


@pytest.mark.shows("V16")
def test_louder_steps_up_to_the_whole() -> None:
    volume, gains = a_volume(80)
    assert (volume.louder(), volume.louder()) == (80 + STEP, 100)
    assert gains[-1] == 1.0


def test_one_that_was_set_below_the_quietest_is_not_made_louder_by_quieter() -> None:
    volume, _ = a_volume(5)
    assert volume.quieter() == 5
    volume.percent = -3
    assert (volume.quieter(), volume.louder()) == (0, STEP)
    volume.percent = 300
    assert volume.percent == 100


@pytest.mark.shows("V17")
def test_ducking_comes_on_top_of_the_volume_and_goes_without_a_trace() -> None:
    volume, gains = a_volume(50)
    volume.duck(12.0)
    assert gains[-1] == pytest.approx(gain(50) * 10 ** (-12 / 20))
    volume.louder()
    assert gains[-1] == pytest.approx(gain(50 + STEP) * 10 ** (-12 / 20))
    volume.unduck()
    assert gains[-1] == gain(50 + STEP)
    assert volume.percent == 50 + STEP


RATE = 24_000
FADE = round(FADE_SECONDS * RATE)


def full(count: int) -> Samples:
    return np.full(count, 10_000, np.int16)


def test_the_whole_volume_changes_nothing_none_is_silence_and_each_percent_is_louder() -> None:
    assert (gain(0), gain(100), gain(200)) == (0.0, 1.0, 1.0)
    assert all(quieter < louder for quieter, louder in itertools.pairwise(map(gain, range(101))))
    assert gain(90) == pytest.approx(0.631, abs=0.001), "4 dB for ten percent"


def test_samples_are_scaled_and_untouched_at_full_volume() -> None:
    samples = np.array([1000, -1000, 32_767, -32_768], np.int16)
    assert scaled(samples, 1.0) is samples
    assert scaled(samples, 0.5).tolist() == [500, -500, 16_383, -16_384]
    assert scaled(samples, 0.5).dtype == np.int16


def test_from_full_to_silence_takes_one_fade() -> None:
    ramp, samples = Ramp(RATE, 1.0), full(2 * FADE)
    assert ramp.samples_to(0.0) == FADE
    ramp.apply(samples, 0.0)
    assert samples[0] == pytest.approx(10_000 * (1 - 1 / FADE), abs=1)
    assert not samples[FADE - 1 :].any()
    assert (ramp.level, ramp.samples_to(0.0)) == (0.0, 0)


def test_a_gain_that_stays_is_applied_to_every_sample() -> None:
    ramp, samples = Ramp(RATE, 0.5), full(10)
    ramp.apply(samples, 0.5)
    assert samples.tolist() == [5000] * 10


def test_no_samples_move_no_gain() -> None:
    ramp = Ramp(RATE, 1.0)
    ramp.apply(full(0), 0.0)
    assert ramp.level == 1.0


@given(st.lists(st.tuples(st.integers(1, 3 * FADE), st.sampled_from([0.0, 0.1, 0.5, 1.0])), min_size=1, max_size=20))
def test_in_buffers_of_any_size_it_never_jumps_and_always_arrives(buffers: list[tuple[int, float]]) -> None:
    ramp, played = Ramp(RATE, 1.0), [full(1)]
    for size, target in buffers:
        needed, samples = ramp.samples_to(target), full(size)
        ramp.apply(samples, target)
        if size >= needed:
            assert ramp.level == pytest.approx(target, abs=1e-6)
        played.append(samples)
    assert np.abs(np.diff(np.concatenate(played).astype(int))).max() <= 10_000 / FADE + 1
