"""What the voice detector makes of the residual echo: how often nakari's own voice still sounds like somebody's."""

from collections import deque
from typing import Final

from msgspec import Struct, field

from audio.pcm import CHUNK_SECONDS
from audio.turns.endpointer import SPEECH_BEGINS

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
            self._count(self._waiting[0])
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

    def _count(self, is_speech: bool) -> None:
        self._own_seconds += CHUNK_SECONDS
        self._known.append(is_speech)
        if is_speech:
            self._last_at = self._own_seconds


HINT: Final = 0.005
HINT_CHUNKS: Final = 6
"""Probability of speech in the newest chunks that supports near-end detection where the residual fluctuates: of
nakari's own voice that stood out there, none had as much in 40 minutes of the rooms it was chosen in."""
