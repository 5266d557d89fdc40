"""Prosody: whether a voice sounds as if it had ended, from the last seconds before a silence.

A voice that ends falls in pitch, dies away slowly and stops moving; one that breaks off in a phrase does not (Ferrer,
Shriberg and Stolcke 2003; Gravano and Hirschberg 2011). Seven measures of that are weighed by a logistic regression,
fitted by benchmarks/ears/fit_prosody.py on people who speak English, Spanish and Italian.
"""

from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples
from audio.turns.turn import SOFT_END_SECONDS

Track: TypeAlias = NDArray[np.float32]
"""One value a frame, float32, shape (n,)."""

WEIGHTS: Final = {
    "above_low": -0.194,
    "drop": -0.292,
    "last_voiced": 0.49,
    "unvoiced_end": 2.99,
    "motion": -0.948,
    "motion_at_end": -0.753,
    "rate": -0.223,
}
"""Of the fields of `Prosody`."""

BIAS: Final = 2.93
"""The regression put it at 3.48, where ends and cuts are told apart best; here more than half of all ends are believed,
and one cut in five (the split "choose": other people)."""

SECONDS: Final = 2.4
"""As much of the turn is looked at."""

LEAST_SECONDS: Final = 0.35
"""Of sound, the silence included; in less no syllable has room."""

HOP: Final = 160
"""Samples from one frame to the next; of the pitch every second one is looked at."""

WINDOW: Final = 512
LOWEST_HZ, HIGHEST_HZ = 65, 400
"""Of a voice's pitch."""

VOICED: Final = 0.6
"""Least height of the autocorrelation's peak in a frame with a pitch."""

LEAST_VOICED: Final = 6
"""Frames (of 20 ms); with fewer nothing is said."""

CLEAR_DB: Final = 12.0
"""Of loud speech above the quietest frames; with less (noise at 5 dB) the measures are those of the noise."""


class Prosody(Struct, frozen=True):
    """What is measured at the end of a voice."""

    above_low: float
    """Semitones of the last pitch above the turn's 10th percentile."""
    drop: float
    """Decibels a frame by which the last syllable falls from its peak to the silence: cut off, or died away."""
    last_voiced: float
    """Seconds of the last voiced stretch."""
    unvoiced_end: float
    """Seconds from the last pitch to the end."""
    motion: float
    """Change of the spectrum in the last quarter of a second, relative to the turn: a long syllable stands still."""
    motion_at_end: float
    rate: float
    """Peaks of loudness a second in the last 1.2 s."""

    @property
    def log_odds(self) -> float:
        """Evidence that the voice has ended (above 0) or goes on (below)."""
        return BIAS + sum(weight * float(getattr(self, name)) for name, weight in WEIGHTS.items())


def ending_heard(samples: Samples, began: float) -> float:
    """Return the evidence that a voice has ended: above 0 it has, below 0 it goes on, 0 when nothing can be said.

    `samples` (int16, shape (n,), 16 kHz) are a turn and at least `SOFT_END_SECONDS` after it, `began` is where in them
    it began (s). Takes some milliseconds; for a worker thread.
    """
    prosody = prosody_of(samples, began)
    return 0.0 if prosody is None else prosody.log_odds


def prosody_of(samples: Samples, began: float) -> Prosody | None:
    """Measure the end of a voice; None where it has no pitch, is hardly above the noise, or said too little."""
    first = max(0, len(samples) - round((SECONDS + SOFT_END_SECONDS) * SAMPLE_RATE))
    wave = samples[first:].astype(np.float32)
    if len(wave) < LEAST_SECONDS * SAMPLE_RATE:
        return None
    spectrum = _power(sliding_window_view(wave, WINDOW)[::HOP] * _WINDOW, WINDOW)
    jagged = np.pad(10.0 * np.log10(spectrum.sum(1) + 1e3), 1, "edge")
    level = np.convolve(jagged, np.ones(3) / 3, "valid").astype(np.float32)
    last = (len(wave) - round(SOFT_END_SECONDS * SAMPLE_RATE)) // HOP
    start = min(max(0, int((began - first / SAMPLE_RATE) * SAMPLE_RATE / HOP) - 3), last - 10)
    loud, quiet = float(np.percentile(level[start : last + 1], 92)), float(np.percentile(level, 5))
    end = int(np.flatnonzero(level[: last + 8] > max(loud - 22.0, min(quiet + 5.0, loud - 8.0)))[-1])
    start = min(start, max(0, end - 10))
    pitch, periodicity = _pitch(wave, len(level))
    voiced = _voiced(pitch, periodicity, level > loud - 25.0, start, end)
    if len(voiced) < LEAST_VOICED or loud - quiet < CLEAR_DB:
        return None
    motion = np.abs(np.diff(np.log(spectrum @ _BANDS + 1e3), axis=0)).mean(1)
    typical = float(motion[start : end + 1].mean()) + 1e-3
    tones = pitch[voiced]
    now = float(np.median(tones[voiced > voiced[-1] - 6]))
    return Prosody(
        above_low=now - float(np.percentile(tones, 10)),
        drop=_drop(level, start, end),
        last_voiced=min(0.6, 0.02 * _last_run(voiced)),
        unvoiced_end=min(0.5, max(0.0, 0.01 * (end - 2 * int(voiced[-1])))),
        motion=float(motion[max(start, end - 25) : max(start + 1, end - 5)].mean()) / typical,
        motion_at_end=float(motion[max(start, end - 10) : end + 6].mean()) / typical,
        rate=_rate(level[max(start, end - 120) : end + 1], loud),
    )


