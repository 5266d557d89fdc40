"""Ears that hear a sound in virtual time, with a flight recorder: all is real but microphone and clock."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from agent.event import Event
from appliance.config.sections import EarsSettings
from appliance.input.not_understood import understood_guard
from appliance.recorder.recorder import FlightRecorder
from appliance.recorder.recording import Recording
from appliance.recorder.replay import Replayed, replay
from appliance.recorder.store import Limits, Recordings
from audio.interfaces import Recognizer, TurnObserver, always_awake
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import evidence_guard
from audio.turns.listener import Listener, NoEcho, Surroundings
from audio.turns.vad import load_detector
from memory.json_value import Json
from tests.room.virtual_time import run_virtually, until

RECOGNITION_SECONDS = 0.3
"""Virtual seconds that words take."""

ROOMY = Limits(1000, 1_000_000_000)


@dataclass
class Microphone:
    """An `AudioSource` that gives a sound on the loop's clock, chunk by chunk."""

    sound: Samples
    name: str = "a clip"
    is_live: bool = True
    dropped_chunks: int = 0

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        began = asyncio.get_running_loop().time()
        for number in range(len(self.sound) // CHUNK_SAMPLES):
            at = began + number * CHUNK_SECONDS
            await until(at + CHUNK_SECONDS)
            yield AudioChunk(self.sound[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES], at)


@dataclass
class Gate(TurnObserver):
    """A `TurnIntake` and `TurnObserver`: the evidence alone holds back."""

    filing: float = 0.0
    """Virtual seconds until words are filed as an event."""
    filed: list[Callable[[Event], None]] = field(default_factory=list)
    """Told of each."""
    events: list[Event] = field(default_factory=list)
    ended: list[tuple[RecognizedTurn | None, str]] = field(default_factory=list)

    async def admit(self, heard: RecognizedTurn) -> str:
        return evidence_guard(heard) or understood_guard("en")(heard)

    async def accept(self, heard: RecognizedTurn) -> None:
        """File the words; nobody takes them."""
        await until(asyncio.get_running_loop().time() + self.filing)
        told: dict[str, Json] = {"timing": {"committed": heard.utterance.committed_at}}
        self.events.append(Event("asr_transcript", heard.transcript.text, metadata=told))
        for take in self.filed:
            take(self.events[-1])

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        self.ended.append((heard, suppressed))


def room_of(*sounds: Samples, seed: int = 1) -> Samples:
    """A quiet room (-60 dBFS) in which these sounds come one after the other, five seconds of quiet around each."""
    quiet = np.random.default_rng(seed).normal(0, 25, 5 * 16_000)
    pieces = [quiet]
    for sound in sounds:
        pieces += [sound + np.random.default_rng(seed).normal(0, 25, len(sound)), quiet]
    return np.concatenate(pieces).clip(-32768, 32767).astype(np.int16)


def recorded(
    sound: Samples,
    folder: Path,
    recognizer: Recognizer,
    ears: EarsSettings | None = None,
    takes: float = RECOGNITION_SECONDS,
    filing: float = 0.0,
) -> tuple[list[Recording], Gate]:
    """Hear a sound; return what was recorded of it, the newest first, and what the turns came to.

    Words take `takes` virtual seconds, and `filing` more until they are an event.
    """
    ears = ears or EarsSettings()
    recordings, gate = Recordings(folder, ROOMY), Gate(filing)

    async def hear() -> None:
        clock = asyncio.get_running_loop().time
        recorder = FlightRecorder(recordings, ears, NoEcho(), clock)
        endpointer = Endpointer(ears.commit_silence)
        around = Surroundings(echo=recorder, clock=clock)
        listener = Listener(Microphone(sound), load_detector(), endpointer, recognizer, gate, around)
        recorder.follow(listener)
        gate.filed.append(recorder.filed)
        listener.observe(gate)
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(recorder.run())
            recognizing = group.create_task(listener.recognize())
            await listener.listen()
            await recognizing
            await until(clock() + 5.0)
            writing.cancel()

    run_virtually(hear(), {"transcribe": takes})
    return recordings.listed(), gate


def again(recording: Recording, recognizer: Recognizer, ears: EarsSettings | None = None) -> Replayed:
    """Run a recording again."""
    return asyncio.run(replay(recording, ears or EarsSettings(), recognizer, load_detector))
