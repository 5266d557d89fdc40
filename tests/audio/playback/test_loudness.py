"""Percent to factors, and a gain that gets where it is going without a jump."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.pcm import Samples
from audio.playback.loudness import FADE_SECONDS, Ramp, gain, scaled

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
