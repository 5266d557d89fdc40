"""Whose voice it is: compares a voice with those that are known, and says how sure that is."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from audio.speakers.encoder import Vector, unit
from audio.speech import Voice

UNKNOWN: Final = "unknown"

LEAST_SECONDS: Final = 0.8
"""Of speech, below which nobody is told from anybody."""

LEAST_SNR_DB: Final = 6.0
"""In more noise than that the noise is compared, not the voice."""

APART: Final = 0.08
"""By how much the nearest of the known must be nearer than the next."""

PERHAPS: Final = 0.1
"""Below the threshold by up to so much, a name is a guess; below that, nobody's."""

LENGTHS: Final = (0.8, 1.2, 1.6, 2.4, 4.0)
THRESHOLDS: Final = (0.5, 0.53, 0.53, 0.55, 0.57)
"""The nearness that is enough, at these seconds of speech in a quiet room: one of about two hundred utterances of
strangers reaches that of a known person (`python -m benchmarks.speakers.fit` chose them on half of the voices)."""

NOISE_BELOW_DB: Final = 18.0
PER_DB: Final = 0.006
"""Voices in one noise are nearer to each other: for each dB of signal to noise below the first, more is asked."""

MEAN: Final = Path(__file__).with_name("speaker_mean.npy")
"""float32, shape (256,): the mean of many voices, which tells nobody from anybody and is taken off; made likewise."""


class Guess(Struct, frozen=True):
    """Who it may be."""

    name: str
    """`UNKNOWN` is the normal case."""
    margin: float
    """How much nearer than needed: negative where it is not sure, -1 where nothing was compared."""

    @property
    def is_sure(self) -> bool:
        """Whether the name may be told."""
        return self.name != UNKNOWN and self.margin >= 0


NOBODY: Final = Guess(UNKNOWN, -1.0)


def guess(voice: Voice | None, known: Mapping[str, Sequence[Vector]]) -> Guess:
    """Return who of the known it may be; `known` are some vectors of each by name."""
    if not known or voice is None or not voice.is_one:
        return NOBODY
    if voice.seconds < LEAST_SECONDS or voice.snr_db < LEAST_SNR_DB:
        return NOBODY
    near = sorted(((nearness(voice.vector, vectors), name) for name, vectors in known.items() if vectors), reverse=True)
    if not near:
        return NOBODY
    best, name = near[0]
    margin = best - threshold(voice.seconds, voice.snr_db)
    if len(near) > 1:
        margin = min(margin, best - near[1][0] - APART)
    return Guess(name if margin > -PERHAPS else UNKNOWN, round(margin, 3))


def threshold(seconds: float, snr_db: float) -> float:
    """Return the nearness that is enough for so much speech in so much noise."""
    quiet = float(np.interp(seconds, LENGTHS, THRESHOLDS))
    return quiet + PER_DB * min(max(0.0, NOISE_BELOW_DB - snr_db), NOISE_BELOW_DB)


def nearness(vector: Vector, known: Sequence[Vector]) -> float:
    """Return how near a voice is to somebody's: 1 the same, about 0 for two people."""
    mean = _mean()
    return float(unit(vector - mean) @ unit(unit(np.mean(known, axis=0)) - mean))


@cache
def _mean() -> Vector:
    return np.asarray(np.load(MEAN), np.float32)
