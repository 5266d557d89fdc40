"""How fast models hear on this box, and which is the largest that keeps up with speech."""

import time
import wave
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct

from audio.errors import AudioError
from audio.interfaces import Recognizer
from audio.recognizer.models.catalog import Model
from audio.speech import Utterance

BOUND: Final = 0.3
"""The largest real-time factor that still feels like being listened to: 3 s of speech are words after 0.9 s."""

SAMPLE_SECONDS: Final = 3.0
"""Length of what is decoded: a usual command. Whisper pads it to 30 s, so that a longer one costs little more."""

TRIES: Final = 3
"""Decodes of which the fastest counts; whatever else the box does meanwhile makes the others slower."""

HOPELESS: Final = 2 * BOUND
"""A decode above this is not tried again, and not with fewer threads."""

NEARLY: Final = 1.1
"""Threads that make it less than this much faster are left to the rest of the box."""

MOST_THREADS: Final = 16
"""More make no decode of one utterance faster."""

_SAMPLE: Final = Path(__file__).with_name("sample.wav")

Load: TypeAlias = Callable[[Path, int], Recognizer]
"""Makes the recognizer of a model folder, with so many threads."""

Skip: TypeAlias = Callable[[Model, AudioError], None]
"""Is told which model cannot be measured, and why."""


class Measurement(Struct, frozen=True):
    """How fast one model is with so many threads."""

    model: str
    size: int
    """Bytes of its weights."""
    threads: int
    factor: float
    """Seconds of decoding for a second of sound."""


def choose(measured: Sequence[Measurement], bound: float = BOUND) -> Measurement | None:
    """Return the largest model whose real-time factor is below the bound, and the fewest threads that do for it.

    Where none is below it, the fastest: it has to hear with something. Of two that are as large (to the megabyte) the
    one for English alone, which is better at it. None when nothing was measured.
    """
    in_time = [each for each in measured if each.factor < bound]
    if not in_time:
        return min(measured, key=lambda each: each.factor, default=None)
    best = max(in_time, key=lambda each: (round(each.size / 1e6), each.model.endswith(".en"), -each.factor))
    enough = [each for each in in_time if each.model == best.model and each.factor <= best.factor * NEARLY]
    return min(enough, key=lambda each: each.threads)


def thread_counts(cores: int) -> list[int]:
    """Return the numbers of threads worth a try, most first: all cores, half of them, a quarter."""
    most = min(max(cores, 1), MOST_THREADS)
    return sorted({most, max(most // 2, 1), max(most // 4, 1)}, reverse=True)


def measure(
    models: Sequence[Model],
    threads: Sequence[int],
    load: Load,
    skip: Skip,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Measurement]:
    """Yield how fast each model is with each number of threads, from the smallest up to the first that is too slow.

    Blocking: a load and at most four decodes a measurement, some seconds in all. `skip` is told which model is left out
    because it is damaged or does not know the language.
    """
    utterance = sample_utterance()
    for model in sorted(models, key=lambda model: model.size):
        fastest = 0.0
        try:
            for count in threads:
                recognizer = load(model.folder, count)
                recognizer.warm()
                factor = _real_time_factor(recognizer, utterance, clock)
                yield Measurement(model.name, model.size, count, factor)
                fastest = min(fastest or factor, factor)
                if factor > HOPELESS:
                    break
        except AudioError as error:
            skip(model, error)
        if fastest >= BOUND:
            return


def _real_time_factor(recognizer: Recognizer, utterance: Utterance, clock: Callable[[], float]) -> float:
    fastest = float("inf")
    for _ in range(TRIES):
        began = clock()
        recognizer.transcribe(utterance)
        fastest = min(fastest, (clock() - began) / utterance.seconds)
        if fastest > HOPELESS:
            break
    return fastest


def sample_utterance() -> Utterance:
    """Return the 3 s that are decoded: "Remember that the spare key is under the mat.", said once by espeak-ng 1.51.

    Words, because a decode costs what the model writes; the same samples always, because boxes are compared by it.
    """
    with wave.open(str(_SAMPLE)) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16)
    return Utterance(samples, 0.0, SAMPLE_SECONDS, SAMPLE_SECONDS, SAMPLE_SECONDS)
