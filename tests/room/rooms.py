"""The rooms of the showings: from a linear loudspeaker on one clock to a loud, crooked, drifting one in a hall."""

from typing import Final

from tests.room.acoustics import Loudspeaker

ROOMS: Final = {
    "one card, little reverberation": Loudspeaker(decay_seconds=0.2),
    "two clocks, 40 ppm apart": Loudspeaker(drift_ppm=40.0, decay_seconds=0.3, seed=2),
    "loud and clipping": Loudspeaker(gain_db=-4.0, ceiling=0.25, decay_seconds=0.3, seed=3),
    "a television far away, 0.14 s late": Loudspeaker(gain_db=-18.0, hidden_delay=0.14, drift_ppm=-20.0, seed=4),
    "a tiled bathroom": Loudspeaker(decay_seconds=0.6, tail_db=3.0, ceiling=0.5, seed=5),
}
"""Loudspeaker, delay, clock, clipping and reverberation of each."""
