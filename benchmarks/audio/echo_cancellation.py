"""What it costs to take its own voice out of the microphone's sound, against the voice detector over the same sound."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

import numpy as np
from msgspec import Struct

from audio.echo.canceller import FRAME_SAMPLES, CleanedStream, WebRtcCanceller
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.pcm import SAMPLE_RATE, AudioChunk, Samples
from audio.turns.silero import SileroSession
from benchmarks.figure import Figure, Series, run, short
from benchmarks.models import SILERO
from tests.audio.echo_room import Room, at_level, joined
from tests.audio.spoken import said, silence

SHOWS = ("V4",)

UNIT = "s of one core a minute"

REPLY = (
    "The weather tomorrow will be mostly sunny, with a light wind from the west. In the evening there may be some "
    "rain, so take an umbrella with you. I have put milk, eggs and bread on the shopping list."
)


class Step(Struct, frozen=True):
    """What the sound card told before a chunk, the chunk, and both as frames of 10 ms, paired."""

    told: tuple[tuple[Samples, int, float], ...]
    chunk: AudioChunk
    frames: tuple[tuple[Samples, Samples], ...]


def measure(*, quick: bool = False) -> Figure:
    """Have its speak in a room of arrays, and be silent in it, and clean what the microphone has of both."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        reply = at_level(said(REPLY, "slt", Path(folder)), -20.0)
    speaking = _evening(reply[:SAMPLE_RATE] if quick else np.tile(reply, 3))
    resting = _evening(silence(1.0 if quick else 30.0))
    rounds = 1 if quick else 5
    cleaning = _minutes(speaking, _guard, rounds)
    detecting = _minutes(speaking, _detector, rounds)
    bare = _minutes(speaking, _bare, rounds)
    silent = _minutes(resting, _guard, rounds)
    notes = (
        f"the WebRTC module alone, frame by frame, takes {Series('', UNIT, bare)}; all of it is "
        f"{short(_median(cleaning) / _median(bare))} times that: it pairs, resamples, measures the leak, finds people",
        f"that is {short(_median(cleaning) / 60 * 100)} % of a core while nakari speaks; "
        f"while it is silent this rests: {short(_median(silent))} {UNIT}",
    )
    ours = Series("echo cancellation while nakari speaks, reference at 48 kHz", UNIT, cleaning)
    return Figure("Echo cancellation", ours, Series("a bare Silero loop over the same sound", UNIT, detecting), notes)


def _evening(played: Samples) -> list[Step]:
    steps: list[Step] = []
    told: list[tuple[Samples, int, float]] = []

    def tap(samples: Samples, sample_rate: int, at: float) -> None:
        told.append((samples, sample_rate, at))

    reference = PlayedReference()
    stream = CleanedStream(reference)
    for chunk in Room(player_rate=48_000).chunks(played, silence(0), tap):
        for buffer in told:
            reference.take(*buffer)
        cleaned = stream.process(chunk)
        near, far = (sound.reshape(-1, FRAME_SAMPLES) for sound in (cleaned.near, cleaned.far))
        steps.append(Step(tuple(told), chunk, tuple(zip(near, far, strict=True))))
        told.clear()
    return steps


def _minutes(steps: list[Step], make: Callable[[], Callable[[Step], object]], rounds: int) -> tuple[float, ...]:
    """Return the processor seconds a minute of sound, of each round with a new one."""
    minutes, spent = len(joined([step.chunk for step in steps])) / SAMPLE_RATE / 60, []
    for _ in range(rounds):
        take = make()
        began = process_time()
        for step in steps:
            take(step)
        spent.append((process_time() - began) / minutes)
    return tuple(spent)


def _guard() -> Callable[[Step], object]:
    reference = PlayedReference()
    guard = CancellingGuard(reference, HalfDuplex(lambda: 0.0), WebRtcCanceller())

    def take(step: Step) -> object:
        for buffer in step.told:
            reference.take(*buffer)
        return guard.clean(step.chunk)

    return take


def _bare() -> Callable[[Step], object]:
    """Return livekit's module by its own methods, over the same sound and nothing else: frames made before."""
    canceller = WebRtcCanceller(is_direct=False)

    def take(step: Step) -> object:
        return [canceller.cancel(near, far) for near, far in step.frames]

    return take


def _detector() -> Callable[[Step], object]:
    detector = SileroSession(SILERO)
    return lambda step: detector.probability(step.chunk.samples)


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))


if __name__ == "__main__":
    run(measure)
