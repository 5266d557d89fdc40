"""What sounds in a home, made by synthesis and the same each time: noises, music, a cough, a door, an "mhm"."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE
from tests.room.acoustics import Sound

Numbers: TypeAlias = NDArray[np.floating]
Turning: TypeAlias = NDArray[np.complexfloating]

Spectrum: TypeAlias = Callable[[Numbers], Numbers]
"""Amplitude by frequency (Hz)."""

SCALE: Final = (0, 2, 4, 5, 7, 9, 11)
"""Semitones of the major scale."""

CHORDS: Final = ((0, 2, 4), (5, 0, 2), (3, 5, 0), (4, 6, 1))
"""Steps of the scale: I vi IV V."""


def noise(seconds: float, seed: int, spectrum: Spectrum = np.ones_like) -> Sound:
    """Return noise of any spectrum, its RMS 0.1."""
    samples = round(seconds * SAMPLE_RATE)
    white = np.fft.rfft(np.random.default_rng(seed).normal(size=samples))
    hertz = np.fft.rfftfreq(samples, 1 / SAMPLE_RATE)
    return _at(0.1, np.fft.irfft(white * spectrum(hertz), samples))


def white(seconds: float, seed: int = 1) -> Sound:
    """Return white noise: a fan, rain."""
    return noise(seconds, seed)


def pink(seconds: float, seed: int = 2) -> Sound:
    """Return pink noise: an oven, a car outside."""
    return noise(seconds, seed, lambda hertz: 1 / np.sqrt(np.maximum(hertz, 20.0)))


def hum(seconds: float) -> Sound:
    """Return mains hum: 50 Hz and its overtones, with a little hiss."""
    at = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    tones = sum(np.sin(2 * np.pi * 50 * number * at + number) / number for number in (1, 2, 3, 5, 7, 11))
    return _at(0.1, np.asarray(tones) + 0.05 * noise(seconds, 3))


def vacuum_cleaner(seconds: float) -> Sound:
    """Return a motor: a whine at 310 Hz with overtones, swaying, over rushing air."""
    at = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    turn = 2 * np.pi * 310 * at + 3 * np.sin(2 * np.pi * 0.7 * at)
    whine = sum(np.sin(number * turn) / number for number in range(1, 9))
    return _at(0.1, np.asarray(whine) + 8 * noise(seconds, 5, lambda hertz: 1 / (1 + (hertz / 1500) ** 2)))


def music(seconds: float, seed: int = 6, key: float = 220.0, beats_a_minute: float = 104.0) -> Sound:
    """Return a band without a singer: chords, a bass, a plucked melody that wanders, a snare and a hi-hat."""
    random, beat = np.random.default_rng(seed), 60 / beats_a_minute
    out = np.zeros(round((seconds + 4) * SAMPLE_RATE))
    step = 7
    for number in range(int(seconds / beat)):
        at, chord = number * beat, CHORDS[number // 4 % len(CHORDS)]
        if number % 4 == 0:
            for tone in chord:
                _add(out, at, 0.25 * _plucked(_pitch(key, tone), 4 * beat, random))
        if number % 2 == 0:
            _add(out, at, 0.6 * _plucked(_pitch(key / 4, chord[0]), 2 * beat, random))
        for half in (0.0, 0.5):
            step = int(np.clip(step + random.integers(-2, 3), 4, 18))
            _add(out, at + half * beat, 0.5 * _plucked(_pitch(key, step), beat, random))
            _add(out, at + half * beat, 0.06 * _drum(0.04, 6000, random))
        if number % 2:
            _add(out, at, 0.3 * _drum(0.12, 1500, random))
    return _at(0.1, out[: round(seconds * SAMPLE_RATE)])


def song(seconds: float, seed: int = 12) -> Sound:
    """Return the band with a lead that sways between vowels like a singer without words: the hardest music here."""
    random, out = np.random.default_rng(seed), 0.6 * music(seconds, seed).astype(np.float64)
    vowels = (((300, 90), (2300, 200)), ((700, 120), (1200, 150)), ((450, 100), (850, 120)), ((500, 100), (1800, 200)))
    at, step = 0.3, 4
    while at < seconds - 1.5:
        step = int(np.clip(step + random.integers(-2, 3), 0, 9))
        length, hertz = float(random.choice([0.4, 0.6, 1.2])), _pitch(165.0, step)
        tone = _voiced(length, 0.97 * hertz, hertz, _resonances(*vowels[random.integers(4)]))
        _add(out, at, 0.12 * tone / max(1e-9, float(np.sqrt(np.mean(tone**2)))))
        at += length + float(random.choice([0.05, 0.1, 0.8]))
    return _at(0.1, out)


def cough(times: int = 1, seed: int = 7) -> Sound:
    """Return a cough: a burst, a breathy tail through the vowel's resonances, a hoarse end; 0.45 s each time."""
    random, out = np.random.default_rng(seed), np.zeros(round(0.45 * times * SAMPLE_RATE))
    for at, loud in [(0.45 * number, 0.7**number) for number in range(times)]:
        burst = _drum(0.03, 2500, random)
        tail = noise(0.28, seed + 1, _resonances((520, 160), (1450, 250), (2600, 400))) * 6
        tail *= np.exp(-np.arange(len(tail)) / (0.07 * SAMPLE_RATE))
        hoarse = _voiced(0.2, 190, 120, _resonances((600, 150), (1200, 200))) * 0.8
        for start, part in ((0.0, burst), (0.02, tail), (0.12, hoarse)):
            _add(out, at + start, loud * part)
    return _at(0.1, out)


