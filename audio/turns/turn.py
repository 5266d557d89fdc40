"""The open turn: its chunks, its pre-roll, and the utterance it becomes."""

from collections import deque
from typing import Final

import numpy as np
from msgspec import Struct, field

from audio.pcm import CHUNK_SECONDS, QUIETEST_DBFS, AudioChunk, rms_dbfs
from audio.speech import Utterance

PRE_ROLL_SECONDS: Final = 0.5
"""Sound kept from before the onset, so that no first syllable is lost."""

SOFT_END_SECONDS: Final = 0.2
"""Silence after which recognition may begin, though speech may still go on; so much of it is part of an utterance."""

NOISE_SECONDS: Final = 4.0
"""Within so long a time somebody who speaks leaves gaps between words in which the background is to be heard."""

NOISE_QUANTILE: Final = 0.1
"""Of the levels of that time: what is as quiet lies in the gaps. Noise power from the minimum of a time longer than
speech, as in R. Martin's "Noise Power Spectral Density Estimation Based on Optimal Smoothing and Minimum Statistics"
(2001); a quantile, because a single gap in the sound is no background."""

STEP_DBFS: Final = -90.0
"""One step of the converter: what is quieter was switched off or filled in, and tells nothing of the room."""


class Span(Struct, frozen=True):
    """A part of the open turn. All times in seconds on the source's clock."""

    started_at: float
    ended_at: float
    """When speech ended, so far."""
    speech_seconds: float
    at: float
    """Now: when somebody asked, or decided that the turn is over."""
    probability: float
    """Mean of the detector's probability over the chunks of speech, in [0, 1]."""


class Turn(Struct):
    """The chunks of the open turn, and those just before it."""

    before: deque[AudioChunk] = field(default_factory=lambda: deque(maxlen=round(PRE_ROLL_SECONDS / CHUNK_SECONDS)))
    chunks: list[AudioChunk] = []
    levels: deque[float] = field(default_factory=lambda: deque(maxlen=round(NOISE_SECONDS / CHUNK_SECONDS)))
    """Of the newest chunks, with speech or without, dB relative to full scale."""

    @property
    def noise_dbfs(self) -> float:
        """Level of the background, dB relative to full scale; who speaks, from the first word on, changes it little."""
        if not self.levels:
            return QUIETEST_DBFS
        return sorted(self.levels)[int(NOISE_QUANTILE * len(self.levels))]

    def take(self, chunk: AudioChunk, level: float, *, is_kept: bool) -> None:
        """Take a chunk and its level (dB relative to full scale); one that is not kept may come before a turn."""
        if level > STEP_DBFS:
            self.levels.append(level)
        (self.chunks if is_kept else self.before).append(chunk)

    def begin(self) -> None:
        """Open the turn: the sound before it belongs to it."""
        self.chunks[:0] = self.before
        self.before.clear()

    def so_far(self, span: Span, echo_suspicion: float = 0.0) -> Utterance:
        """Return the turn up to the soft end of its speech; it stays open. The span holds a chunk or more."""
        speech = [each.samples for each in self.chunks if span.started_at <= each.started_at < span.ended_at]
        end = span.ended_at + SOFT_END_SECONDS
        return Utterance(
            samples=np.concatenate([each.samples for each in self.chunks if each.started_at < end]),
            started_at=span.started_at,
            ended_at=span.ended_at,
            committed_at=span.at,
            speech_seconds=span.speech_seconds,
            probability=span.probability,
            level_dbfs=rms_dbfs(np.concatenate(speech)),
            noise_dbfs=self.noise_dbfs,
            echo_suspicion=echo_suspicion,
        )

    def drop(self, ended_at: float) -> None:
        """Forget the turn, but for the silence after it: whoever speaks next may begin in it."""
        self.before.extend(chunk for chunk in self.chunks if chunk.started_at >= ended_at)
        self.chunks = []
