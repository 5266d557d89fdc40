"""The real faster-whisper path on the small model of the tests; through the listener, from a sound file."""

import asyncio
import wave
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.endpointer import Endpointer
from audio.errors import ModelNotFound, RecognitionFailed
from audio.listener import Listener
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer, _evidence, encoded_once
from audio.recording import RecordingSource
from audio.speech import Heard
from audio.vad import load_detector
from tests.audio.spoken import HOUSEHOLD_WHISPER, WordErrorRate, said, silence, trimmed, utterance
from tests.figures import figure

SENTENCES = [
    "Turn on the kitchen light.",
    "Set a timer for ten minutes.",
    "What time is it?",
    "Remember that my keys are in the drawer.",
    "Where are my keys?",
    "What is on the shopping list?",
    "Turn the volume down.",
    "Good morning.",
    "Wake me up at seven o'clock.",
    "How much time is left?",
    "Tell me a joke.",
    "Add coffee to the shopping list.",
]


@pytest.fixture(scope="module")
def recognizer() -> FasterWhisperRecognizer:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", threads=2)
    recognizer.warm()
    return recognizer


@pytest.mark.shows("V9")
def test_sentences_are_understood(recognizer: FasterWhisperRecognizer, tmp_path: Path) -> None:
    rate = WordErrorRate()
    for sentence in SENTENCES:
        rate.add(sentence, recognizer.transcribe(utterance(said(sentence, "en-us", tmp_path))).text)
    figure("faster-whisper, whisper-household on its own sentences by espeak-ng", str(rate))
    assert rate.rate < 0.05, rate


@pytest.mark.shows("V12")
def test_a_transcript_carries_its_evidence(recognizer: FasterWhisperRecognizer, tmp_path: Path) -> None:
    transcript = recognizer.transcribe(utterance(said("Good morning.", "en-us", tmp_path)))
    assert transcript.recognizer == "faster-whisper:whisper-household"
    assert (transcript.language, transcript.confidence) == ("en", "normal")
    assert -1.0 < transcript.evidence["avg_logprob"] < 0.0
    assert 0.0 <= transcript.evidence["no_speech_prob"] < 0.1
    assert 0.0 < transcript.evidence["compression_ratio"] < 2.4
    assert transcript.evidence["language_probability"] == 1.0


def test_a_model_of_one_language_needs_none_named(recognizer: FasterWhisperRecognizer, tmp_path: Path) -> None:
    question = utterance(said("What time is it?", "en-us", tmp_path))
    assert FasterWhisperRecognizer(HOUSEHOLD_WHISPER).transcribe(question) == recognizer.transcribe(question)


def test_a_language_that_the_model_does_not_know_is_told() -> None:
    with pytest.raises(ModelNotFound, match="whisper-household does not know the language 'zh'; take another one"):
        FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "zh").warm()


def test_a_decoder_that_fails_is_a_failed_recognition() -> None:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")
    recognizer.warm()
    assert recognizer._model
    recognizer._model.max_length = 8  # upstream refuses a prompt and new tokens that are longer together
    with pytest.raises(RecognitionFailed, match=r"faster-whisper:whisper-household failed on an utterance: .*tokens"):
        recognizer.transcribe(utterance(silence(1.0)))


def test_the_worst_segment_speaks_for_an_utterance() -> None:
    good = SimpleNamespace(avg_logprob=-0.1, no_speech_prob=0.01, compression_ratio=1.0)
    bad = SimpleNamespace(avg_logprob=-1.5, no_speech_prob=0.7, compression_ratio=3.0)
    assert _evidence([good, bad]) == {"avg_logprob": -1.5, "no_speech_prob": 0.7, "compression_ratio": 3.0}
    assert _evidence([]) == {}


@pytest.mark.shows("V10")
def test_the_same_features_are_encoded_once() -> None:
    asked: list[NDArray[np.float32]] = []

    def encode(features: NDArray[np.float32]) -> object:
        asked.append(features.copy())
        return len(asked)

    once = encoded_once(encode)
    first, second = np.zeros((80, 3000), np.float32), np.ones((80, 3000), np.float32)
    assert [once(first), once(first.copy()), once(second), once(second), once(first)] == [1, 1, 2, 2, 3]
    first += 1
    assert once(np.zeros((80, 3000), np.float32)) == 3


def recording(samples: Samples, file: Path) -> Path:
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(samples.tobytes())
    return file


@pytest.mark.shows("V1", "V6", "V9")
async def test_a_recording_becomes_its_sentences_in_order_at_their_times(
    recognizer: FasterWhisperRecognizer, tmp_path: Path
) -> None:
    spoken = [trimmed(said(sentence, "en-us", tmp_path)) for sentence in SENTENCES]
    pieces: list[Samples] = []
    begins: list[float] = []
    for samples in spoken:
        pieces.append(silence(1.5))
        begins.append(sum(map(len, pieces)) / SAMPLE_RATE)
        pieces.append(samples)
    source = RecordingSource(recording(np.concatenate(pieces), tmp_path / "day.wav"), fast=True)
    heard: list[Heard] = []

    async def keep(one: Heard) -> None:
        heard.append(one)

    listener = Listener(source, load_detector(), Endpointer(), recognizer, keep)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())

    rate = WordErrorRate()
    assert len(heard) == len(SENTENCES)
    for sentence, began, one, samples in zip(SENTENCES, begins, heard, spoken, strict=True):
        rate.add(sentence, one.transcript.text)
        started = one.utterance.started_at - source.started_at
        assert began - 0.1 < started < began + 0.3
        sound = np.abs(one.utterance.samples)
        assert np.flatnonzero(sound > sound.max() / 50)[0] / SAMPLE_RATE >= 0.2
        assert one.utterance.ended_at - source.started_at == pytest.approx(began + len(samples) / SAMPLE_RATE, abs=0.35)
    figure("the same from a WAV through the whole listener", str(rate))
    assert rate.rate < 0.05, rate
    assert listener.counters.suppressed == {}
