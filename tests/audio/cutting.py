"""A sound cut into utterances by the real ears, as fast as they go; and sounds put into a quiet room."""

import asyncio
from collections.abc import AsyncIterator, Callable

import numpy as np

from audio.interfaces import VoiceDetector, always_awake
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.speech import Transcript, Utterance
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from tests.audio.ears_fakes import Intake


class Played:
    """An `AudioSource` over samples."""

    name = "samples"
    is_live = False
    dropped_chunks = 0

    def __init__(self, sound: Samples) -> None:
        self._sound = sound

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        for number in range(len(self._sound) // CHUNK_SAMPLES):
            yield AudioChunk(self._sound[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES], number * CHUNK_SECONDS)
            await asyncio.sleep(0)


class Nameless:
    """A `Recognizer` that makes the same word of everything."""

    name = "nameless"
    sends_to = ()

    def warm(self) -> None:
        """Be warm."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript("something", "en", self.name)


def cut(sound: Samples, detector: VoiceDetector) -> list[Utterance]:
    """Return the utterances of a sound, in order."""
    return asyncio.run(_cut(sound, detector))


async def _cut(sound: Samples, detector: VoiceDetector) -> list[Utterance]:
    intake = Intake()
    listener = Listener(Played(sound), detector, Endpointer(), Nameless(), intake)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())
    return [heard.utterance for heard in intake.heard]


def in_a_room(*sounds: Samples, peak: float = 8000.0, seed: int = 3) -> Samples:
    """Return the sounds at this peak with two seconds of a quiet room before each and after the last."""
    random, pieces = np.random.default_rng(seed), []
    for sound in sounds:
        pieces += [random.normal(0.0, 8.0, 32_000), sound / np.abs(sound).max() * peak]
    return np.concatenate([*pieces, random.normal(0.0, 8.0, 32_000)]).astype(np.int16)
