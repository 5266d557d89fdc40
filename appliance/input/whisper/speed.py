"""Times the recognizer on a recorded sentence and prints it as JSON, in a process of its own; the doctor starts it."""

import os
import sys
import time
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from appliance.config.load import load
from appliance.config.sections import EarsSettings
from appliance.input.whisper.choice import WhisperSettings, pick
from appliance.input.whisper.recognizers import choose_whisper
from appliance.logs.configure import configure
from audio.errors import AudioError
from audio.interfaces import Recognizer
from audio.recognizer.models.speed import sample_utterance
from audio.speech import Utterance

KEEPS_UP: Final = 1.0
"""Of real time, of the processor on each thread; what needs no more is well, however a next try would turn out."""

USUAL_THREADS: Final = 4
"""Which CTranslate2 takes where it is told none, or all cores where they are fewer."""

PATIENCE: Final = 4.0
"""Seconds for tries, of which the fastest counts: the other checks run at the same time."""


class RecognizerSpeed(Struct, frozen=True):
    """How long a recognizer took."""

    missing: str = ""
    """Why none could be timed; empty where one was."""
    name: str = ""
    seconds: float = 0.0
    """For the whole sentence, the fastest of the tries, by the clock on the wall."""
    busy_seconds: float = 0.0
    """Of the processor in all threads, the least of the tries: what other programs take is not in it."""
    threads: int = 1
    """That it decodes with."""
    of: float = 0.0
    """Length of the sentence in seconds."""


def measure(settings: WhisperSettings) -> RecognizerSpeed:
    """Time the recognizer that would listen. Blocking, seconds."""
    try:
        recognizer = choose_whisper(settings).recognizer
        recognizer.warm()
        return timed(recognizer, sample_utterance(), threads_of(settings))
    except AudioError as error:
        return RecognizerSpeed(missing=str(error))


def timed(recognizer: Recognizer, utterance: Utterance, threads: int) -> RecognizerSpeed:
    """Time a recognizer that is warm: once where it keeps up with speech, else again for `PATIENCE`."""
    until, fastest, least = time.perf_counter() + PATIENCE, float("inf"), float("inf")
    while least > KEEPS_UP * utterance.seconds * threads and time.perf_counter() < until:
        began, busy = time.perf_counter(), time.process_time()
        recognizer.transcribe(utterance)
        fastest, least = min(fastest, time.perf_counter() - began), min(least, time.process_time() - busy)
    return RecognizerSpeed("", recognizer.name, fastest, least, threads, utterance.seconds)


def threads_of(settings: WhisperSettings) -> int:
    """Return with how many threads the recognizer decodes that would listen now."""
    picked = pick(settings)
    if picked is None:
        return 1  # pocketsphinx
    return picked.threads or min(len(os.sched_getaffinity(0)), USUAL_THREADS)


def arguments(settings: WhisperSettings) -> list[str]:
    """Return what the process has to be told."""
    return [msgspec.json.encode(settings.ears).decode(), str(settings.state_folder)]


def main(ears: str, state_folder: str) -> None:
    """Measure and print."""
    usual = load(environ={}, wrong=[])  # what is wrong in the file, the doctor has told
    configure(usual, sys.stderr)  # what is logged on the way must not be in the answer
    settings = WhisperSettings(msgspec.json.decode(ears, type=EarsSettings), Path(state_folder), None)
    sys.stdout.write(msgspec.json.encode(measure(settings)).decode())  # no file to read: nothing is fetched


if __name__ == "__main__":
    main(*sys.argv[1:])
