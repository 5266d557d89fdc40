"""The physics of a room in numpy: what a loudspeaker's sound becomes on its way to the microphone, and levels."""

from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples

Sound: TypeAlias = NDArray[np.float32]
"""Mono, 16 kHz, full scale is 1, shape (n,)."""

SPEAKER_RATE: Final = 48_000
"""Hz of the simulated loudspeaker."""

INAUDIBLE: Final = 1e-6
"""Of full scale: a thirtieth of the least that 16 bits can hold."""

ACTIVE_RANGE_DB: Final = 30.0
"""A frame so far below the loudest is a pause and does not count for the level of speech."""


def impulse_response(decay_seconds: float, seed: int, tail_db: float) -> Sound:
    """Return a room's answer to a click: the direct sound, then noise that decays by 60 dB in `decay_seconds`.

    `tail_db` is the energy of the tail against the direct sound; the whole has the energy 1.
    """
    length = round(decay_seconds * SAMPLE_RATE)
    gap = round(0.002 * SAMPLE_RATE)
    tail = np.random.default_rng(seed).normal(size=length) * 10 ** (-3.0 * np.arange(length) / length)
    tail[:gap] = 0.0
    tail *= 10 ** (tail_db / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return np.asarray(tail / np.sqrt(np.sum(tail**2)), np.float32)


def level_dbfs(sound: Sound) -> float:
    """Return the RMS level of what is active in the sound (pauses not counted), dB relative to full scale."""
    frames = sound[: len(sound) // 320 * 320].reshape(-1, 320).astype(np.float64)
    power = np.mean(frames**2, axis=1)
    active = power[power > power.max() * 10 ** (-ACTIVE_RANGE_DB / 10)]
    return float(10 * np.log10(np.mean(active))) if len(active) else -120.0


def at_level(sound: Sound, dbfs: float) -> Sound:
    """Return the sound at an active level, dB relative to full scale."""
    return (sound * 10 ** ((dbfs - level_dbfs(sound)) / 20)).astype(np.float32)


def from_samples(samples: Samples) -> Sound:
    """Return int16 samples as a sound."""
    return (samples / 32768.0).astype(np.float32)


def soft_clip(sound: Sound, ceiling: float) -> Sound:
    """Return what a small loudspeaker makes of a sound: linear when soft, rounded off towards `ceiling`."""
    return np.asarray(ceiling * np.tanh(sound / ceiling), np.float32)


class Convolver:
    """Convolves a stream with an impulse response, block by block (overlap-add by FFT)."""

    def __init__(self, response: Sound, block: int) -> None:
        self._block = block
        self._size = 1 << int(np.ceil(np.log2(len(response) + block)))
        self._spectrum = np.fft.rfft(response, self._size)
        self._tail = np.zeros(self._size)

    def feed(self, sound: Sound) -> Sound:
        """Return the next `block` samples for as many."""
        if not sound.any() and np.abs(self._tail).max() < INAUDIBLE:
            self._tail[:] = 0.0
            return np.zeros(self._block, np.float32)
        self._tail += np.fft.irfft(np.fft.rfft(sound, self._size) * self._spectrum, self._size)
        ready = self._tail[: self._block].astype(np.float32)
        self._tail = np.concatenate([self._tail[self._block :], np.zeros(self._block)])
        return ready


class Loudspeaker(Struct, frozen=True):
    """How loud, late and crooked a loudspeaker sounds at the microphone."""

    gain_db: float = -12.0
    """From full scale of the loudspeaker to full scale of the microphone, before the room."""
    hidden_delay: float = 0.025
    """Seconds from the moment the sound card tells to the microphone: what it does not tell, and the air."""
    drift_ppm: float = 0.0
    """By how much its clock is faster than the microphone's."""
    ceiling: float = 0.7
    """Where it clips softly, of its full scale."""
    decay_seconds: float = 0.25
    """The room's, by 60 dB."""
    tail_db: float = -3.0
    """Energy of the reflections against the direct sound."""
    seed: int = 1


class EchoPath:
    """A loudspeaker's samples at 48 kHz in, what the microphone hears of them at 16 kHz out; both streams, no gaps.

    The loudspeaker's clock may drift: its k-th sample sounds k / (48 kHz * (1 + drift)) after its first.
    """

    def __init__(self, loudspeaker: Loudspeaker, block: int, first_sample_at: float) -> None:
        self._loudspeaker = loudspeaker
        self._block = block
        self._first_at = first_sample_at + loudspeaker.hidden_delay
        """Seconds on the room's clock at which the first sample reaches the microphone."""
        self._step = SPEAKER_RATE / SAMPLE_RATE * (1 + loudspeaker.drift_ppm * 1e-6)
        response = impulse_response(loudspeaker.decay_seconds, loudspeaker.seed, loudspeaker.tail_db)
        self._convolver = Convolver(response, block)
        self._low_pass = _low_pass()
        self._filter_tail: Sound = np.zeros(len(self._low_pass) - 1, np.float32)
        self._waiting: Sound = np.zeros(0, np.float32)
        """Filtered samples that are still needed."""
        self._dropped = 0
        """Samples before `_waiting`."""

    def play(self, samples: Samples) -> None:
        """Take the loudspeaker's next samples (int16, 48 kHz)."""
        if not samples.any() and not self._filter_tail.any():
            self._waiting = np.concatenate([self._waiting, np.zeros(len(samples), np.float32)])
            return
        fresh = np.concatenate([self._filter_tail, from_samples(samples)])
        self._filter_tail = fresh[len(fresh) - len(self._filter_tail) :]
        clipped = soft_clip(np.convolve(fresh, self._low_pass, "valid").astype(np.float32), self._loudspeaker.ceiling)
        self._waiting = np.concatenate([self._waiting, clipped])

    def hear(self, at: float) -> Sound:
        """Return the echo of one block that begins at `at`, seconds on the room's clock; blocks come in order."""
        first = (at - self._first_at) * SAMPLE_RATE * self._step
        places = first + np.arange(self._block) * self._step - self._dropped
        needed = self._waiting[max(0, int(places[0]) - 2) : int(places[-1]) + 3]
        direct = _interpolated(self._waiting, places) if needed.any() else np.zeros(self._block, np.float32)
        done = max(0, int(places[-1]) - 4)
        self._waiting, self._dropped = self._waiting[done:], self._dropped + done
        return self._convolver.feed((direct * 10 ** (self._loudspeaker.gain_db / 20)).astype(np.float32))


def _low_pass() -> Sound:
    """Return a filter that leaves of 48 kHz what 16 kHz can hold."""
    taps = np.arange(-31, 32)
    cutoff = 7200 / SPEAKER_RATE
    kernel = 2 * cutoff * np.sinc(2 * cutoff * taps) * np.hamming(63)
    return np.asarray(kernel / kernel.sum(), np.float32)


def _interpolated(samples: Sound, places: NDArray[np.floating]) -> Sound:
    """Return the samples between samples (4-point Lagrange); silence where there are none."""
    whole = np.floor(places).astype(np.int64)
    part = (places - whole).astype(np.float32)
    padded = np.concatenate([np.zeros(2, np.float32), samples, np.zeros(3, np.float32)])
    index = np.clip(whole + 2, 1, len(padded) - 3)
    before, here, after, later = (padded[index + offset] for offset in (-1, 0, 1, 2))
    inside = (whole >= -1) & (whole < len(samples))
    mixed = (
        before * (-part * (part - 1) * (part - 2) / 6)
        + here * ((part + 1) * (part - 1) * (part - 2) / 2)
        + after * (-(part + 1) * part * (part - 2) / 2)
        + later * ((part + 1) * part * (part - 1) / 6)
    )
    return np.where(inside, mixed, 0.0).astype(np.float32)
