"""The room obeys its physics: echoes come when and as loud as they should, whatever the block."""

from collections.abc import Callable

import numpy as np
import pytest

from audio.pcm import SAMPLE_RATE, Samples
from tests.room.acoustics import (
    SPEAKER_RATE,
    Convolver,
    EchoPath,
    Loudspeaker,
    Sound,
    at_level,
    impulse_response,
    level_dbfs,
    soft_clip,
)
from tests.room.sounds import cough, door, fit_of_coughing, hum, mhm, music, pink, song, vacuum_cleaner, white

BLOCK = 512
DRY = Loudspeaker(gain_db=0, hidden_delay=0.025, ceiling=100.0, decay_seconds=0.01, tail_db=-60)


def through(loudspeaker: Loudspeaker, samples: Samples, seconds: float) -> Sound:
    """Return what the microphone hears of samples whose first one is told to sound at 0."""
    path = EchoPath(loudspeaker, BLOCK, 0.0)
    path.play(samples)
    return np.concatenate(
        [path.hear(number * BLOCK / SAMPLE_RATE) for number in range(round(seconds * SAMPLE_RATE / BLOCK))]
    )


def clicks(*at: float) -> Samples:
    samples = np.zeros(round((max(at) + 1) * SPEAKER_RATE), np.int16)
    for each in at:
        samples[round(each * SPEAKER_RATE)] = 30000
    return samples


def test_an_echo_comes_after_the_hidden_delay_and_the_filters_own() -> None:
    heard = through(DRY, clicks(0.5), 1.0)
    assert int(np.argmax(np.abs(heard))) / SAMPLE_RATE == pytest.approx(0.525 + 31 / SPEAKER_RATE, abs=1 / SAMPLE_RATE)


def test_a_fast_clock_brings_the_echo_early() -> None:
    drifting = Loudspeaker(gain_db=0, hidden_delay=0.0, ceiling=100.0, decay_seconds=0.01, tail_db=-60, drift_ppm=200)
    heard = through(drifting, clicks(1.0, 9.0), 10.0)
    early, late = int(np.argmax(np.abs(heard[: 5 * SAMPLE_RATE]))), int(np.argmax(np.abs(heard[5 * SAMPLE_RATE :])))
    assert (late + 5 * SAMPLE_RATE - early) / SAMPLE_RATE == pytest.approx(8.0 * (1 - 200e-6), abs=1 / SAMPLE_RATE)


def test_a_tone_keeps_its_pitch_and_gets_the_loudspeakers_level() -> None:
    tone = (8000 * np.sin(2 * np.pi * 1000 * np.arange(2 * SPEAKER_RATE) / SPEAKER_RATE)).astype(np.int16)
    quiet = Loudspeaker(gain_db=-20, hidden_delay=0.0, ceiling=100.0, decay_seconds=0.01, tail_db=-60)
    heard = through(quiet, tone, 1.5)[4096:]
    spectrum = np.abs(np.fft.rfft(heard))
    assert float(np.argmax(spectrum)) * SAMPLE_RATE / len(heard) == pytest.approx(1000, abs=2)
    assert level_dbfs(heard) == pytest.approx(20 * np.log10(8000 / 32768 / np.sqrt(2)) - 20, abs=0.5)


def test_blocks_are_convolved_as_the_whole_would_be() -> None:
    random = np.random.default_rng(0)
    sound, response = random.normal(size=BLOCK * 8).astype(np.float32), impulse_response(0.2, seed=3, tail_db=0.0)
    convolver = Convolver(response, BLOCK)
    blocks = np.concatenate([convolver.feed(sound[at : at + BLOCK]) for at in range(0, len(sound), BLOCK)])
    assert np.allclose(blocks, np.convolve(sound, response)[: len(sound)], atol=1e-4)


def test_a_room_dies_away_by_sixty_decibels() -> None:
    response = impulse_response(0.4, seed=3, tail_db=0.0)
    early, late = response[40:400], response[-360:]
    assert np.sum(response**2) == pytest.approx(1.0, abs=1e-3)
    assert 10 * np.log10(np.mean(early**2) / np.mean(late**2)) == pytest.approx(55, abs=8)


def test_a_loudspeaker_rounds_off_what_is_loud_only() -> None:
    soft, loud = np.array([0.05], np.float32), np.array([2.0], np.float32)
    assert soft_clip(soft, 0.7)[0] == pytest.approx(0.05, rel=0.01)
    assert soft_clip(loud, 0.7)[0] < 0.7


def test_pauses_do_not_count_for_a_level() -> None:
    speech = np.concatenate([white(1.0), np.zeros(5 * SAMPLE_RATE, np.float32)])
    assert level_dbfs(speech) == pytest.approx(-20, abs=0.3)
    assert level_dbfs(at_level(speech, -31)) == pytest.approx(-31, abs=0.1)


@pytest.mark.parametrize("make", [white, pink, hum, vacuum_cleaner, music, song])
def test_noises_are_as_long_as_wanted_and_never_clip_at_a_homes_level(make: Callable[..., Sound]) -> None:
    sound = make(3.0)
    assert len(sound) == 3 * SAMPLE_RATE
    assert np.abs(at_level(sound, -30)).max() < 1


@pytest.mark.parametrize(("make", "seconds"), [(cough, 0.45), (fit_of_coughing, 0.9), (door, 0.8), (mhm, 0.49)])
def test_interruptions_are_short_and_the_same_each_time(make: Callable[..., Sound], seconds: float) -> None:
    assert len(make()) / SAMPLE_RATE == pytest.approx(seconds, abs=0.01)
    assert np.array_equal(make(), make())
