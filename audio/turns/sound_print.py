"""Sound prints: how loud the bands of speech are over time, by which two microphones that heard the same are found.

A print is no recording: eight numbers for 32 ms, from which nobody understands a word.
"""

from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, Samples

SoundPrint: TypeAlias = NDArray[np.float32]
"""Shape (chunks of 512 samples, 8): dB above the background of each band."""

EDGES: Final = (100, 300, 500, 800, 1200, 1800, 2600, 3800, 6000)
"""Hz between which the bands lie, about equally wide to the ear."""

BACKGROUND: Final = 10
"""Percent of the chunks that are no louder than the background, in each band."""

MOST_SHIFT: Final = 13
"""Chunks (0.42 s) by which one may be later than the other."""

LEAST_CHUNKS: Final = 8
"""In common (0.26 s); fewer tell nothing."""


def sound_print(samples: Samples) -> SoundPrint:
    """Return the print of a sound (int16, shape (n,), 16 kHz); 10 s of it take some milliseconds."""
    chunks = samples[: len(samples) // CHUNK_SAMPLES * CHUNK_SAMPLES].reshape(-1, CHUNK_SAMPLES)
    if not len(chunks):
        return np.zeros((0, len(EDGES) - 1), np.float32)
    power = np.abs(np.fft.rfft(chunks / 32768.0 * np.hanning(CHUNK_SAMPLES), axis=1)) ** 2
    bins = np.searchsorted(np.fft.rfftfreq(CHUNK_SAMPLES, 1 / SAMPLE_RATE), EDGES)
    bands = np.stack([power[:, low:high].sum(axis=1) for low, high in pairwise(bins)], axis=1)
    db = 10 * np.log10(bands + 1e-12)
    return np.asarray(np.maximum(db - np.percentile(db, BACKGROUND, axis=0), 0.0), np.float32)


def print_likeness(one: SoundPrint, other: SoundPrint) -> float:
    """Return how much two prints rise and fall together, 1 for equal ones, at the shift at which they do most.

    Each band is compared with its own mean, so that microphones, gains and rooms need not be alike.
    """
    least = max(LEAST_CHUNKS, min(len(one), len(other)) // 2)
    best = 0.0
    for shift in range(-MOST_SHIFT, MOST_SHIFT + 1):
        ours, theirs = one[max(0, shift) :], other[max(0, -shift) :]
        length = min(len(ours), len(theirs))
        if length >= least:
            best = max(best, _correlation(ours[:length], theirs[:length]))
    return best


def _correlation(ours: SoundPrint, theirs: SoundPrint) -> float:
    ours, theirs = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    scale = float(np.sqrt((ours**2).sum() * (theirs**2).sum()))
    return float((ours * theirs).sum()) / scale if scale > 0.0 else 0.0
