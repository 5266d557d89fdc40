"""What is heard when no voice can speak: two falling notes."""

import numpy as np

from audio.pcm import Samples, from_float

SAMPLE_RATE = 24_000
NOTES_HZ = (440.0, 330.0)
NOTE_SECONDS = 0.2
LEVEL = 0.15
"""Of full scale: -16 dBFS."""
FADE_SECONDS = 0.02


def failure_tone() -> Samples:
    """Return the notes: int16, shape (9600,), 24 kHz, each faded in and out."""
    time = np.arange(round(NOTE_SECONDS * SAMPLE_RATE), dtype=np.float32) / SAMPLE_RATE
    fade = np.minimum(1.0, np.minimum(time, time[::-1]) / FADE_SECONDS)
    return from_float(np.concatenate([LEVEL * fade * np.sin(2 * np.pi * note * time) for note in NOTES_HZ]))