def fit_of_coughing() -> Sound:
    """Return two coughs in a row, hoarse as a voice: the hardest of the noises that people make."""
    return cough(times=2)


def door(seed: int = 8) -> Sound:
    """Return a door that falls shut: the latch's click, a thump at 70 Hz, the frame's rattle; 0.8 s."""
    random, out = np.random.default_rng(seed), np.zeros(round(0.8 * SAMPLE_RATE))
    at = np.arange(round(0.5 * SAMPLE_RATE)) / SAMPLE_RATE
    thump = np.sin(2 * np.pi * 70 * at) * np.exp(-at / 0.09) + 0.6 * np.sin(2 * np.pi * 140 * at) * np.exp(-at / 0.05)
    _add(out, 0.02, 0.5 * _drum(0.02, 3000, random))
    _add(out, 0.06, thump)
    _add(out, 0.06, 0.6 * _drum(0.15, 700, random))
    for after in (0.14, 0.19, 0.23, 0.30):
        _add(out, after, 0.15 * _drum(0.03, 1800, random))
    return _at(0.1, out)


def mhm() -> Sound:
    """Return an agreeing "mhm": two hums through a closed mouth, the second higher, a breath between them; 0.5 s."""
    closed = _resonances((250, 80), (1100, 300))
    first, second = _voiced(0.17, 125, 115, closed), _voiced(0.25, 130, 165, closed)
    breath = 0.02 * noise(0.07, 9, _resonances((1000, 800)))
    return _at(0.1, np.concatenate([first, breath, second]))


def _voiced(seconds: float, start: float, end: float, spectrum: Spectrum) -> Numbers:
    """Return a voice that glides from one pitch (Hz) to the other, through these resonances, softly begun and ended."""
    samples = round(seconds * SAMPLE_RATE)
    phase = np.cumsum(np.linspace(start, end, samples)) / SAMPLE_RATE
    source = _overtones(np.exp(2j * np.pi * phase), [1 / number for number in range(1, 30)])
    hertz = np.fft.rfftfreq(samples, 1 / SAMPLE_RATE)
    shaped = np.fft.irfft(np.fft.rfft(source) * spectrum(hertz), samples)
    ramp = np.minimum(1.0, np.minimum(np.arange(samples), np.arange(samples)[::-1]) / (0.03 * SAMPLE_RATE))
    return np.asarray(shaped * ramp)


def _resonances(*formants: tuple[float, float]) -> Spectrum:
    """Return a spectrum with a peak of (Hz, width in Hz) for each formant."""

    def spectrum(hertz: Numbers) -> Numbers:
        return np.asarray(np.sum([1 / (1 + ((hertz - middle) / width) ** 2) for middle, width in formants], axis=0))

    return spectrum


def _pitch(key: float, step: int) -> float:
    """Return the frequency (Hz) of a step of the major scale."""
    octave, degree = divmod(step, len(SCALE))
    return float(key * 2 ** (octave + SCALE[degree] / 12))


def _plucked(hertz: float, seconds: float, random: np.random.Generator) -> Numbers:
    at = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    overtones = [
        np.exp(1j * random.uniform(0, 6)) / number for number in range(1, 8) if number * hertz < SAMPLE_RATE / 2
    ]
    return np.asarray(_overtones(np.exp(at * (2j * np.pi * hertz - 1 / 0.6)), overtones) * np.minimum(1.0, at / 0.005))


def _overtones(tone: Turning, weights: Sequence[complex]) -> Numbers:
    """Return the imaginary part of the tone and its overtones, each times its weight: the sum of w[n] * tone^(n+1).

    By Horner's rule: a sine and an exponential for every overtone took most of what music costs.
    """
    out = np.zeros_like(tone)
    for weight in reversed(weights):
        out += weight
        out *= tone
    return out.imag


def _drum(seconds: float, hertz: float, random: np.random.Generator) -> Numbers:
    """Return a struck noise around a frequency."""
    samples = round(4 * seconds * SAMPLE_RATE)
    spectrum = _resonances((hertz, hertz / 2))(np.fft.rfftfreq(samples, 1 / SAMPLE_RATE))
    burst = np.fft.irfft(np.fft.rfft(random.normal(size=samples)) * spectrum, samples)
    return np.asarray(burst * np.exp(-np.arange(samples) / (seconds * SAMPLE_RATE)))


def _add(out: Numbers, at: float, sound: Numbers | Sound) -> None:
    start = round(at * SAMPLE_RATE)
    part = sound[: max(0, len(out) - start)]
    out[start : start + len(part)] += part


def _at(rms: float, sound: Numbers) -> Sound:
    return (sound * (rms / max(1e-9, float(np.sqrt(np.mean(sound**2)))))).astype(np.float32)
