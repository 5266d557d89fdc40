"""Whose voice it is: names only where that is sure, and unknown as the normal case."""

import numpy as np
import pytest
from msgspec.structs import replace

from audio.speakers.encoder import Vector, unit
from audio.speakers.gallery import LENGTHS, NOBODY, UNKNOWN, guess, nearness, threshold
from audio.speech import Voice


def person(seed: int) -> Vector:
    return unit(np.maximum(0, np.random.default_rng(seed).normal(size=256)))


def near(vector: Vector, by: float, seed: int = 99) -> Vector:
    return unit(vector + by * person(seed))


ANNA, BEN, CARL = person(1), person(2), person(3)
KNOWN = {"Anna": [ANNA], "Ben": [BEN]}


def said(vector: Vector, seconds: float = 2.4, snr_db: float = 30.0) -> Voice:
    return Voice(vector, seconds, snr_db)


@pytest.mark.shows("V27")
def test_who_is_near_is_named_with_a_margin_and_a_stranger_is_not() -> None:
    anna = guess(said(near(ANNA, 0.3)), KNOWN)
    assert (anna.name, anna.is_sure) == ("Anna", True)
    assert 0 < anna.margin < 1
    assert not guess(said(CARL), KNOWN).is_sure
    assert guess(said(CARL), KNOWN).name == UNKNOWN


@pytest.mark.shows("V27")
@pytest.mark.parametrize(
    "voice",
    [
        None,
        said(ANNA, seconds=0.7),
        said(ANNA, snr_db=3.0),
        replace(said(ANNA), is_one=False),
    ],
)
def test_nothing_heard_too_short_too_noisy_or_two_voices_is_unknown(voice: Voice | None) -> None:
    assert guess(voice, KNOWN) == NOBODY


def test_nobody_is_known_where_nobody_enrolled() -> None:
    assert guess(said(ANNA), {}) == NOBODY


@pytest.mark.shows("V27")
def test_between_two_who_sound_alike_nobody_is_sure() -> None:
    twins = {"Anna": [ANNA], "Hanna": [near(ANNA, 0.1)]}
    found = guess(said(near(ANNA, 0.05)), twins)
    assert not found.is_sure
    assert found.margin < 0


def test_more_is_asked_of_long_utterances_and_of_noise() -> None:
    assert [*LENGTHS] == sorted(LENGTHS)
    by_length = [threshold(seconds, 30.0) for seconds in LENGTHS]
    assert by_length == sorted(by_length)
    assert threshold(2.4, 8.0) > threshold(2.4, 15.0) > threshold(2.4, 30.0) == threshold(2.4, 60.0)


def test_the_nearness_of_somebody_to_themselves_is_one() -> None:
    assert nearness(ANNA, [ANNA]) == pytest.approx(1.0, abs=1e-4)
    assert nearness(ANNA, [BEN]) < 0.4
