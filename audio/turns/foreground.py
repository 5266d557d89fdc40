"""Foreground speech by its level, so that a television that talks on does not keep somebody's turn open."""

from collections import deque
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from audio.pcm import CHUNK_SECONDS, power_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

WINDOW_SECONDS: Final = 0.128
"""Levels are averaged over so much: a syllable."""

BEFORE_SECONDS: Final = 2.0
"""What was to be heard for so long before somebody raised his voice over it counts as the background."""

LEAST_SPEECH: Final = 0.5
"""Of that time, the part that has to be speech for there to be a background that talks."""

RISE_DB: Final = 8.0
"""Somebody nearby is at least so much louder than what talks in the background."""

NEAR_DB: Final = 4.0
"""The background stays within so much of its level; speech down there, and `RISE_DB` under the turn's, is not his."""


class Foreground:
    """Follows the level of speech. Takes every chunk, in order: level, may it be speech, is a turn open.

    Nothing is background until speech has been heard for a while and somebody speaks clearly louder: a voice alone in
    a room, however it rises and falls, is never taken for two.
    """

    def __init__(self) -> None:
        self._window: deque[float] = deque(maxlen=round(WINDOW_SECONDS / CHUNK_SECONDS))
        """Power of the newest chunks."""
        self._before: deque[tuple[float, bool]] = deque(maxlen=round(BEFORE_SECONDS / CHUNK_SECONDS))
        """Power, and whether it may be speech, of the chunks before those."""
        self._background: float | None = None
        """Power of the speech behind the open turn."""
        self._peak = 0.0
        """Highest power of the open turn."""

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return what it remembers while no turn is open."""
        return {"foreground_window": tuple(self._window), "foreground_before": tuple(self._before)}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of its own, before the first chunk."""
        before = np.asarray(state["foreground_before"], np.float64).reshape(-1, 2)
        self._window = deque(np.asarray(state["foreground_window"], np.float64).tolist(), self._window.maxlen)
        self._before = deque([(float(power), bool(may)) for power, may in before], self._before.maxlen)

    def is_background(self, level_dbfs: float, *, is_speech: bool, is_in_turn: bool) -> bool:
        """Whether the chunk, be it speech, belongs to the background and not to the turn that is open."""
        if len(self._window) == self._window.maxlen:
            self._before.append((self._window[0], is_speech))
        self._window.append(10 ** (level_dbfs / 10))
        if not is_in_turn:
            self._background, self._peak = None, 0.0
            return False
        power = sum(self._window) / len(self._window)
        self._peak = max(self._peak, power)
        if self._background is None:  # until somebody speaks clearly louder than what talked before
            speech = [before for before, was_speech in self._before if was_speech]
            is_enough = len(speech) >= LEAST_SPEECH * (self._before.maxlen or 0)
            average = sum(speech) / len(speech) if is_enough else inf
            if power < average * power_ratio(RISE_DB):
                return False
            self._background = average
        return power <= self._background * power_ratio(NEAR_DB) and power <= self._peak / power_ratio(RISE_DB)
