"""The bell: its shape, its notes, and that it clicks nowhere."""

import numpy as np
import pytest

from audio.earcons import PEAK, SAMPLE_RATE, STRIKES, bell
from audio.pcm import rms_dbfs
from tests.audio.mouth_fakes import is_tone


@pytest.mark.shows("V23")
def test_it_is_short_loud_enough_and_nowhere_clipped() -> None:
    sound = bell()
    assert sound.samples.dtype == np.int16
    assert (sound.samples.ndim, sound.sample_rate) == (1, SAMPLE_RATE)
    assert 1.0 <= len(sound.samples) / sound.sample_rate <= 1.3
    assert int(np.max(np.abs(sound.samples))) == int(PEAK * 32767)
    assert rms_dbfs(sound.samples) > -22


def test_it_begins_and_ends_in_silence_without_a_click() -> None:
    samples = bell().samples.astype(int)
    assert samples[0] == 0
    assert not samples[-SAMPLE_RATE // 50 :].any()
    steepest = 2 * np.pi * 1174.66 * 2 / SAMPLE_RATE * PEAK * 32767
    assert int(np.max(np.abs(np.diff(samples)))) < steepest, "no jump that its own notes do not have"


def test_each_strike_is_its_note() -> None:
    sound = bell()
    for start, hertz in STRIKES[1::2]:
        first = round((start + 0.05) * SAMPLE_RATE)
        assert is_tone(sound.samples[first : first + SAMPLE_RATE // 5], SAMPLE_RATE, hertz)


def test_it_is_the_same_every_time() -> None:
    assert np.array_equal(bell().samples, bell().samples)
