"""The real voice detector, in both shapes of its model, on speech, noise and silence."""

import importlib.util
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, Samples
from audio.turns.vad import SileroDetector, load_detector
from tests.audio.spoken import debian_clips, go_forward, said, silence, trimmed

SPEECH = 0.5


def model_file(package: str, inside: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / inside


@pytest.fixture(
    params=[
        pytest.param(
            ("silero_vad", "data/silero_vad.onnx"),
            marks=pytest.mark.skipif(
                importlib.util.find_spec("silero_vad") is None, reason="the extra silero-vad is not installed"
            ),
        ),
        ("faster_whisper", "assets/silero_vad_v6.onnx"),
    ],
    ids=["silero_vad", "faster_whisper"],
)
def detector(request: pytest.FixtureRequest) -> SileroDetector:
    return SileroDetector(model_file(*request.param))


def probabilities(detector: SileroDetector, samples: Samples) -> list[float]:
    detector.reset()
    chunks = range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES)
    return [detector.probability(samples[at : at + CHUNK_SAMPLES]) for at in chunks]


@pytest.mark.shows("V5")
def test_human_speech_is_found(detector: SileroDetector) -> None:
    clips = [*debian_clips("cards"), *debian_clips("librivox"), go_forward()]
    assert len(clips) == 11
    for clip in clips:
        found = probabilities(detector, clip.samples)
        longest = max(len(run) for run in "".join("#" if p >= SPEECH else "." for p in found).split("."))
        assert longest * CHUNK_SECONDS > 0.2, clip.name


@pytest.mark.shows("V5", "V11")
def test_noise_and_silence_are_no_speech(detector: SileroDetector) -> None:
    noise = np.random.default_rng(0).normal(0, 1, 16000 * 10)
    alarms = 0
    for level in (0, 30, 300, 3000):
        found = probabilities(detector, (noise * level).astype(np.int16))
        alarms += sum(p >= SPEECH for p in found)
    assert alarms <= 3


@pytest.mark.shows("V5")
def test_where_speech_is_and_is_not(detector: SileroDetector, tmp_path: Path) -> None:
    speech = trimmed(said("what time is it", "slt", tmp_path))
    found = np.array(probabilities(detector, np.concatenate([silence(2.0), speech, silence(2.0)])))
    begins, ends = int(2.0 / CHUNK_SECONDS), int((2.0 + len(speech) / 16000) / CHUNK_SECONDS)
    assert (found[begins:ends] >= SPEECH).mean() > 0.7
    assert found[: begins - 1].max() < SPEECH
    assert found[ends + 8 :].max() < SPEECH


def test_a_reset_forgets_everything(detector: SileroDetector, tmp_path: Path) -> None:
    speech = said("hello", "slt", tmp_path)
    assert probabilities(detector, speech) == probabilities(detector, speech)


def test_another_number_of_samples_is_refused(detector: SileroDetector) -> None:
    with pytest.raises(ValueError, match="512 samples at a time, not 480"):
        detector.probability(silence(0.03))


@pytest.mark.shows("V5", "H9")
def test_a_chunk_costs_less_than_a_tenth_of_real_time(detector: SileroDetector) -> None:
    sound = np.random.default_rng(1).normal(0, 500, CHUNK_SAMPLES * 100).astype(np.int16)
    probabilities(detector, sound)
    began = time.process_time()
    probabilities(detector, sound)
    assert (time.process_time() - began) / 100 < CHUNK_SECONDS / 10


@pytest.mark.shows("V5", "H11")
def test_the_detector_comes_without_torch() -> None:
    check = (
        "import sys; from audio.turns.vad import load_detector; import numpy; "
        "assert load_detector().probability(numpy.zeros(512, numpy.int16)) < 0.5; "
        "print(sorted({'torch', 'silero_vad', 'faster_whisper', 'ctranslate2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_installed_model_is_found() -> None:
    assert load_detector().probability(silence(CHUNK_SECONDS)) < SPEECH
