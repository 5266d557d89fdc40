"""Earcons: a bell for timers, and seven short signs, synthesized when needed."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import numpy as np

from audio.pcm import from_float
from audio.speech import SpeechAudio

SAMPLE_RATE: Final = 24_000
"""Hz."""

STRIKES: Final = ((0.0, 880.0), (0.16, 1174.66), (0.5, 880.0), (0.66, 1174.66))
"""A bell's strikes: seconds from the start, Hz (A5, D6: high enough to be heard from the next room)."""

PARTIALS: Final = ((1.0, 1.0), (2.0, 0.35), (3.01, 0.12))
"""What makes it a bell and not a whistle: multiples of the strike's frequency, each with its share of the level."""

STRIKE_SECONDS: Final = 0.5
DECAY_SECONDS: Final = 0.12
"""In which a strike falls to 1/e."""
ATTACK_SECONDS: Final = 0.004
RELEASE_SECONDS: Final = 0.05
"""Its last moments, in which it fades to silence; without, the cut would click."""
REST_SECONDS: Final = 0.04
"""Silence behind the last note."""
PEAK: Final = 0.5
"""Of full scale: -6 dBFS."""

Sign: TypeAlias = Literal["listening", "acknowledged", "thinking", "error", "unclear", "muted", "unmuted"]

SIGNS: Final[dict[Sign, tuple[tuple[float, float], ...]]] = {
    "listening": ((0.0, 659.26), (0.09, 987.77)),
    "acknowledged": ((0.0, 783.99),),
    "thinking": ((0.0, 587.33), (0.16, 587.33)),
    "error": ((0.0, 311.13), (0.16, 293.66)),
    "unclear": ((0.0, 440.0), (0.1, 392.0), (0.2, 493.88)),
    "muted": ((0.0, 783.99), (0.1, 523.25), (0.2, 392.0)),
    "unmuted": ((0.0, 392.0), (0.1, 523.25), (0.2, 783.99)),
}
"""Each sign's notes, seconds and Hz: up is open (E5 B5; G4 C5 G5), down is closed, one note is yes, two equal ones
are a moment's wait (D5), two low ones no; down and up again asks back, as "hm?" does (A4 G4 B4)."""

NOTE_SECONDS: Final = 0.16
NOTE_DECAY_SECONDS: Final = 0.05
SIGN_PARTIALS: Final = ((1.0, 1.0), (2.0, 0.15))
SIGN_PEAK: Final = 0.2
"""Of full scale: -14 dBFS; a sign must not startle."""


def bell() -> SpeechAudio:
    """Return four strikes of a bell in 1.2 s: int16, 24 kHz, from silence to silence."""
    return _struck(STRIKES, PARTIALS, (STRIKE_SECONDS, DECAY_SECONDS), PEAK)


def sign(meaning: Sign) -> SpeechAudio:
    """Return a sign of 0.2 to 0.4 s: int16, 24 kHz, from silence to silence."""
    return _struck(SIGNS[meaning], SIGN_PARTIALS, (NOTE_SECONDS, NOTE_DECAY_SECONDS), SIGN_PEAK)


def _struck(
    notes: Sequence[tuple[float, float]],
    partials: Sequence[tuple[float, float]],
    shape: tuple[float, float],
    peak: float,
) -> SpeechAudio:
    """Return notes (seconds, Hz) struck one after the other; `shape` is one's length and decay, in seconds."""
    seconds, decay = shape
    sound = np.zeros(round((notes[-1][0] + seconds + REST_SECONDS) * SAMPLE_RATE))
    time = np.arange(round(seconds * SAMPLE_RATE), dtype=np.float64) / SAMPLE_RATE
    fades = np.minimum(1.0, time / ATTACK_SECONDS) * np.minimum(1.0, time[::-1] / RELEASE_SECONDS)
    envelope = fades * np.exp(-time / decay)
    for start, hertz in notes:
        first = round(start * SAMPLE_RATE)
        note = sum(share * np.sin(2 * np.pi * hertz * multiple * time) for multiple, share in partials)
        sound[first : first + len(time)] += envelope * note
    return SpeechAudio(from_float((peak * sound / np.max(np.abs(sound))).astype(np.float32)), SAMPLE_RATE)
