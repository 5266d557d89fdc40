"""Short sounds with a meaning of their own, made on the spot: a bell that rings."""

from typing import Final

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
PEAK: Final = 0.5
"""Of full scale: -6 dBFS."""


def bell() -> SpeechAudio:
    """Return four strikes of a bell in 1.2 s: int16, 24 kHz, from silence to silence."""
    sound = np.zeros(round((STRIKES[-1][0] + STRIKE_SECONDS + 0.04) * SAMPLE_RATE), np.float32)
    time = np.arange(round(STRIKE_SECONDS * SAMPLE_RATE), dtype=np.float32) / SAMPLE_RATE
    shape = np.minimum(1.0, time / ATTACK_SECONDS) * np.exp(-time / DECAY_SECONDS) * np.minimum(1.0, time[::-1] / 0.05)
    for start, hertz in STRIKES:
        strike = sum(share * np.sin(2 * np.pi * hertz * multiple * time) for multiple, share in PARTIALS)
        first = round(start * SAMPLE_RATE)
        sound[first : first + len(time)] += shape * strike
    return SpeechAudio(from_float(PEAK * sound / np.max(np.abs(sound))), SAMPLE_RATE)
