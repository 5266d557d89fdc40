"""Calibration: plays a short sound and measures delay and level of its echo."""

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.echo.duplex import Leak
from audio.pcm import QUIETEST_DBFS, SAMPLE_RATE, Samples, from_float, rms_dbfs, to_float
from audio.speech import SpeechAudio

CHIME_RATE: Final = 24_000
"""Hz."""

CHIME_SECONDS: Final = 0.5
CHIME_GLIDES: Final = ((320.0, 2560.0, 1.0), (480.0, 3840.0, 0.5))
"""Two tones a fifth apart that rise by three octaves: Hz at the start, Hz at the end, share. A friendly "bloop", and so
broad that its echo is found to the millisecond."""

CHIME_PEAK: Final = 0.25
"""Of full scale: -12 dBFS, as loud as speech output."""

EARLIEST: Final = -0.12
LATEST: Final = 2.0
"""Seconds in which an echo is looked for; before 0 when a device tells a moment later than the true one. Bluetooth is
up to half a second late, loudspeakers in the network two."""

HEARD_RATIO: Final = 8.0
"""By which the correlation's peak exceeds its usual size when the sound was heard: chance gives 4 to 5."""

WHITENING: Final = 0.8
"""Power of the spectrum's size by which speech is divided: what it repeats, its pitch, is not taken for an echo."""

FIRST_OF_PEAK: Final = 0.5
"""The echo begins with the first peak that has so much of the highest: reflections come later, and may be louder."""


class Calibration(Struct, frozen=True):
    """The measured echo."""

    is_heard: bool
    """False with headphones, or when the loudspeaker is mute: then the other two mean nothing."""
    delay: float = 0.0
    """Seconds by which the echo is behind what was played, as the two were laid side by side."""
    leak: Leak | None = None


def chime() -> SpeechAudio:
    """Return the sound: int16, 24 kHz, 0.5 s, from silence to silence."""
    time = np.arange(round(CHIME_SECONDS * CHIME_RATE)) / CHIME_RATE
    sound = np.sum([share * _glide(time, low, high) for low, high, share in CHIME_GLIDES], axis=0)
    shaped = sound * np.sqrt(np.sin(np.pi * time / CHIME_SECONDS))
    return SpeechAudio(from_float((CHIME_PEAK * shaped / np.max(np.abs(shaped))).astype(np.float32)), CHIME_RATE)


def measure(played: Samples, recorded: Samples, cleaned: Samples) -> Calibration:
    """Return what of `played` is in `recorded`, and in `cleaned`: all int16, 16 kHz, of one length, side by side.

    The sound should be whole in `recorded`, with some silence before it. Where nothing was played nothing is heard.
    """
    lag = _lag(played, recorded)
    if lag is None:
        return Calibration(is_heard=False)
    sounding = np.flatnonzero(played)
    window = slice(max(0, sounding[0] + lag), max(1, sounding[-1] + lag))
    quiet = slice(0, window.start)
    level = rms_dbfs(played[sounding[0] : sounding[-1] + 1])
    left, raw = (_above_noise(sound[window], sound[quiet]) - level for sound in (cleaned, recorded))
    return Calibration(is_heard=True, delay=lag / SAMPLE_RATE, leak=Leak(left, raw))


def delay_in_speech(played: Samples, recorded: Samples) -> float | None:
    """Return the seconds by which `played` is in `recorded`, both int16, 16 kHz, side by side; None when it is not.

    For any sound of some seconds; blocking, some 50 ms. The generalized cross-correlation of Knapp and Carter (1976).
    """
    lag = _lag(played, recorded, WHITENING)
    return None if lag is None else lag / SAMPLE_RATE


def _lag(played: Samples, recorded: Samples, whitening: float = 0.0) -> int | None:
    """Return the samples by which the first of what was played is recorded later; None when nothing of it is."""
    if not np.any(played) or not np.any(recorded):
        return None
    sizes = np.abs(_correlated(to_float(played), to_float(recorded), whitening))
    if sizes.max() <= HEARD_RATIO * float(np.median(sizes)) / 0.6745:  # the median of a normal variable's size
        return None
    return int(np.argmax(sizes >= FIRST_OF_PEAK * sizes.max())) + round(EARLIEST * SAMPLE_RATE)


def _correlated(played: NDArray[np.float32], recorded: NDArray[np.float32], whitening: float) -> NDArray[np.float32]:
    """Return how alike the two are when `recorded` is `EARLIEST` to `LATEST` behind, sample by sample."""
    size = 1 << (len(played) + len(recorded)).bit_length()
    spectrum = np.fft.rfft(recorded, size) * np.conj(np.fft.rfft(played, size))
    if whitening:
        spectrum /= np.maximum(np.abs(spectrum), 1e-9) ** whitening
    around = np.fft.irfft(spectrum, size)
    lags = np.arange(round(EARLIEST * SAMPLE_RATE), round(LATEST * SAMPLE_RATE))
    return np.asarray(around[lags % size], np.float32)


def _above_noise(sound: Samples, noise: Samples) -> float:
    """Return the level (dBFS) of a sound without that of the noise in it; what is 10 dB below the noise is not seen."""
    both, alone = (10 ** (rms_dbfs(each) / 10) for each in (sound, noise))
    return float(10 * np.log10(max(both - alone, alone / 10, 10 ** (QUIETEST_DBFS / 10))))


def _glide(time: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return a tone that rises evenly to the ear."""
    rise = np.log(high / low) / CHIME_SECONDS
    return np.asarray(np.sin(2 * np.pi * low * (np.exp(rise * time) - 1) / rise))
