"""What `nakari hear` prints of each utterance of a recording: its words, the verdict, and the score behind it."""

import json
from pathlib import Path

import numpy as np
import pytest

from appliance.cli.talk.speech import Printed
from audio.capture.recording import RecordingSource
from audio.speech import RecognizedTurn, Transcript, Utterance
from audio.turns.listener import NO_WORDS
from benchmarks.sound import write_wav


def turn(text: str, probability: float, seconds: float) -> RecognizedTurn:
    utterance = Utterance(np.zeros(16_000, np.int16), 1.0, 1.0 + seconds, 3.0, seconds, -30.0, -33.0, 0.0, probability)
    return RecognizedTurn(utterance, Transcript(text, "en", "told"), 3.0)


@pytest.mark.shows("V12")
async def test_every_utterance_has_its_verdict_and_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done: list[float] = []
    source = RecordingSource(write_wav(tmp_path / "said.wav", np.zeros(48_000, np.int16)), fast=True)
    printed = Printed(source, done.append)
    clear, cough = turn("what time is it", 0.97, 1.2), turn("Tell me a joke.", 0.8, 0.4)
    for heard in (clear, cough):
        printed.turn_ended(heard, await printed.admit(heard))
    printed.turn_ended(turn("", 0.5, 0.3), NO_WORDS)
    printed.turn_ended(None, "too short")
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["text"], first["verdict"]) == ("what time is it", "heard")
    assert first["evidence"]["score"] > 0.9
    assert second["verdict"].startswith("no speech by the evidence: more words than")
    assert second["evidence"]["score"] < 0.3
    assert (third["text"], third["verdict"]) == ("", NO_WORDS)
    assert done == [2.2, 1.4, 1.3]
