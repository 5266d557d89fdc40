"""The demo's question is understood by every recognizer that runs here, as flite says it."""

from pathlib import Path

import numpy as np
import pytest

from agent.intents.language.grammar import command_grammar
from appliance.cli.talk.demo import QUESTION, speak_question, words
from audio.capture.recording import read_recording
from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import Utterance
from tests.service.process import HOUSEHOLD


def recognizers() -> list[Recognizer]:
    return [PocketsphinxRecognizer(command_grammar("en")), FasterWhisperRecognizer(HOUSEHOLD, "en")]


@pytest.mark.parametrize("noise_db", [-90, -70, -60])
@pytest.mark.parametrize("recognizer", recognizers(), ids=lambda each: str(each.name))
async def test_the_question_is_heard_as_it_is_meant(recognizer: Recognizer, noise_db: int, tmp_path: Path) -> None:
    """With noise that is not heard: processors add up in different orders, and the question has to stand that too."""
    await speak_question(QUESTION, tmp_path / "question.wav")
    samples = read_recording(tmp_path / "question.wav")
    noise = np.random.default_rng(1).normal(size=len(samples)) * 32768 * 10 ** (noise_db / 20)
    heard = (samples + noise).clip(-32768, 32767).astype(np.int16)
    seconds = len(heard) / SAMPLE_RATE
    recognizer.warm()
    transcript = recognizer.transcribe(Utterance(heard, 0.0, seconds, seconds, seconds))
    assert words(transcript.text) == words(QUESTION)
    assert transcript.confidence == "normal"
