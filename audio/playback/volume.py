"""Volume: a percentage that people step up and down, and ducking while somebody may be speaking."""

from typing import Final

import numpy as np

from audio.interfaces import Player
from audio.pcm import Samples

SILENT_DB: Final = -40.0
"""Level of 1 %, dB relative to the voice as it is made; loudness is heard by its logarithm."""

FADE_SECONDS: Final = 0.005
"""From silence to full level: too short to be heard as a fade, long enough not to click."""


def gain(percent: int) -> float:
    """Return the factor of the samples for a volume of 0 to 100 %: 0 is silence, 100 changes nothing."""
    if percent <= 0:
        return 0.0
    return float(10 ** (SILENT_DB * (1 - min(percent, 100) / 100) / 20))


def scaled(samples: Samples, factor: float) -> Samples:
    """Return the samples times a factor in [0, 1]; the samples themselves for 1."""
    return samples if factor == 1.0 else (samples * np.float32(factor)).astype(np.int16)


class Ramp:
    """A gain in [0, 1] that moves to its target by small steps. Not thread-safe: who has the samples has it."""

    def __init__(self, sample_rate: int, level: float) -> None:
        self.level = level
        """The gain of the last sample."""
        self._step = 1 / (FADE_SECONDS * sample_rate)
        """Change from one sample to the next."""

    def samples_to(self, target: float) -> int:
        """Return how many samples it takes to reach a gain."""
        return int(np.ceil(abs(target - self.level) / self._step))

    def apply(self, samples: Samples, target: float) -> None:
        """Scale the samples (int16, shape (n,)) in place, on the way to the target."""
        if self.level == target == 1.0:
            return
        way = np.arange(1, min(self.samples_to(target), len(samples)) + 1, dtype=np.float32) * self._step
        gains = np.full(len(samples), target, np.float32)
        if target < self.level:
            gains[: len(way)] = np.maximum(self.level - way, target)
        else:
            gains[: len(way)] = np.minimum(self.level + way, target)
        if len(samples):
            self.level = target if len(way) < len(samples) else float(gains[-1])
        samples[:] = samples * gains


STEP: Final = 15
"""Percent of one "quieter": 6 dB, half the amplitude."""

QUIETEST: Final = 10
"""Percent below which no "quieter" goes: whoever wants silence says mute."""


class Volume:
    """The gain of one player, in two factors. Applied to all that sounds from now on, bells and announcements too."""

    def __init__(self, player: Player, percent: int) -> None:
        self._player = player
        self._percent = percent
        self._ducked_db = 0.0
        self._apply()

    @property
    def percent(self) -> int:
        """0 (silence) to 100 (as the voice made it); what is set beyond is taken as the nearer end."""
        return self._percent

    @percent.setter
    def percent(self, percent: int) -> None:
        self._percent = min(100, max(0, percent))
        self._apply()

    def louder(self) -> int:
        """Step up; return the percentage."""
        self.percent += STEP
        return self.percent

    def quieter(self) -> int:
        """Step down, not below `QUIETEST`; return the percentage."""
        self.percent = max(self.percent - STEP, min(QUIETEST, self.percent))
        return self.percent

    def duck(self, db: float) -> None:
        """Sound so many dB quieter than the percentage says, until `unduck`."""
        self._ducked_db = db
        self._apply()

    def unduck(self) -> None:
        """Sound as the percentage says."""
        self.duck(0.0)

    def _apply(self) -> None:
        self._player.set_gain(gain(self._percent) * float(10 ** (-self._ducked_db / 20)))
