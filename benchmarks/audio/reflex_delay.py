"""How long after a reflex word it is acted on, against the silence that it takes to know that the word is over."""

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

import numpy as np

from audio.capture.recording import RecordingSource
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.pcm import SAMPLE_RATE, Samples
from audio.reflexes.cutting import StretchCutter
from audio.reflexes.keyword_search import KeywordSearch, Spotted
from audio.reflexes.spotter import Spotter
from audio.turns.vad import load_detector
from benchmarks.figure import Figure, milliseconds, run, short
from benchmarks.sound import quiet_room, write_wav
from tests.audio.spoken import said, trimmed

SHOWS = ("V16",)

WORDS: Final = ("stop", "wait", "go on", "quieter", "louder", "repeat that", "mute")
VOICES: Final = ("slt", "awb", "rms", "kal")

PAUSE_SECONDS: Final = 1.0
"""Between two words."""

SAME_WORD_SECONDS: Final = 0.9
"""Speech that ended so far from a word's end was not this one; however late a busy machine acts on it."""


def measure(*, quick: bool = False) -> Figure:
    """Say the words in a quiet room, in real time, with the detector and the spotter of the box."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folder = Path(name)
        spoken = [trimmed(said(word, voice, folder)) for word in WORDS for voice in VOICES][: 2 if quick else None]
        recording, ends = _one_after_the_other(spoken)
        room = Room(RecordingSource(write_wav(folder / "words.wav", recording)))
        asyncio.run(room.listen())
    began = room.source.started_at
    delays = _after(ends, room.acted, began)
    floor = _after(ends, room.soft_ends, began)
    p95, decoder = float(np.percentile(delays, 95)), float(np.median(delays) - np.median(floor))
    notes = (
        f"95 % within {short(p95 * 1000)} ms of the end of the word; {len(delays)} of {len(ends)} words were spotted, "
        "the others wait for the recognizer",
        f"of that {short(decoder * 1000)} ms after the soft end: the decoder, in its thread",
    )
    ours = milliseconds("end of the word to the act, by keyword spotting", delays)
    return Figure("A reflex", ours, milliseconds("end of the word to its soft end, in the same sound", floor), notes)


@dataclass
class Room:
    """The chunk path of the box, without what recognizes whole turns."""

    source: RecordingSource
    acted: list[tuple[float, float]] = field(default_factory=list)
    """When, in seconds on `time.monotonic`, and when the speech had ended on the source's clock; like the next."""
    soft_ends: list[tuple[float, float]] = field(default_factory=list)

    async def listen(self) -> None:
        """Hear the recording to its end."""
        nobody = CancellingGuard(PlayedReference(), HalfDuplex(lambda: 0.0))
        spotter = Spotter(KeywordSearch(), self._act, lambda: False, nobody)
        cutter, detector = StretchCutter(), load_detector()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(spotter.run())
            await spotter.ready.wait()
            async for chunk in self.source.chunks():
                probability = detector.probability(chunk.samples)
                if stretch := cutter.process(chunk, probability, covered=False):
                    self.soft_ends.append((monotonic(), stretch.ended_at))
                spotter(chunk, probability, False)
            running.cancel()

    def _act(self, spotted: Spotted) -> None:
        self.acted.append((monotonic(), spotted.ended_at))


def _one_after_the_other(spoken: list[Samples]) -> tuple[Samples, list[float]]:
    """Return the words in a quiet room, and the seconds at which each ends."""
    pause = quiet_room(PAUSE_SECONDS)
    pieces, ends = [pause], []
    for word in spoken:
        pieces += [word, pause]
        ends.append((sum(len(piece) for piece in pieces) - len(pause)) / SAMPLE_RATE)
    return np.concatenate(pieces), ends


def _after(ends: list[float], moments: list[tuple[float, float]], began: float) -> list[float]:
    """Return how long after its word's end each moment came; what belongs to no word, by the sound, is left out."""
    waits = []
    for moment, ended_at in moments:
        end = min((began + end for end in ends), key=lambda end: abs(ended_at - end))
        if abs(ended_at - end) < SAME_WORD_SECONDS:
            waits.append(moment - end)
    return waits


if __name__ == "__main__":
    run(measure)
