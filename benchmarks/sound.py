"""The sound that benchmarks are given: spoken questions, and the quiet of a room."""

import wave
from pathlib import Path
from typing import Final

import numpy as np

from audio.pcm import SAMPLE_RATE, Samples

NOISE_FLOOR: Final = -60.0
"""Level of a quiet room, dB relative to full scale."""


def quiet_room(seconds: float) -> Samples:
    """Return so much noise at `NOISE_FLOOR`, the same each time."""
    amplitude = 32768.0 * 10 ** (NOISE_FLOOR / 20)
    noise = np.random.default_rng(0).normal(0.0, amplitude, round(seconds * SAMPLE_RATE))
    return noise.astype(np.int16)


def write_wav(file: Path, samples: Samples) -> Path:
    """Write a WAV, mono, 16 kHz; return its path."""
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(samples.tobytes())
    return file
