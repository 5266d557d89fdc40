"""The demo's question is understood by every recognizer that runs here, as flite says it."""

from pathlib import Path

import pytest

from agent.intents.grammar import command_grammar
from appliance.cli.demo import QUESTION, speak_question, words
from audio.capture.recording import read_recording
from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import Utterance
from tests.service.process import HOUSEHOLD


def recognizers() -> list[Recognizer]:
    return [PocketsphinxRecognizer(command_grammar("en")), FasterWhisperRecognizer(HOUSEHOLD, "en")]


@pytest.mark.parametrize("recognizer", recognizers(), ids=lambda each: str(each.name))
async def test_the_question_is_heard_as_it_is_meant(recognizer: Recognizer, tmp_path: Path) -> None:
    await speak_question(QUESTION, tmp_path / "question.wav")
    samples = read_recording(tmp_path / "question.wav")
    seconds = len(samples) / SAMPLE_RATE
    recognizer.warm()
    transcript = recognizer.transcribe(Utterance(samples, 0.0, seconds, seconds, seconds))
    assert words(transcript.text) == words(QUESTION)
    assert transcript.confidence == "normal"
