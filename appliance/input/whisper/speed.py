"""Times the recognizer on a recorded sentence and prints it as JSON, in a process of its own; the doctor starts it."""

import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from appliance.config.load import Config, load
from appliance.config.sections import EarsSettings
from appliance.input.whisper.recognizers import choose_recognizer
from appliance.logs.configure import configure
from audio.errors import AudioError
from audio.recognizer.speed import sample_utterance

COMFORT: Final = 0.5
"""Of real time; what is faster is not tried again."""

PATIENCE: Final = 4.0
"""Seconds for tries, of which the fastest counts: the other checks run at the same time."""


@dataclass(frozen=True, slots=True)
class RecognizerSpeed:
    """How long a recognizer took."""

    missing: str = ""
    """Why none could be timed; empty where one was."""
    name: str = ""
    seconds: float = 0.0
    """For the whole sentence, the fastest of the tries."""
    of: float = 0.0
    """Length of the sentence in seconds."""


def measure(config: Config) -> RecognizerSpeed:
    """Time the recognizer that would listen. Blocking, seconds."""
    utterance = sample_utterance()
    try:
        recognizer = choose_recognizer(config).recognizer
        recognizer.warm()
        until, fastest = time.perf_counter() + PATIENCE, float("inf")
        while fastest > COMFORT * utterance.seconds and time.perf_counter() < until:
            began = time.perf_counter()
            recognizer.transcribe(utterance)
            fastest = min(fastest, time.perf_counter() - began)
    except AudioError as error:
        return RecognizerSpeed(missing=str(error))
    return RecognizerSpeed("", recognizer.name, fastest, utterance.seconds)


def arguments(config: Config) -> list[str]:
    """Return what the process has to be told of the configuration."""
    return [str(config.state_folder), json.dumps(asdict(config.ears))]


def main(state_folder: str, ears: str) -> None:
    """Measure and print."""
    usual = load(environ={})
    configure(usual, sys.stderr)  # what is logged on the way must not be in the answer
    config = replace(usual, state_folder=Path(state_folder), ears=EarsSettings(**json.loads(ears)))
    sys.stdout.write(json.dumps(asdict(measure(config))))


if __name__ == "__main__":
    main(*sys.argv[1:])
