"""The rooms of the showings: from a linear loudspeaker on one clock to a loud, crooked, drifting one in a hall."""

from typing import Final

from tests.room.acoustics import Loudspeaker
from tests.room.echo_loop import RoomKind

ROOMS: Final = {
    "one card, little reverberation": Loudspeaker(decay_seconds=0.2),
    "two clocks, 40 ppm apart": Loudspeaker(drift_ppm=40.0, decay_seconds=0.3, seed=2),
    "loud and clipping": Loudspeaker(gain_db=-4.0, ceiling=0.25, decay_seconds=0.3, seed=3),
    "a television far away, 0.14 s late": Loudspeaker(gain_db=-18.0, hidden_delay=0.14, drift_ppm=-20.0, seed=4),
    "a tiled bathroom": Loudspeaker(decay_seconds=0.6, tail_db=3.0, ceiling=0.5, seed=5),
}
"""Loudspeaker, delay, clock, clipping and reverberation of each."""


def _kind(  # noqa: PLR0913  the columns of a table
    gain_db: float, decay: float, tail_db: float, seed: int, *, fan_dbfs: float | None = None,
          late: float = 0.025, ppm: float = 0.0, ceiling: float = 0.7) -> RoomKind:  # fmt: skip
    return RoomKind(Loudspeaker(gain_db, late, ppm, ceiling, decay, tail_db, seed), fan_dbfs=fan_dbfs)


DUPLEX_CHOOSING: Final = {
    "beside, dry": _kind(-1, 0.2, -10, 11, late=0.012),
    "beside, a living room, two clocks": _kind(-1, 0.35, -6, 12, ppm=40),
    "on the microphone": _kind(5, 0.3, -8, 13, late=0.015),
    "half a metre": _kind(-6, 0.3, -4, 14),
    "two metres, two clocks": _kind(-12, 0.3, -3, 2, ppm=40),
    "overdriven": _kind(-2, 0.3, -3, 3, ceiling=0.2),
    "a stairwell": _kind(-8, 1.1, 3, 15),
    "a stairwell, loud": _kind(-2, 1.6, 2, 16),
    "a fan": _kind(-6, 0.3, -3, 17, fan_dbfs=-42),
    "a tiled bathroom": _kind(-12, 0.6, 3, 5, ceiling=0.5),
    "overdriven, a little": _kind(-3, 0.3, -4, 21, ceiling=0.3),
    "overdriven, a lot": _kind(-4, 0.2, -6, 22, ceiling=0.15),
    "overdriven, beside": _kind(0, 0.25, -7, 23, ceiling=0.2, late=0.012),
    "overdriven, on kitchen tiles": _kind(-3, 0.5, -2, 24, ceiling=0.2),
    "a short stairwell": _kind(-6, 0.9, 2, 25),
    "a long stairwell": _kind(-5, 1.4, 2, 26),
    "a stairwell, beside": _kind(-3, 1.2, 0, 27),
    "a hall": _kind(-10, 2.0, 3.5, 28),
}
"""Where the rules of full duplex were chosen; of the two kinds in which it paused for its own voice, several."""

DUPLEX_REPORTING: Final = {
    "on the microphone": _kind(3, 0.25, -9, 31, late=0.01),
    "beside, a study, two clocks": _kind(-1, 0.28, -7, 32, late=0.03, ppm=-60),
    "beside, kitchen tiles": _kind(-1, 0.5, -2, 33, late=0.02),
    "on a shelf, two clocks": _kind(-4, 0.4, -3, 34, ppm=90),
    "across the room": _kind(-15, 0.45, 1, 35, late=0.035),
    "a television, 0.16 s late": _kind(-20, 0.35, -3, 36, late=0.16, ppm=20),
    "overdriven": _kind(-3, 0.25, -5, 37, ceiling=0.18),
    "a stairwell": _kind(-5, 1.3, 2, 38),
    "a church hall": _kind(-10, 2.0, 4, 39),
    "beside, a fan": _kind(-2, 0.3, -6, 40, fan_dbfs=-38),
}
"""Where they are reported: other distances, reverberations, delays, clocks and seeds."""
