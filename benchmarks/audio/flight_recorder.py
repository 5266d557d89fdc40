"""What the flight recorder adds to a chunk of the microphone, beside the listener's own work on that chunk.

`python -m benchmarks.audio.flight_recorder` takes some seconds.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from time import thread_time
from typing import Final

import numpy as np

from appliance.config.sections import EarsSettings
from appliance.recorder.recorder import RING_SECONDS, FlightRecorder
from appliance.recorder.store import Limits, Recordings
from audio.capture.recording import read_recording
from audio.interfaces import EchoGuard, always_awake
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.speech import RecognizedTurn, Transcript, Utterance
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener, NoEcho, Surroundings
from audio.turns.vad import load_detector
from benchmarks.figure import Figure, Series, run
from benchmarks.sound import quiet_room
from tests.service.process import speak

SENTENCE: Final = "Turn on the kitchen light and tell me how much time is left, please."
REST_SECONDS: Final = 4.0


class _Sound:
    """A source that gives the chunks as fast as they are taken, and times what each took."""

    def __init__(self, sound: Samples) -> None:
        self.name, self.is_live, self.dropped_chunks = "sound", True, 0
        self._sound = sound
        self.seconds: list[float] = []

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        for number in range(len(self._sound) // CHUNK_SAMPLES):
            samples = self._sound[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES]
            began = thread_time()
            yield AudioChunk(samples, number * CHUNK_SECONDS)
            self.seconds.append(thread_time() - began)


class _Words:
    """A recognizer that costs nothing."""

    name, sends_to = "none", ()

    def warm(self) -> None:
        """Load nothing."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the same words."""
        return Transcript("turn on the light", "en", self.name)


class _Nobody:
    """An intake that lets everything pass, to nobody."""

    async def admit(self, heard: RecognizedTurn) -> str:
        """Hold nothing back."""
        return ""

    async def accept(self, heard: RecognizedTurn) -> None:
        """Take it."""


async def _listened(sound: Samples, folder: Path, *, recorded: bool) -> list[float]:
    """Return the seconds of each chunk's way through the listener."""
    source, guard = _Sound(sound), NoEcho()
    recorder = FlightRecorder(Recordings(folder, Limits(20, 10**9)), EarsSettings(), guard, lambda: 0.0)
    guarding: EchoGuard = recorder if recorded else guard
    around = Surroundings(echo=guarding)
    listener = Listener(source, load_detector(), Endpointer(), _Words(), _Nobody(), around)
    if recorded:
        recorder.follow(listener)
    await listener.listen()
    return source.seconds


def measure(*, quick: bool = False) -> Figure:
    """Listen to the same sound with the recorder and without, in turn."""
    rounds = 2 if quick else 12
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folder = Path(name)
        said = read_recording(speak(SENTENCE, folder / "said.wav"))
        before = quiet_room(RING_SECONDS)
        sound = np.concatenate([before, quiet_room(REST_SECONDS), said, quiet_room(REST_SECONDS)])
        looked_at = (len(sound) - len(before)) // CHUNK_SAMPLES
        asyncio.run(_listened(sound, folder, recorded=True))
        taken: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(rounds):
            for recorded in (True, False):
                seconds = asyncio.run(_listened(sound, folder, recorded=recorded))
                taken[recorded].append(sum(seconds[-looked_at:]) / looked_at * 1e6)
    added = float(np.median(np.subtract(taken[True], taken[False])))
    notes = (
        f"added to a chunk of {1000 * CHUNK_SECONDS:.0f} ms: {added:.1f} us in the median of the pairs",
        f"{looked_at * CHUNK_SECONDS:.1f} s of sound, a third of it speech, once the recorder's minute is full",
    )
    ours = Series("a chunk with the recorder on, of the thread's processor time", "us", tuple(taken[True]))
    against = Series("without it", "us", tuple(taken[False]))
    return Figure("The flight recorder on the microphone's path", ours, against, notes)


if __name__ == "__main__":
    run(measure)
