"""Residual echo: its level, how much of a sound it explains, and how often it still sounds like somebody's voice."""

import math
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from audio.pcm import CHUNK_SECONDS
from audio.turns.endpointer import SPEECH_BEGINS

HISTORY_SECONDS: Final = 60.0
"""For which `suspicion` can be asked: the longest turn and its recognition."""

ESTIMATE_SECONDS: Final = 15.0
"""Seconds of nakari's voice over which the leak is estimated."""

ENOUGH_SECONDS: Final = 2.5
"""Seconds of nakari's voice before there is an estimate: the canceller settles in 1.5 s, later in a tiled bathroom."""

QUANTILE: Final = 0.5
"""Of what is left, chunk by chunk."""

ALONE_QUANTILE: Final = 0.3
"""Of what was there before the canceller: with somebody speaking in seven of ten, it is still nakari's alone."""

ALONE_DB: Final = 3.0
"""Above that quantile somebody else is heard too: such chunks do not count for the residual."""

SMOOTHING: Final = 0.2
"""Of powers, from chunk to chunk (about 160 ms): echo and reference do not fall into the same chunk."""

FADING_DB_PER_CHUNK: Final = 4.8
"""By which the echo of what was played fades: a room with a reverberation of 0.4 s."""

AUDIBLE_DBFS: Final = -50.0
"""Played more quietly than that, nothing is learned of the leak."""

MARGIN_DB: Final = 10.0
"""By which single chunks of what is left over exceed the estimate."""

UNKNOWN_LEAK_DB: Final = -15.0
"""Taken for `suspicion` until there is an estimate: a loud loudspeaker near the microphone."""

FLOOR_FALLS: Final = 0.3
FLOOR_RISES: Final = 0.02
"""Share of a new chunk in the room's noise: down within a tenth of a second, up in one and a half."""

_QUIETEST: Final = 1e-12
"""A power, relative to full scale: -120 dBFS."""


class _Chunk(NamedTuple):
    at: float
    far: float
    cleaned: float


class _Floor(Struct):
    """The room's own noise in one signal: followed down fast and up slowly, and only while nothing is played."""

    power: float | None = None

    def follow(self, power: float) -> None:
        if self.power is None:
            self.power = power
        self.power += (FLOOR_FALLS if power < self.power else FLOOR_RISES) * (power - self.power)

    def above(self, power: float) -> float:
        """Return what a power has beyond the noise; what is 10 dB below the noise is not seen."""
        noise = self.power or 0.0
        return max(power - noise, noise / 10)


class EchoMeter(Struct):
    """Estimates the residual from the power of each chunk, in order; powers are mean squares relative to full scale."""

    _history: deque[_Chunk] = field(default_factory=lambda: deque(maxlen=round(HISTORY_SECONDS / CHUNK_SECONDS)))
    _leaks: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, round(ESTIMATE_SECONDS / CHUNK_SECONDS))))
    """Of the newest chunks with nakari's voice: dB after (row 0) and before the canceller, against what was played."""
    _learned: int = 0
    """Chunks that came into `_leaks`, the oldest overwritten."""
    _smooth: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Powers of what was played, of what was there and of what is left."""
    _floors: tuple[_Floor, _Floor] = field(default_factory=lambda: (_Floor(), _Floor()))
    """Of the cleaned and of the raw sound."""
    _fading: float = 0.0
    """Power of what was played, fading as its echo does."""

    def note(self, at: float, far: float, near: float, cleaned: float) -> None:
        """Take one chunk: when it begins, what was played, what the microphone had, and what is left of that."""
        self._fading = max(far, self._fading * _FADING)
        self._history.append(_Chunk(at, self._fading, cleaned))
        played, there, left = self._smooth
        played += SMOOTHING * (far - played)
        there += SMOOTHING * (near - there)
        left += SMOOTHING * (cleaned - left)
        self._smooth = played, there, left
        if played > _AUDIBLE:
            of_left, of_raw = self._floors
            newest = self._leaks[:, self._learned % self._leaks.shape[1]]
            newest[0], newest[1] = _db(of_left.above(left) / played), _db(of_raw.above(there) / played)
            self._learned += 1
        elif self._fading <= _QUIETEST:
            self._floors[0].follow(cleaned)
            self._floors[1].follow(near)

    @property
    def floors(self) -> tuple[float, float]:
        """Power of the room's noise before and after the canceller."""
        left, raw = (floor.power or 0.0 for floor in self._floors)
        return raw, left

    def recall(self, raw: float, left: float) -> None:
        """Begin with the noise of a room that is known."""
        self._floors[0].power, self._floors[1].power = left, raw

    def forget(self) -> None:
        """Begin the estimate anew: the loudspeaker, the microphone or the room is another one."""
        self._learned = 0

    @property
    def leak_db(self) -> float | None:
        """The residual after the canceller, dB against what was played; None until it is known."""
        if (alone := self.raw_leak_db) is None:
            return None
        left, raw = self._leaks[:, : self._learned]
        return _quantile(left[raw <= alone + ALONE_DB], QUANTILE)

    @property
    def raw_leak_db(self) -> float | None:
        """The echo before the canceller, dB against what was played; None until it is known."""
        if self._learned < ENOUGH_SECONDS / CHUNK_SECONDS:
            return None
        return _quantile(self._leaks[1, : self._learned], ALONE_QUANTILE)

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Return in [0, 1] the share of the sound between two moments that nakari's voice explains.

        0 where nothing was played, and where the sound is far louder than the usual residual.
        """
        began = (chunk for chunk in self._history if chunk.at + CHUNK_SECONDS > started_at and chunk.at < ended_at)
        return self._explained(began)

    def newest(self, count: int) -> float:
        """Return that share of the newest chunks."""
        return self._explained(islice(reversed(self._history), count))

    def _explained(self, chunks: Iterable[_Chunk]) -> float:
        leak = self.leak_db if self.leak_db is not None else UNKNOWN_LEAK_DB
        gain = 10 ** ((leak + MARGIN_DB) / 10)
        floor = self._floors[0].power or 0.0
        sound = explained = 0.0
        for chunk in chunks:
            above = max(0.0, chunk.cleaned - floor)
            sound += above
            explained += min(above, chunk.far * gain)
        return explained / sound if sound > 0 else 0.0


def _quantile(values: NDArray[np.float64], share: float) -> float:
    """Return the value of which so large a share is below: `np.quantile` takes twenty times as long."""
    place = round(share * (len(values) - 1))
    return float(np.partition(values, place)[place])


def _db(power: float) -> float:
    return 10 * math.log10(max(power, _QUIETEST))


_FADING: Final = 10 ** (-FADING_DB_PER_CHUNK / 10)
_AUDIBLE: Final = 10 ** (AUDIBLE_DBFS / 10)


DOUBT_SECONDS: Final = 60.0
"""Seconds of nakari's voice for which one chunk of residual echo that was taken for speech is remembered."""

