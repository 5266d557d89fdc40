"""People who talk over nakari's voice, in a simulated room behind the real canceller."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from audio.echo.canceller import WebRtcCanceller
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.pcm import SAMPLE_RATE, AudioChunk, Samples
from audio.turns.vad import load_detector
from tests.audio.echo_room import EchoPath, Room, at_level
from tests.audio.spoken import silence

REPLY: Final = (
    "The weather tomorrow will be mostly sunny, with a light wind from the west. In the evening there may be some "
    "rain, so take an umbrella with you. I have put milk, eggs and bread on the shopping list."
)

PLAYED_DBFS, ECHO_DBFS = -20.0, -30.0
"""Of nakari's voice as it is played, and at the microphone before anything is cancelled."""

LEARNING_SECONDS: Final = 7.0
"""Of its own voice before the first word: the canceller has learned the room."""

BETWEEN_SECONDS: Final = 3.2
"""From the end of a word to the next."""

FALLS_SILENT_SECONDS: Final = 0.3
"""After a word's beginning: nakari pauses for whoever speaks, as barge-in does."""

GOES_ON_SECONDS: Final = 1.6
"""After a word's end: its words go on."""


class Heard(NamedTuple):
    """One chunk as the reflexes get it."""

    chunk: AudioChunk
    probability: float
    covered: bool


class TalkedOver:
    """One evening of words as loud as the echo of nakari's voice, or so many dB louder."""

    def __init__(self, words: Sequence[Samples], reply: Samples, *, level: float = 0.0, pauses: bool = True) -> None:
        """Have `words` said one after the other over `reply`, again and again, which `pauses` for each or does not."""
        pieces, self.spans, at = [silence(LEARNING_SECONDS)], list[tuple[float, float]](), LEARNING_SECONDS
        for word in words:
            pieces += [at_level(word, ECHO_DBFS + level), silence(BETWEEN_SECONDS)]
            self.spans.append((at, at + len(word) / SAMPLE_RATE))
            at += len(word) / SAMPLE_RATE + BETWEEN_SECONDS
        self._near = np.concatenate(pieces)
        self._played = np.resize(at_level(reply, PLAYED_DBFS), len(self._near))
        for begins, ends in self.spans if pauses else ():
            silent = slice(*(round(at * SAMPLE_RATE) for at in (begins + FALLS_SILENT_SECONDS, ends + GOES_ON_SECONDS)))
            self._played[silent] = 0
        self._reference = PlayedReference()
        self.guard = CancellingGuard(self._reference, HalfDuplex(lambda: 0.0), WebRtcCanceller())

    def heard(self) -> Iterator[Heard]:
        """Yield what the guard leaves of the microphone, chunk by chunk; once."""
        detector, room = load_detector(), Room(EchoPath(gain_db=ECHO_DBFS - PLAYED_DBFS), began=0.0)
        for raw in room.chunks(self._played, self._near, self._reference.take):
            chunk = self.guard.clean(raw)
            covered, probability = self.guard.covers(chunk), detector.probability(chunk.samples)
            self.guard(chunk, probability, covered)
            yield Heard(chunk, probability, covered)
