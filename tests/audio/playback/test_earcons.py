"""The bell and the signs: their shape, their notes, and that they click nowhere."""

from typing import get_args

import numpy as np
import pytest

from audio.pcm import rms_dbfs
from audio.playback.earcons import PEAK, SAMPLE_RATE, SIGN_PEAK, SIGNS, STRIKES, Sign, bell, sign
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


@pytest.mark.shows("V16")
@pytest.mark.parametrize("meaning", get_args(Sign))
def test_a_sign_is_short_soft_and_clicks_nowhere(meaning: Sign) -> None:
    sound = sign(meaning)
    assert 0.15 <= len(sound.samples) / sound.sample_rate <= 0.45
    assert int(np.max(np.abs(sound.samples))) == int(SIGN_PEAK * 32767)
    assert sound.samples[0] == 0
    assert not sound.samples[-SAMPLE_RATE // 50 :].any()
    steepest = 2 * np.pi * 987.77 * 2 / SAMPLE_RATE * SIGN_PEAK * 32767
    assert int(np.max(np.abs(np.diff(sound.samples.astype(int))))) < steepest


def test_open_goes_up_closed_goes_down_and_no_two_are_alike() -> None:
    assert [hertz for _, hertz in SIGNS["unmuted"]] == sorted(hertz for _, hertz in SIGNS["muted"])
    assert SIGNS["listening"][0][1] < SIGNS["listening"][1][1]
    assert SIGNS["unclear"][-1][1] == max(hertz for _, hertz in SIGNS["unclear"]), "a question ends up"
    assert len({sign(meaning).samples.tobytes() for meaning in SIGNS}) == len(SIGNS)
