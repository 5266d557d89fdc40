"""The duplex mode (full, ducked or half), chosen by the residual echo, and its description in one sentence."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

import numpy as np
from msgspec import Struct

from audio.pcm import AudioChunk, Samples
from audio.turns.surroundings import NoEcho

MARGIN_SECONDS: Final = 0.3
"""How long a room goes on sounding after the loudspeaker, and the microphone's own latency."""


class Mode(StrEnum):
    """How nakari listens while it speaks."""

    FULL = "full duplex"
    DUCKED = "ducked"
    """As full duplex, but it gets quieter as soon as somebody seems to speak."""
    HALF = "half duplex"
    """No utterance begins while it speaks; reflexes listen on."""


NOT_MEASURED: Final = "not measured yet"
"""The reason for half duplex until nakari has been heard to speak."""

DUCKED_BELOW_DB: Final = -23.0
FULL_BELOW_DB: Final = -30.0
"""What is left of nakari's voice after the canceller, dB against what is played. Measured in simulated rooms
(docs/decisions/0011): up to -30 dB Silero takes at most 1 % of its chunks for speech, up to -23 dB 4 %, above that up
to 27 %. How loud it was before the canceller decides nothing (docs/decisions/0066)."""

FULL_BELOW_SHARE: Final = 0.04
"""Of the chunks of nakari's voice, as many as Silero may take for speech in full duplex, where that is known."""

HYSTERESIS_DB: Final = 2.0
"""By how much a measured level has to pass a bound before the mode changes."""

DUCK_DB: Final = 12.0
"""By how much speech gets quieter while somebody seems to speak."""


class Leak(Struct, frozen=True):
    """The level of nakari's own voice at the microphone, dB against what was played."""

    left_db: float
    """After the canceller."""
    raw_db: float
    """Before it."""
    speech: float | None = None
    """Share of its chunks that the voice detector takes for speech, 0 to 1; None: not known yet."""


class Duplex(Struct, frozen=True):
    """The chosen mode, and what it rests on."""

    mode: Mode
    leak: Leak | None = None
    """None: not measured, or nothing of it is heard."""
    delay: float | None = None
    """Seconds from the moment at which the devices say a sound is heard to its echo's in the microphone."""
    reason: str = ""
    """Why it is not what it could be."""

    def describe(self) -> str:
        """Return one sentence: the mode, what was measured, and what cannot be interrupted."""
        mode = f"{self.mode} ({self.reason})" if self.reason else str(self.mode)
        return "; ".join(filter(None, [mode, self._measured(), _CANNOT[self.mode]]))

    def _measured(self) -> str:
        measured = []
        if self.delay is not None:
            measured.append(f"echo after {self.delay * 1000:.0f} ms")
        if self.leak is not None:
            raw, left = self.leak.raw_db, self.leak.left_db
            measured.append(f"its own voice reaches the microphone at {raw:.0f} dB, {left:.0f} dB is left of it")
            if self.leak.speech:
                measured.append(f"{self.leak.speech:.1%} of that sounds like speech")
        return ", ".join(measured)


_CANNOT: Final = {
    Mode.FULL: "everything nakari says can be interrupted",
    Mode.DUCKED: "nakari can be interrupted by a raised voice, and gets quieter when somebody speaks",
    Mode.HALF: "sentences cannot be interrupted but by reflex words; speak after nakari has ended",
}


class HalfDuplex(NoEcho):
    """An `EchoGuard` that covers all chunks of the microphone that may hold nakari's own voice; it finds nothing in it.

    Who asks it what sounds under that voice learns of nobody: what `audio.echo.guard.CancellingGuard` tells.
    """

    mode = Mode.HALF
    hears_another = is_doubtful = False
    explained = 0.0

    def __init__(self, busy_until: Callable[[], float], reason: str = "", margin: float = MARGIN_SECONDS) -> None:
        """`busy_until` is that of the player; `reason` says why nothing is cancelled."""
        self.duplex = Duplex(self.mode, reason=reason)
        self._busy_until = busy_until
        self._margin = margin

    def is_plain(self) -> bool:
        """Say yes: what may hold nakari's voice is covered."""
        return True

    def covers(self, chunk: AudioChunk) -> bool:
        """Whether the chunk may hold nakari's voice; `busy_until` and the chunk's times are on `time.monotonic`."""
        busy_until = self._busy_until()
        return busy_until > 0 and chunk.started_at < busy_until + self._margin

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk, as a `ChunkWatcher`; there is nothing to learn from it."""

    def unexplained(self, seconds: float) -> Samples:
        """Return no sound."""
        return np.zeros(0, np.int16)


def choose(leak: Leak | None, current: Mode) -> Mode:
    """Return the mode for what the canceller leaves; None stands for nothing that could be heard."""
    if leak is None:
        return Mode.FULL
    if _above(leak.left_db, DUCKED_BELOW_DB, is_left=current is not Mode.HALF):
        return Mode.HALF
    was_full = current is Mode.FULL
    sounds_like_speech = leak.speech is not None and leak.speech > FULL_BELOW_SHARE * (1.0 if was_full else 0.5)
    return Mode.DUCKED if sounds_like_speech or _above(leak.left_db, FULL_BELOW_DB, is_left=was_full) else Mode.FULL


def _above(level: float, bound: float, *, is_left: bool) -> bool:
    """Whether a level is above a bound: clearly, where that leaves the current mode; else clearly below ends it."""
    return level > bound + (HYSTERESIS_DB if is_left else -HYSTERESIS_DB)