PROOF_SECONDS: Final = 5.0
"""Seconds of nakari's voice without any, after which a beginning of speech over it is believed at once."""

SHARE_SECONDS: Final = 20.0
"""Seconds of nakari's voice over which the share of such chunks is taken."""

PERSON_SECONDS: Final = 0.5
"""For which what is taken for speech may yet turn out to be somebody's, and after somebody stood out still is."""

_WAITING: Final = round(PERSON_SECONDS / CHUNK_SECONDS)


class SpeechInResidue(Struct):
    """Follows the probability of speech chunk by chunk, in order. Pure.

    What is taken for speech while nakari sounds is its own, unless near-end detection finds somebody within half a
    second.
    """

    _waiting: deque[bool] = field(default_factory=lambda: deque(maxlen=_WAITING))
    """Chunks of nakari's voice that may yet be somebody's: whether each was taken for speech."""
    _known: deque[bool] = field(default_factory=lambda: deque(maxlen=round(SHARE_SECONDS / CHUNK_SECONDS)))
    """Those before."""
    _own_seconds: float = 0.0
    """Of nakari's voice alone."""
    _last_at: float | None = None
    """When (`_own_seconds`) it was last taken for speech; None when never."""
    _another_for: int = 0
    """Chunks for which somebody is believed to be there."""

    def note(self, probability: float, *, sounds: bool, is_another: bool) -> None:
        """Take a chunk: its probability of speech, whether nakari sounds in it, whether somebody stands out of that."""
        if is_another:
            self._another_for = _WAITING
            self._waiting.clear()
        elif self._another_for:
            self._another_for -= 1
        if not sounds or self._another_for:
            return
        if len(self._waiting) == _WAITING:
            self._own_seconds += CHUNK_SECONDS
            self._known.append(self._waiting[0])
            if self._waiting[0]:
                self._last_at = self._own_seconds
        self._waiting.append(probability >= SPEECH_BEGINS)

    @property
    def is_doubtful(self) -> bool:
        """Whether a beginning of speech over nakari's voice may be nakari's own, as nobody stands out."""
        if self._another_for:
            return False
        if self._last_at is None:
            return self._own_seconds < PROOF_SECONDS
        return self._own_seconds - self._last_at < DOUBT_SECONDS

    @property
    def share(self) -> float | None:
        """The share of nakari's own voice that is taken for speech; None until there was enough of it."""
        if self._own_seconds < PROOF_SECONDS:
            return None
        return sum(self._known) / len(self._known)


HINT: Final = 0.005
HINT_CHUNKS: Final = 6
"""Probability of speech in the newest chunks that supports near-end detection where the residual fluctuates: of
nakari's own voice that stood out there, none had as much in 40 minutes of the rooms it was chosen in."""
