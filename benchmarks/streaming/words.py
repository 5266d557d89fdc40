"""Prints what the tests' streaming model hears: `python -m benchmarks.streaming.words [--quick]`.

Each sentence once by every voice that nobody trained on (`voices.HELD_OUT`): errors, decoded whole and followed as a
microphone gives it; processor time from the end of a turn to its words, followed, decoded whole and by the tests' small
Whisper; and how long after the end of speech the last word was told. Times are of the processor, in one run.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

import numpy as np

from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer, WhisperOptions
from audio.recognizer.sherpa_onnx import SherpaRecognizer
from audio.speech import Utterance
from benchmarks.streaming.sentences import SENTENCES
from benchmarks.streaming.voices import Said, held_out
from tests.audio.spoken import HOUSEHOLD_STREAMING, HOUSEHOLD_WHISPER, utterance, word_errors

T = TypeVar("T")

ROOM_LEVEL = 8.0
"""Of the noise around each sentence, in steps of the converter: a microphone in a quiet room."""


@dataclass(slots=True)
class Tally:
    """What was counted in one language."""

    words: int = 0
    whole: int = 0
    followed: int = 0
    """Errors, decoded whole and followed."""
    right: int = 0
    said: int = 0


@dataclass(slots=True)
class Times:
    """Seconds of the processor for each utterance, but `late`."""

    completed: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    whisper: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    """Of following, for each second of sound."""
    late: list[float] = field(default_factory=list)
    """Seconds of sound after the end of speech until the last word was among the words so far; no padding."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    quick = parser.parse_args().quick
    said = list(islice(held_out(SENTENCES), 6 if quick else None))
    tallies, times = measured(said)
    print_errors(tallies)
    print_times(times)


def measured(said: Sequence[Said]) -> tuple[dict[str, Tally], Times]:
    """Return what came of each sentence."""
    recognizer = SherpaRecognizer(HOUSEHOLD_STREAMING, "en", threads=1)
    whisper = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 1, WhisperOptions(short_window=True))
    recognizer.warm()
    whisper.warm()
    tallies: dict[str, Tally] = {}
    times, random = Times(), np.random.default_rng(1)
    for each in said:
        heard = _in_a_room(utterance(each.samples), random)
        _measure(each, heard, recognizer, tallies.setdefault(each.language, Tally()), times)
        if each.language == "en":
            times.whisper.append(_timed(lambda sound=heard: whisper.transcribe(sound))[1])  # type: ignore[misc]
    return tallies, times


def _measure(said: Said, sound: Utterance, recognizer: SherpaRecognizer, tally: Tally, times: Times) -> None:
    turn = recognizer.follow()
    began = time.process_time()
    for at in range(0, len(sound.samples), CHUNK_SAMPLES):
        turn.take(sound.samples[at : at + CHUNK_SAMPLES])
    times.share.append((time.process_time() - began) / sound.seconds)
    heard, seconds = _timed(lambda: recognizer.transcribe(sound))
    times.completed.append(seconds)
    whole, seconds = _timed(lambda: recognizer.recognize(sound.samples))
    times.whole.append(seconds)
    text, alone, live = (_spaced(each, said.language) for each in (said.text, whole.text, heard.text))
    tally.words += len(text.split())
    tally.whole += word_errors(text, alone)
    tally.followed += word_errors(text, live)
    tally.said += 1
    tally.right += live == text
    times.late.append(_late(recognizer, sound))


def _late(recognizer: SherpaRecognizer, sound: Utterance) -> float:
    """Return how long after the end of speech the words so far no longer change, the room going on."""
    random = np.random.default_rng(2)
    more = random.normal(0, ROOM_LEVEL, SAMPLE_RATE).astype(np.int16)
    samples: Samples = np.concatenate([sound.samples, more])
    turn, changed_at, last = recognizer.follow(), 0.0, ""
    for at in range(0, len(samples), CHUNK_SAMPLES):
        text = turn.take(samples[at : at + CHUNK_SAMPLES]).text
        if text != last:
            changed_at, last = (at + CHUNK_SAMPLES) / SAMPLE_RATE, text
    return max(0.0, changed_at - sound.ended_at)


def _in_a_room(sound: Utterance, random: np.random.Generator) -> Utterance:
    noise = random.normal(0, ROOM_LEVEL, len(sound.samples))
    samples = np.clip(sound.samples + noise, -32768, 32767).astype(np.int16)
    return Utterance(samples, sound.started_at, sound.ended_at, sound.committed_at, sound.speech_seconds)


def _spaced(text: str, language: str) -> str:
    """Return Chinese with a space between two characters: there these are counted."""
    return " ".join(text.replace(" ", "")) if language == "zh" else text


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def print_errors(tallies: dict[str, Tally]) -> None:
    """Print the errors by language."""
    for language, each in tallies.items():
        unit = "characters" if language == "zh" else "words"
        print(
            f"{language}: {100 * each.followed / each.words:.1f} % of {each.words} {unit} wrong followed, "
            f"{100 * each.whole / each.words:.1f} % decoded whole; {each.right} of {each.said} sentences right"
        )


def print_times(times: Times) -> None:
    """Print medians, and the greatest."""
    for what, values in (
        ("processor time from the end of a turn to its words, followed", times.completed),
        ("the same, decoded whole by the same model", times.whole),
        ("the same, English by the tests' small Whisper in its short window", times.whisper),
        ("sound after the end of speech until the last word was told", times.late),
    ):
        if values:
            print(f"{what}: {1000 * statistics.median(values):.0f} ms, at most {1000 * max(values):.0f} ms")
    print(f"processor time of following: {statistics.median(times.share):.3f} s for each second of sound")


if __name__ == "__main__":
    main()
