"""How the speed of the recognizer is measured: no longer than it takes to know that it keeps up with speech."""

import time

import numpy as np
import pytest

from appliance.input.whisper import speed
from audio.speech import Transcript, Utterance

SHORT = Utterance(np.zeros(1600, np.int16), 0.0, 0.1, 0.1, 0.1)


class Busy:
    """A recognizer that needs these seconds of the processor, one try after the other."""

    name = "busy"
    sends_to = ()

    def __init__(self, *seconds: float) -> None:
        self.to_come = [*seconds]

    def warm(self) -> None:
        """Need nothing."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        until = time.process_time() + self.to_come.pop(0)
        while time.process_time() < until:
            pass
        return Transcript("", "en", self.name)


@pytest.mark.parametrize(("needs", "threads"), [(0.07, 1), (0.14, 2)])
def test_what_keeps_up_with_speech_is_heard_once(needs: float, threads: int) -> None:
    """A box without Whisper waited for pocketsphinx twice or three times, for the same verdict."""
    recognizer = Busy(needs, needs)
    found = speed.timed(recognizer, SHORT, threads)
    assert recognizer.to_come == [needs]
    assert needs <= found.busy_seconds < found.of * threads


def test_what_does_not_is_heard_again_and_the_least_counts() -> None:
    recognizer = Busy(0.12, 0.11, 0.07, 0.07)
    found = speed.timed(recognizer, SHORT, 1)
    assert recognizer.to_come == [0.07]
    assert found.busy_seconds < 0.1
