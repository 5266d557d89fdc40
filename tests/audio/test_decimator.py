"""A lower rate by a whole number: FFmpeg's sound, at a quarter of its cost."""

from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import Decimator, StreamResampler

NOISE = np.random.default_rng(0).normal(0, 3000, 30_000).astype(np.int16)


def converted(converter: Decimator | StreamResampler, samples: Samples, lengths: tuple[int, ...] = (960,)) -> Samples:
    """Return a whole stream, fed in pieces of these lengths."""
    parts, start = list[Samples](), 0
    for length in cycle(lengths):
        parts.append(converter.feed(samples[start : start + length]))
        start += length
        if start >= len(samples):
            break
    return np.concatenate([*parts, converter.flush()])


@pytest.mark.shows("V4")
@pytest.mark.parametrize("factor", [2, 3, 6])
def test_it_makes_what_ffmpeg_makes_sample_by_sample(factor: int) -> None:
    ours = converted(Decimator(factor), NOISE).astype(float)
    theirs = converted(StreamResampler(factor * SAMPLE_RATE, SAMPLE_RATE), NOISE).astype(float)
    assert len(ours) == len(theirs) == len(NOISE) // factor
    assert np.sqrt(np.mean((ours - theirs)[50:-50] ** 2)) < 0.01 * np.sqrt(np.mean(theirs**2))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=6).filter(any))
def test_the_lengths_of_the_pieces_change_nothing(lengths: list[int]) -> None:
    whole = converted(Decimator(3), NOISE, (len(NOISE),)).astype(int)
    pieces = converted(Decimator(3), NOISE, tuple(lengths)).astype(int)
    assert len(pieces) == len(whole)
    # BLAS adds in another order where the rows are fewer, on some processors, which rounds what is half way otherwise.
    assert np.abs(pieces - whole).max() <= 1
    assert np.count_nonzero(pieces - whole) <= len(whole) // 1000


@pytest.mark.parametrize("length", [0, 1, 2, 3, 47, 48, 49, 1000])
def test_however_short_a_stream_is_all_of_it_comes_out(length: int) -> None:
    assert len(converted(Decimator(3), NOISE[:length])) == -(-length // 3)


def test_after_a_flush_a_new_stream_begins() -> None:
    decimator = Decimator(3)
    first = converted(decimator, NOISE)
    assert np.array_equal(converted(decimator, NOISE), first)


def test_what_is_above_the_new_rate_is_taken_away() -> None:
    tone = (8000 * np.sin(2 * np.pi * 10_000 * np.arange(48_000) / 48_000)).astype(np.int16)
    assert np.abs(converted(Decimator(3), tone)[100:-100]).max() <= 2


def test_the_loudest_sound_does_not_wrap_around() -> None:
    square = np.where(np.arange(9_600) // 48 % 2, 32767, -32768).astype(np.int16)
    out = converted(Decimator(3), square)
    middles = np.arange(8, 3_200, 16)[5:-5]
    assert np.array_equal(out[middles] > 0, square[3 * middles] > 0)
