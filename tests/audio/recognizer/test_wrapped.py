"""A recognizer loads while the rest is opened; whoever wants it waits for that, and is told what went wrong."""

import threading

import numpy as np
import pytest

from audio.errors import ModelDamaged
from audio.recognizer.wrapped import LoadedAhead
from audio.speech import Utterance
from tests.audio.ears_fakes import ScriptedRecognizer

SPOKEN = Utterance(np.zeros(16_000, np.int16), 0.0, 1.0, 1.0, 1.0)


class Loading(ScriptedRecognizer):
    """Loads as long as a test wants it to."""

    def __init__(self, *script: str, broken: Exception | None = None) -> None:
        super().__init__(script)
        self.broken = broken
        self.has_begun_to_load, self.may_load = threading.Event(), threading.Event()
        self.times_loaded = 0

    def warm(self) -> None:
        self.has_begun_to_load.set()
        assert self.may_load.wait(30.0)
        if self.broken:
            raise self.broken
        self.times_loaded += 1
        super().warm()


def test_it_loads_before_anybody_asks_and_only_once() -> None:
    whisper = Loading("hello there")
    ahead = LoadedAhead(whisper)
    assert whisper.has_begun_to_load.wait(30.0)
    assert not whisper.is_warm
    whisper.may_load.set()
    ahead.warm()
    ahead.warm()
    assert (whisper.is_warm, whisper.times_loaded) == (True, 1)
    assert ahead.transcribe(SPOKEN).text == "hello there"
    assert (ahead.name, ahead.sends_to) == (whisper.name, whisper.sends_to)


def test_whoever_waits_is_told_why_it_could_not_be_loaded() -> None:
    whisper = Loading(broken=ModelDamaged("the model is damaged; fetch it again"))
    ahead = LoadedAhead(whisper)
    whisper.may_load.set()
    for _ in range(2):
        with pytest.raises(ModelDamaged, match="fetch it again"):
            ahead.warm()
