"""How long it goes on after somebody begins to speak over it, at 0, -6 and -12 dB against its own voice."""

import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, from_float
from audio.turns.endpointer import ONSET_SECONDS, SPEECH_BEGINS
from audio.turns.vad import load_detector
from benchmarks.figure import Figure, milliseconds, run
from tests.room.acoustics import Sound, at_level
from tests.room.card import INPUT_LATENCY, OUTPUT_LATENCY
from tests.room.stories import Interruption, quantile
from tests.room.test_interruptions import AFTER, ORDERS, around, interruptions
from tests.room.voices import says

SHOWS = ("V17",)

LEVELS: Final = (0.0, -6.0, -12.0)
"""dB against its voice at the microphone."""

VOICES: Final = ("en-us", "rms", "awb", "kal")
"""Of who speaks over its (espeak-ng's, then flite's); its own is flite's slt."""

SPEECH_DBFS: Final = -30.0


def measure(*, quick: bool = False) -> Figure:
    """Have people speak over it in the simulated room, in virtual time, with the real detector and canceller."""
    sounds = [(says(order, voice), after) for voice in VOICES for order, after in zip(ORDERS, AFTER, strict=True)]
    sounds = sounds[: 1 if quick else None]
    silent: list[float] = []
    notes = []
    for level in LEVELS[: 1 if quick else None]:
        found = _spoken_over([sound for sound, _ in sounds], level)
        noticed = [each.silent_after for each in found if each.silent_after is not None]
        silent += noticed
        times = f"p50 {quantile(noticed, 0.5):.2f} s, p95 {quantile(noticed, 0.95):.2f} s" if noticed else "never"
        ended = sum(bool(each.taken_up) for each in found)
        notes.append(f"at {level:.0f} dB {len(noticed)} of {len(found)} noticed, {times}; {ended} ended the reply")
    floor = [_alone(sound) for sound, _ in sounds]
    ours = milliseconds("from the first sound of the words to a silent loudspeaker, over its own voice", silent)
    against = milliseconds("two chunks of a bare Silero on the same words in silence, and the card's latency", floor)
    return Figure("Falling silent for whoever speaks", ours, against, tuple(notes))


def _spoken_over(sounds: list[Sound], level: float) -> list[Interruption]:
    """Return what came of each, eight to a house: it opens anew, with a canceller that has learned nothing."""
    found: list[Interruption] = []
    for first in range(0, len(sounds), len(AFTER)):
        with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
            spoken = [(sound, level) for sound in sounds[first : first + len(AFTER)]]
            found += interruptions(Path(folder), spoken, around(100 + first))
    return found


def _alone(sound: Sound) -> float:
    """Return when any program with this detector could be silent at the earliest: seconds after the sound's first."""
    detector = load_detector()
    quiet = np.zeros(CHUNK_SAMPLES * 16, np.float32)
    samples = from_float(np.concatenate([quiet, at_level(sound, SPEECH_DBFS), quiet]))
    speech = 0.0
    for number in range(len(samples) // CHUNK_SAMPLES):
        probability = detector.probability(samples[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES])
        speech = speech + CHUNK_SECONDS if probability >= SPEECH_BEGINS else 0.0
        if speech + 1e-9 >= ONSET_SECONDS:
            heard = (number + 1 - 16) * CHUNK_SECONDS
            return heard + INPUT_LATENCY + OUTPUT_LATENCY
    return len(sound) / 16_000


if __name__ == "__main__":
    run(measure)
