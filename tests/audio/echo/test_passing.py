"""Chunks that go by the canceller while nothing is played: nothing is lost, and none goes by while it sounds."""

import numpy as np
import pytest

from audio.echo.canceller import DELAY_SECONDS
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

NOISE: Samples = np.random.default_rng(5).normal(0, 300, 200 * CHUNK_SAMPLES).astype(np.int16)


class Uncancelled:
    """A canceller that only delays, as the real one does while nothing is played."""

    def __init__(self) -> None:
        self._before = np.zeros(128, np.int16)

    def cancel(self, near: Samples, far: Samples) -> Samples:
        joined = np.concatenate([self._before, near])
        self._before = joined[len(near) :]
        return joined[: len(near)]

    def begin_anew(self, delay: float) -> None:
        self._before = np.zeros(128, np.int16)


def guarded() -> tuple[CancellingGuard, PlayedReference]:
    reference = PlayedReference()
    return CancellingGuard(reference, HalfDuplex(lambda: 0.0), Uncancelled()), reference


def chunk(number: int) -> AudioChunk:
    return AudioChunk(NOISE[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES], 100.0 + number * CHUNK_SECONDS)


def play(reference: PlayedReference, number: int, amplitude: int) -> None:
    """Tell the reference of the sound (a constant, so of its loudness only) that is heard with a chunk."""
    reference.take(np.full(CHUNK_SAMPLES, amplitude, np.int16), SAMPLE_RATE, chunk(number).started_at)


@pytest.mark.shows("V4", "H9")
def test_after_chunks_that_passed_the_cleaned_sound_is_the_same_as_without() -> None:
    guard, _ = guarded()
    for number in range(20):
        guard.clean(chunk(number))
    assert all(guard.passes(chunk(number)) for number in range(20, 57))
    delay = round(DELAY_SECONDS * SAMPLE_RATE)
    for number in range(57, 80):
        cleaned = guard.clean(chunk(number))
        began = number * CHUNK_SAMPLES - delay
        assert np.array_equal(cleaned.samples, NOISE[began : began + CHUNK_SAMPLES]), number
        assert cleaned.started_at == pytest.approx(100.0 + began / SAMPLE_RATE)


@pytest.mark.shows("V4", "H9")
def test_nothing_passes_from_the_first_sound_on_until_its_echo_is_over() -> None:
    guard, reference = guarded()
    passing = []
    for number in range(120):
        play(reference, number, 1000 if 40 <= number < 60 else 0)
        passing.append(guard.passes(chunk(number)))
    second = round(1.0 / CHUNK_SECONDS)
    assert all(passing[second + 1 : 40])
    assert not any(passing[40 : 59 + second])
    assert all(passing[62 + second :])


def test_nothing_passes_while_its_echo_is_measured() -> None:
    guard, _ = guarded()
    guard.record()
    assert not guard.passes(chunk(1))
    guard.discard()
    assert guard.passes(chunk(2))
