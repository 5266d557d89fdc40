"""How loud it is: a percentage that people step up and down, and ducking while somebody may be speaking."""

from typing import Final

from audio.interfaces import Player
from audio.playback.loudness import gain

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
