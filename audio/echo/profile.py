"""What was learned of a room and its devices, kept over a restart: echo path, delay, noise and duplex mode."""

from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.echo.duplex import Mode


class RoomProfile(Struct, frozen=True):
    """One room, as one microphone hears one loudspeaker in it."""

    devices: str
    """The names of both: with others nothing of it holds."""
    mode: Mode
    echo_delay: float
    """Seconds by which the reference was moved to pair with its echo."""
    raw_floor: float
    left_floor: float
    """Power of the room's noise before and after the canceller, relative to full scale."""
    path: NDArray[np.float32]
    """The echo path as near-end detection has learned it: its impulse response, shape (n,), at its rate."""
    expected: NDArray[np.float64]
    """What it leaves, the room's noise and the loudspeaker's distortion, dB, shape (3, bands)."""


class KeptRoom(Protocol):
    """Keeps the newest profile. `load` and `save` block, for worker threads."""

    def devices(self) -> str:
        """Return the names of microphone and loudspeaker, as they are now."""

    def load(self) -> RoomProfile | None:
        """Return the profile that was kept of these devices; None where there is none, or none that can be read."""

    def save(self, profile: RoomProfile) -> None:
        """Keep a profile in place of the one before. What cannot be kept is told in the log, and costs nothing else."""
