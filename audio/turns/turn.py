"""The open turn: its chunks, its pre-roll, and the utterance it becomes."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from audio.pcm import CHUNK_SECONDS, QUIETEST_DBFS, AudioChunk, rms_dbfs
from audio.speech import Utterance

PRE_ROLL_SECONDS: Final = 0.5
"""Sound kept from before the onset, so that no first syllable is lost."""

NOISE_SMOOTHING: Final = 0.05
"""Share of a new chunk in the background's level: it follows within a second (0.64 s to 63 %)."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the open turn. All times in seconds on the source's clock."""

    started_at: float
    ended_at: float
    """When speech ended, so far."""
    speech_seconds: float
    at: float
    """Now: when somebody asked, or decided that the turn is over."""


@dataclass(slots=True)
class Turn:
    """The chunks of the open turn, and those just before it."""

    before: deque[AudioChunk] = field(default_factory=lambda: deque(maxlen=round(PRE_ROLL_SECONDS / CHUNK_SECONDS)))
    chunks: list[AudioChunk] = field(default_factory=list)
    noise_dbfs: float = QUIETEST_DBFS
    """Level of the background, dB relative to full scale; slowly follows the chunks without speech."""

    def follow(self, chunk: AudioChunk, level: float) -> None:
        """Take a chunk and its level (dB relative to full scale) while no turn is open."""
        if self.noise_dbfs <= QUIETEST_DBFS:
            self.noise_dbfs = level
        else:
            self.noise_dbfs += NOISE_SMOOTHING * (level - self.noise_dbfs)
        self.before.append(chunk)

    def begin(self) -> None:
        """Open the turn: the sound before it belongs to it."""
        self.chunks[:0] = self.before
        self.before.clear()

    def so_far(self, span: Span, closing_seconds: float, echo_suspicion: float = 0.0) -> Utterance:
        """Return the turn up to `closing_seconds` after its speech; it stays open. The span holds a chunk or more."""
        speech = [each.samples for each in self.chunks if span.started_at <= each.started_at < span.ended_at]
        end = span.ended_at + closing_seconds
        return Utterance(
            samples=np.concatenate([each.samples for each in self.chunks if each.started_at < end]),
            started_at=span.started_at,
            ended_at=span.ended_at,
            committed_at=span.at,
            speech_seconds=span.speech_seconds,
            level_dbfs=rms_dbfs(np.concatenate(speech)),
            noise_dbfs=self.noise_dbfs,
            echo_suspicion=echo_suspicion,
        )

    def drop(self, ended_at: float) -> None:
        """Forget the turn, but for the silence after it: whoever speaks next may begin in it."""
        self.before.extend(chunk for chunk in self.chunks if chunk.started_at >= ended_at)
        self.chunks = []