def _power(frames: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    spectrum = np.fft.rfft(frames, size)
    return (spectrum.real**2 + spectrum.imag**2).astype(np.float32)


def _pitch(wave: Track, frames: int) -> tuple[Track, Track]:
    """Return pitch (semitones above 80 Hz) and periodicity of every second frame: autocorrelation at 8 kHz, 40 ms."""
    half = wave[: len(wave) // 2 * 2].reshape(-1, 2).mean(1)
    pieces = sliding_window_view(np.pad(half, (32, _LONG)), _LONG)[::HOP][: (frames + 1) // 2]
    pieces = (pieces - pieces.mean(1, keepdims=True)) * _LONG_WINDOW
    correlation = np.fft.irfft(_power(pieces, 512), 512)[:, : _LAGS[-1] + 2] / _OF_WINDOW
    correlation /= correlation[:, :1] + 1.0
    # The shorter of two equal lags: an octave too low is the commoner mistake.
    best = (correlation[:, _LAGS] * (1.0 - 0.0015 * _LAGS)).argmax(1) + _LAGS[0]
    row = np.arange(len(best))
    left, peak, right = (correlation[row, best + step] for step in (-1, 0, 1))
    offset = np.clip(0.5 * (left - right) / (left - 2 * peak + right - 1e-9), -0.5, 0.5)
    # What only falls or rises at the bounds is rumble and no pitch.
    return 12.0 * np.log2(100.0 / (best + offset)), np.where((left < peak) & (peak >= right), peak, 0.0)


def _voiced(pitch: Track, periodicity: Track, is_loud: NDArray[np.bool_], start: int, end: int) -> NDArray[np.int64]:
    """Return the places with a pitch, those that jump from the median by most of an octave left out."""
    places = np.flatnonzero((periodicity > VOICED) & is_loud[::2][: len(pitch)])
    places = places[(places * 2 >= start) & (places * 2 <= end)]
    return places[np.abs(pitch[places] - np.median(pitch[places])) < 9.0] if len(places) else places


def _last_run(places: NDArray[np.int64]) -> int:
    """Return how many places the last stretch without a gap of 60 ms has."""
    gaps = np.flatnonzero(np.diff(places) > 2)
    return len(places) - (int(gaps[-1]) + 1 if len(gaps) else 0)


def _drop(level: Track, start: int, end: int) -> float:
    begin = max(start, end - 40)
    peak = begin + int(level[begin : end + 1].argmax())
    after = min(len(level) - 1, end + 1)
    return float(np.clip((level[peak] - level[after]) / max(2, end + 1 - peak), 0.0, 6.0))


def _rate(level: Track, loud: float) -> float:
    windows = sliding_window_view(np.pad(level, 6, "edge"), 13).max(1)
    peaks = (level >= windows) & (level > loud - 15.0)
    return float(peaks[1:-1].sum()) / max(0.2, len(level) / 100)


def _bands() -> NDArray[np.float32]:
    """Return 16 triangular filters, evenly spaced on the mel scale from 100 to 6000 Hz, shape (257, 16)."""
    mel = np.linspace(2595 * np.log10(1 + 100 / 700), 2595 * np.log10(1 + 6000 / 700), 16 + 2)
    edges, hertz = 700 * (10 ** (mel / 2595) - 1), np.fft.rfftfreq(WINDOW, 1 / SAMPLE_RATE)[:, None]
    rising, falling = (hertz - edges[:-2]) / np.diff(edges)[:-1], (edges[2:] - hertz) / np.diff(edges)[1:]
    return np.clip(np.minimum(rising, falling), 0, None).astype(np.float32)


_WINDOW: Final = np.hanning(WINDOW).astype(np.float32)
_LONG: Final = 320
_LONG_WINDOW: Final = np.hanning(_LONG).astype(np.float32)
_LAGS: Final = np.arange(SAMPLE_RATE // 2 // HIGHEST_HZ, SAMPLE_RATE // 2 // LOWEST_HZ + 1)
_OF_WINDOW: Final = np.fft.irfft(_power(_LONG_WINDOW, 512), 512)[: int(_LAGS[-1]) + 2]
_BANDS: Final = _bands()
