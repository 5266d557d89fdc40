"""Words as a microphone has them: speed, colour, room, noise, and what an echo canceller leaves and takes.

All sounds are float64, shape (n,), 16 kHz; levels are against each other only.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples

Sound: TypeAlias = NDArray[np.float64]
Random: TypeAlias = np.random.Generator

BLOCK: Final = 512
"""32 ms, half of it apart: in what gains that change are applied."""


def rms(sound: Sound) -> float:
    """Return the level, never 0."""
    return float(np.sqrt(np.mean(sound**2) + 1e-3))


def faster(sound: Sound, rate: float) -> Sound:
    """Return the sound played so much faster: pitch, formants and tempo together, as of a smaller speaker."""
    return np.asarray(np.interp(np.arange(int(len(sound) / rate)) * rate, np.arange(len(sound)), sound))


def coloured(sound: Sound, random: Random) -> Sound:
    """Return the sound by another microphone: a smooth curve and a tilt, at times without lows or highs."""
    spectrum = np.fft.rfft(sound)
    kilohertz = np.linspace(0, SAMPLE_RATE / 2000, len(spectrum))
    gains = np.interp(kilohertz, [0, 0.3, 0.8, 2, 4, 8], random.normal(0, 3.5, 6))
    gains += random.normal(0, 1) * (kilohertz - 2)
    if random.random() < 0.25:
        gains -= np.maximum(0, (random.uniform(0.1, 0.35) - kilohertz) / 0.1) * 10
    if random.random() < 0.2:
        gains -= np.maximum(0, kilohertz - random.uniform(3.4, 7)) * 15
    return np.fft.irfft(spectrum * 10 ** (gains / 20), len(sound))


def in_a_room(sound: Sound, random: Random) -> Sound:
    """Return the sound with a tail of 0.1 to 0.9 s, from much weaker to stronger than the direct sound."""
    decay = random.uniform(0.1, 0.9)
    times = np.arange(int(min(decay, 0.6) * SAMPLE_RATE)) / SAMPLE_RATE
    response = random.normal(size=len(times)) * 10 ** (-3 * times / decay)
    response[: random.integers(16, 80)] = 0
    response *= random.uniform(0.2, 1.4) / np.sqrt(np.sum(response**2))
    response[0] = 1
    size = 1 << (len(sound) + len(response)).bit_length()
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)
    return wet[: len(sound) + SAMPLE_RATE // 4]


def hiss(samples: int, random: Random) -> Sound:
    """Return a steady noise between white and pink."""
    spectrum = np.fft.rfft(random.normal(size=samples))
    return np.fft.irfft(spectrum * np.maximum(1, np.arange(len(spectrum))) ** -random.uniform(0, 1), samples)


def residual_of(voice: Sound, random: Random) -> Sound:
    """Return what a canceller leaves of a voice: bands that come and go within a tenth of a second."""
    return _with_gains(voice, lambda shape: random.normal(0, 8, shape), every=6, count=9)


def suppressed(sound: Sound, random: Random) -> Sound:
    """Return what a canceller leaves of somebody who speaks at the same time: it takes bands of him too."""
    return _with_gains(sound, lambda shape: np.minimum(0, random.normal(-2, 6, shape)), every=5, count=7)


def beside(sound: Sound, other: Sound, decibels: float) -> Sound:
    """Return the sound with another so much softer than it."""
    return sound + other / rms(other) * rms(sound) * 10 ** (-decibels / 20)


def looped(sound: Sound, samples: int, random: Random) -> Sound:
    """Return so many samples from somewhere in a sound, repeated where it is shorter."""
    return np.resize(np.roll(sound, -int(random.integers(len(sound)))), samples)


def faded(sound: Sound, samples: int) -> Sound:
    """Return the sound without clicks at its ends."""
    from_ends = np.minimum(np.arange(len(sound)), np.arange(len(sound))[::-1])
    return sound * np.minimum(1, from_ends / samples)


def recorded(sound: Sound, random: Random) -> Samples:
    """Return the sound as int16, at any level."""
    return np.asarray(sound / np.abs(sound).max() * random.uniform(3_000, 30_000), np.int16)


def _with_gains(sound: Sound, drawn: Callable[[tuple[int, int]], Sound], every: int, count: int) -> Sound:
    """Return the sound under gains in dB, drawn for `count` bands each `every` blocks, smooth between them."""
    padded = np.pad(sound, (BLOCK // 2, BLOCK))
    blocks = np.lib.stride_tricks.sliding_window_view(padded, BLOCK)[:: BLOCK // 2] * np.hanning(BLOCK)
    coarse = drawn((len(blocks) // every + 2, count))
    times = np.linspace(0, len(coarse) - 1, len(blocks))
    over_time = np.stack([np.interp(times, np.arange(len(coarse)), coarse[:, band]) for band in range(count)], axis=1)
    bins = np.linspace(0, count - 1, BLOCK // 2 + 1)
    gains = np.stack([np.interp(bins, np.arange(count), row) for row in over_time])
    changed = np.fft.irfft(np.fft.rfft(blocks) * 10 ** (gains / 20))
    made = np.zeros(len(padded) + BLOCK)
    for number, block in enumerate(changed):
        made[number * BLOCK // 2 :][:BLOCK] += block
    return made[BLOCK // 2 :][: len(sound)]
