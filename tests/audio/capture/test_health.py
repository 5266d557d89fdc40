"""Zeros, lag and copies, judged by hand-made sound."""

import numpy as np
import pytest

from audio.capture.health import COPY, LAG_WINDOW, LAG_WINDOWS, LagWatch, is_copy, likeness
from audio.pcm import Samples, from_float

BLOCK = 0.032


def speech(seconds: float, seed: int = 1) -> Samples:
    """Noise with the long-term spectrum of a voice and its syllables: 16 kHz."""
    generator = np.random.default_rng(seed)
    size = round(seconds * 16_000)
    spectrum = np.fft.rfft(generator.normal(size=size))
    hertz = np.fft.rfftfreq(size, 1 / 16_000)
    shaped = np.fft.irfft(spectrum / (1 + (hertz / 500) ** 2) * (hertz > 80), size)
    syllables = np.abs(np.sin(2 * np.pi * 2.1 * np.arange(size) / 16_000))
    sound = shaped * syllables
    return from_float((sound / np.abs(sound).max() * 0.3).astype(np.float32))


def through(sound: Samples, response: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Samples:
    heard = np.convolve(sound.astype(np.float64), response)[: len(sound)]
    level = 8000 / float(np.abs(heard).max())
    return np.asarray(heard * level, np.int16)


def lag_of(seconds: float, arrival_of: "Arrival") -> LagWatch:
    watch = LagWatch()
    for number in range(round(seconds / BLOCK)):
        watch.took(BLOCK, arrival_of(number))
    return watch


class Arrival:
    """When block n comes, by a card that is so much slower than the clock."""

    def __init__(self, slower: float = 0.0) -> None:
        self.slower = slower

    def __call__(self, number: int) -> float:
        return 50.0 + number * BLOCK * (1 + self.slower)


class Stalling(Arrival):
    """A machine that does not get round to it for three seconds, and then gets all of it at once."""

    def __call__(self, number: int) -> float:
        at = super().__call__(number)
        return 63.0 if 60.0 <= at < 63.0 else at


class Losing(Arrival):
    """Two seconds are lost once."""

    def __call__(self, number: int) -> float:
        return super().__call__(number) + (2.0 if number > 300 else 0.0)


WHILE = (LAG_WINDOWS + 2) * LAG_WINDOW


@pytest.mark.shows("V3")
@pytest.mark.parametrize(
    ("arrival", "grows"),
    [(Arrival(), False), (Arrival(0.0002), False), (Stalling(), False), (Losing(), False), (Arrival(0.05), True)],
    ids=["exact", "a wrong clock", "a stall", "a loss", "falling behind"],
)
def test_only_a_lag_that_grows_and_grows_is_a_fault(arrival: Arrival, grows: bool) -> None:
    assert lag_of(WHILE, arrival).only_grows is grows


def test_lag_is_not_judged_before_there_is_enough_of_it() -> None:
    assert not lag_of(LAG_WINDOW * (LAG_WINDOWS - 1), Arrival(0.2)).only_grows


@pytest.mark.shows("V4")
@pytest.mark.parametrize("gain", [1.0, 0.3, -0.5])
@pytest.mark.parametrize("delay", [0, 1, 12_345])
def test_a_copy_is_known_at_any_delay_and_level(gain: float, delay: int) -> None:
    played = speech(4.0)
    heard = (played[delay : delay + 16_000] * gain).astype(np.int16)
    assert is_copy(heard, played)


@pytest.mark.shows("V4")
def test_a_copy_between_two_samples_is_one_too() -> None:
    played = speech(4.0)
    spectrum = np.fft.rfft(played.astype(np.float64))
    later = np.fft.irfft(spectrum * np.exp(-1j * np.pi * np.arange(len(spectrum)) / len(played) * 0.5), len(played))
    assert is_copy(later.astype(np.int16)[16_000:32_000], played)


@pytest.mark.shows("V4")
def test_what_went_through_a_room_is_no_copy_even_close_to_the_loudspeaker() -> None:
    played, generator = speech(4.0), np.random.default_rng(3)
    for decay, direct_to_reverberant in ((0.02, 20.0), (0.05, 10.0), (0.2, 0.0)):
        response = generator.normal(size=8000) * np.exp(-np.arange(8000) / (decay * 16_000))
        response *= np.sqrt(10 ** (-direct_to_reverberant / 10) / np.sum(response**2))
        response[0] = 1.0
        heard = through(played, response)
        assert likeness(heard[20_000:36_000], played) < COPY


def test_silence_and_other_peoples_words_are_no_copies() -> None:
    played, silence = speech(4.0), np.zeros(16_000, np.int16)
    assert likeness(silence, played) == 0.0
    assert likeness(played[:16_000], np.zeros(64_000, np.int16)) == 0.0
    assert likeness(speech(1.0, seed=9), played) < 0.5


def test_a_copy_with_somebody_speaking_into_it_is_none() -> None:
    played = speech(4.0)
    both = played[8000:24_000] // 2 + speech(1.0, seed=5) // 8
    assert likeness(both.astype(np.int16), played) < COPY
