"""The echo guard of a box with a loudspeaker: cancels, measures the residual, and chooses the duplex mode by it."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import structlog

from audio.echo.calibration import Calibration, measure
from audio.echo.canceller import Canceller, Cleaned, CleanedStream
from audio.echo.duplex import Duplex, HalfDuplex, Leak, Mode, choose
from audio.echo.meter import EchoMeter
from audio.echo.near_end import NearEnd
from audio.echo.reference import PlayedReference
from audio.pcm import CHUNK_SECONDS, AudioChunk, power_of

log = structlog.get_logger()

CHOOSE_CHUNKS: Final = round(0.5 / CHUNK_SECONDS)
"""Chunks with nakari's voice between two checks of the leak."""

TAPE_SECONDS: Final = 6.0
"""Of sound kept for a calibration; the oldest goes first."""

SETTLED_SECONDS: Final = 0.7
"""After the last sound that was played: its echo, half a second late at most, is on the tape."""

EASY_SECONDS: Final = (0.008, 0.15)
"""From the reference to its echo: the canceller has learned that by itself, and would have to learn another anew."""

NOT_HEARD: Final = "nothing of the loudspeaker is heard: headphones, or it is mute"


@dataclass(slots=True)
class Tape:
    """Records what is played and heard, side by side, while a calibration runs."""

    cleaned: deque[Cleaned] = field(default_factory=lambda: deque(maxlen=round(TAPE_SECONDS / CHUNK_SECONDS)))
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with the first chunk."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something was played and its echo is over."""
    _silent: int | None = None
    """Chunks since something was played; None before."""

    def add(self, cleaned: Cleaned) -> None:
        """Keep one chunk."""
        self.cleaned.append(cleaned)
        self.begun.set()
        if np.any(cleaned.far):
            self._silent = 0
        elif self._silent is not None:
            self._silent += 1
            if self._silent >= SETTLED_SECONDS / CHUNK_SECONDS:
                self.settled.set()

    def measure(self) -> Calibration:
        """Return what is on the tape."""
        if not self.cleaned:
            return Calibration(is_heard=False)
        far, near, left = (
            np.concatenate([getattr(each, name) for each in self.cleaned]) for name in ("far", "near", "left")
        )
        return measure(far, near, left)


def _unwatched(duplex: Duplex) -> None:
    """Nobody wants to know."""


class CancellingGuard:
    """An `EchoGuard` with a canceller, put in when it is loaded; half duplex until the leak has been measured."""

    def __init__(self, reference: PlayedReference, half_duplex: HalfDuplex, canceller: Canceller | None = None) -> None:
        self.duplex = Duplex(Mode.HALF, reason="not measured yet")
        self.on_duplex: Callable[[Duplex], None] = _unwatched
        """Told on the event loop when the mode changes; has to return at once."""
        self.is_given_up = False
        """Whether there will be no canceller."""
        self._stream = CleanedStream(reference, canceller)
        self._meter = EchoMeter()
        self._near_end = NearEnd()
        self._half_duplex = half_duplex
        self._tape: Tape | None = None
        self._passed: AudioChunk | None = None
        """The newest chunk, where it was left uncleaned."""
        self._sounding = 0
        """Chunks with nakari's voice, since the start."""

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return the chunk without nakari's voice, 16 ms behind: its time is that of its samples."""
        if self._passed is not None:
            self._stream.process(self._passed)
            self._passed = None
        cleaned = self._stream.process(chunk)
        self._meter.note(cleaned.chunk.started_at, *map(power_of, (cleaned.far, cleaned.near, cleaned.left)))
        self._near_end.follow(cleaned.near, cleaned.far)
        if self._tape is not None:
            self._tape.add(cleaned)
        elif np.any(cleaned.far):
            self._sounding += 1
            if self._sounding % CHOOSE_CHUNKS == 0:
                self._choose_again()
        return cleaned.chunk

    def passes(self, chunk: AudioChunk) -> bool:
        """Whether nothing was played for a second, and nothing is measured: then the chunk needs no cleaning.

        The newest one that passed fills the delay when there is something to clean again.
        """
        if self._tape is not None or not self._stream.rests(chunk):
            return False
        self._passed = chunk
        return True

    def covers(self, chunk: AudioChunk) -> bool:
        """Whether no utterance may begin or go on in the chunk: half duplex, or a calibration, and it sounds."""
        return (self.duplex.mode is Mode.HALF or self._tape is not None) and self._half_duplex.covers(chunk)

    @property
    def hears_another(self) -> bool:
        """Whether something began in the last chunk that is neither nakari's voice nor the room's usual noise."""
        return self._near_end.stands_out

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Return in [0, 1] the share of the sound between two moments that the residual of nakari's voice explains."""
        return self._meter.suspicion(started_at, ended_at)

    def use(self, canceller: Canceller) -> None:
        """Cancel from the next chunk on."""
        self._stream.canceller = canceller

    def expect_echo_after(self, seconds: float) -> None:
        """Pair by a delay that is known: of the echo behind the moment that the player tells for its sound."""
        self._stream.expect_echo_after(seconds)
        self._near_end = NearEnd()

    def stay_half_duplex(self, reason: str) -> None:
        """Give cancellation up."""
        self.is_given_up = True
        self._change(Duplex(Mode.HALF, reason=reason))

    def record(self) -> Tape:
        """Begin a tape, with a canceller that knows nothing yet: one that has learned speech leaves much of a chime.

        Until the tape is handed to `calibrate_by` or given up by `discard` no utterance begins while it sounds.
        """
        self._stream.begin_anew()
        self._tape = Tape()
        return self._tape

    def discard(self) -> None:
        """Give the tape up: nothing was measured."""
        self._tape = None

    def calibrate_by(self, tape: Tape) -> Calibration:
        """Pair by the echo that is on the tape, forget the leak measured so far, and choose the mode anew."""
        self._tape = None
        found = tape.measure()
        self._meter.forget()
        if not found.is_heard:
            self._change(Duplex(choose(None, self.duplex.mode), reason=NOT_HEARD))
            return found
        delay = found.delay - self._stream.lead
        if not EASY_SECONDS[0] <= found.delay <= EASY_SECONDS[1]:
            self.expect_echo_after(delay)
        self._change(Duplex(choose(found.leak, self.duplex.mode), found.leak, delay))
        return found

    def _choose_again(self) -> None:
        left, raw = self._meter.leak_db, self._meter.raw_leak_db
        if self._stream.canceller is None or left is None or raw is None:
            return
        leak = Leak(left, raw)
        self._change(Duplex(choose(leak, self.duplex.mode), leak, self.duplex.delay))

    def _change(self, duplex: Duplex) -> None:
        before, self.duplex = self.duplex, duplex
        if before.mode is not duplex.mode:
            log.info("duplex_chosen", mode=str(duplex.mode), told=duplex.describe())
            self.on_duplex(duplex)
