"""Voices that end, voices that are cut off in the middle, and sounds of which nothing can be said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.pcm import SAMPLE_RATE, Samples
from audio.turns.prosody import ending_heard, prosody_of
from audio.turns.turn import SOFT_END_SECONDS
from tests.audio.pauses import Aligner
from tests.audio.spoken import Clip, debian_clips, go_forward

BEGAN = 0.3
"""Seconds of quiet before each sound."""


def in_quiet(sound: np.ndarray[tuple[int], np.dtype[np.float64]] | Samples, noise: float = 8.0) -> Samples:
    random = np.random.default_rng(1)
    before, after = (np.zeros(round(each * SAMPLE_RATE)) for each in (BEGAN, SOFT_END_SECONDS + 0.03))
    whole = np.concatenate([before, sound, after])
    return (whole + random.normal(0.0, noise, len(whole))).astype(np.int16)


def sung(hertz: list[float], loudness: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a voice of syllables (0.2 s each), the pitch and loudness at their borders given."""
    borders = np.arange(len(hertz)) * 0.2
    at = np.arange(round(borders[-1] * SAMPLE_RATE)) / SAMPLE_RATE
    phase = 2 * np.pi * np.cumsum(np.interp(at, borders, hertz)) / SAMPLE_RATE
    syllables = 0.6 + 0.4 * np.cos(2 * np.pi * 5 * at)
    voice = sum(np.sin(number * phase) / number for number in range(1, 12))
    return np.asarray(voice * syllables * np.interp(at, borders, loudness) * 3000)


@pytest.mark.shows("V7")
def test_a_pitch_that_falls_and_a_voice_that_dies_away_sound_more_like_an_end_than_one_that_breaks_off() -> None:
    ends = sung([140, 160, 150, 140, 120, 95, 85], [1.0, 1.0, 1.0, 0.9, 0.7, 0.4, 0.02])
    goes_on = sung([140, 160, 150, 140, 150, 165, 170], [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0])
    ended, broken_off = (prosody_of(in_quiet(each), BEGAN) for each in (ends, goes_on))
    assert ended is not None
    assert broken_off is not None
    assert ended.above_low < broken_off.above_low
    assert ended.drop < broken_off.drop
    assert ended.log_odds > broken_off.log_odds + 0.5


@pytest.mark.shows("V7")
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.4, 3.0])
def test_without_a_pitch_nothing_is_said(seconds: float) -> None:
    random = np.random.default_rng(2)
    hiss = random.normal(0.0, 2000.0, round(seconds * SAMPLE_RATE))
    assert ending_heard(in_quiet(hiss), BEGAN) == 0.0
    assert ending_heard(in_quiet(np.full(len(hiss), 3000.0)), BEGAN) == 0.0


@pytest.mark.shows("V7")
def test_in_noise_hardly_below_the_voice_nothing_is_said() -> None:
    voice = sung([140, 160, 150, 140, 120, 95, 85], [1.0, 1.0, 1.0, 0.9, 0.7, 0.4, 0.02])
    assert ending_heard(in_quiet(voice, 8.0), BEGAN) != 0.0
    assert ending_heard(in_quiet(voice, 4000.0), BEGAN) == 0.0


@pytest.mark.shows("V7")
@pytest.mark.parametrize("gain", [0.1, 0.3, 2.0])
def test_how_loud_it_is_does_not_matter(gain: float) -> None:
    clip = debian_clips("cards")[0].samples
    loud, other = in_quiet(clip, 4.0), in_quiet((clip * gain).clip(-32768, 32767), 4.0 * gain)
    assert ending_heard(other, BEGAN) == pytest.approx(ending_heard(loud, BEGAN), abs=0.5)


@pytest.mark.shows("V7")
def test_clips_sound_ended_and_their_beginnings_do_not() -> None:
    aligner = Aligner()
    clips: list[Clip] = [*debian_clips("cards"), *debian_clips("librivox"), go_forward()]
    whole = [ending_heard(in_quiet(clip.samples), BEGAN) for clip in clips]
    cut_off = []
    for clip in clips:
        words = aligner.words(clip)
        ends = [round(word.end * SAMPLE_RATE) for word in words[1:-1]]
        cut_off += [ending_heard(in_quiet(clip.samples[:end]), BEGAN) for end in ends]
    better = np.mean([[one > other for one in whole] for other in cut_off])
    assert len(cut_off) > 30
    assert better >= 0.8
    assert np.mean(np.array(whole) >= 0.15) >= 0.5
    assert np.mean(np.array(cut_off) >= 0.15) <= 0.25


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40_000), st.floats(0.0, 3.0), st.integers(0, 3))
def test_whatever_the_sound_there_is_an_answer(length: int, began: float, seed: int) -> None:
    samples = np.random.default_rng(seed).integers(-32768, 32767, length).astype(np.int16)
    assert np.isfinite(ending_heard(samples, began))
