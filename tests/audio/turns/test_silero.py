"""The real voice detector on speech, noise and silence: its files, and the network in numpy beside onnxruntime."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audio.errors import ModelDamaged
from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, Samples
from audio.turns.silero import SileroNetwork, SileroSession, open_silero
from audio.turns.vad import load_detector
from tests.audio.spoken import debian_clips, go_forward, said, silence, trimmed

SPEECH = 0.5


def model_file(package: str, inside: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / inside


WITH_SILERO = pytest.mark.skipif(
    importlib.util.find_spec("silero_vad") is None, reason="the extra silero-vad is not installed"
)

ALONE = ("silero_vad", "data/silero_vad_16k_sequence.onnx")
BESIDE_8_KHZ = ("silero_vad", "data/silero_vad.onnx")

MODELS = [
    pytest.param(ALONE, marks=WITH_SILERO, id="silero_vad"),
    pytest.param(BESIDE_8_KHZ, marks=WITH_SILERO, id="silero_vad with 8 kHz"),
    pytest.param(("faster_whisper", "assets/silero_vad_v6.onnx"), id="faster_whisper"),
]


@pytest.fixture(params=MODELS)
def detector(request: pytest.FixtureRequest) -> VoiceDetector:
    return open_silero(model_file(*request.param))


def probabilities(detector: VoiceDetector, samples: Samples) -> list[float]:
    detector.reset()
    chunks = range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES)
    return [detector.probability(samples[at : at + CHUNK_SAMPLES]) for at in chunks]


@pytest.mark.shows("V5")
def test_human_speech_is_found(detector: VoiceDetector) -> None:
    clips = [*debian_clips("cards"), *debian_clips("librivox"), go_forward()]
    assert len(clips) == 11
    for clip in clips:
        found = probabilities(detector, clip.samples)
        longest = max(len(run) for run in "".join("#" if p >= SPEECH else "." for p in found).split("."))
        assert longest * CHUNK_SECONDS > 0.2, clip.name


@pytest.mark.shows("V5", "V11")
def test_noise_and_silence_are_no_speech(detector: VoiceDetector) -> None:
    noise = np.random.default_rng(0).normal(0, 1, 16000 * 10)
    alarms = 0
    for level in (0, 30, 300, 3000):
        found = probabilities(detector, (noise * level).astype(np.int16))
        alarms += sum(p >= SPEECH for p in found)
    assert alarms <= 3


@pytest.mark.shows("V5")
def test_where_speech_is_and_is_not(detector: VoiceDetector, tmp_path: Path) -> None:
    speech = trimmed(said("what time is it", "slt", tmp_path))
    found = np.array(probabilities(detector, np.concatenate([silence(2.0), speech, silence(2.0)])))
    begins, ends = int(2.0 / CHUNK_SECONDS), int((2.0 + len(speech) / 16000) / CHUNK_SECONDS)
    assert (found[begins:ends] >= SPEECH).mean() > 0.7
    assert found[: begins - 1].max() < SPEECH
    assert found[ends + 8 :].max() < SPEECH


@WITH_SILERO
@pytest.mark.shows("V5")
def test_the_network_in_numpy_is_the_one_on_onnxruntime(tmp_path: Path) -> None:
    noise = (np.random.default_rng(3).normal(0, 9000, 16000 * 4)).clip(-32768, 32767).astype(np.int16)
    people = [clip.samples for clip in (*debian_clips("cards"), *debian_clips("librivox"), go_forward())]
    sound = np.concatenate([*people, said("what time is it", "slt", tmp_path), noise, silence(2.0)])
    network = open_silero(model_file(*ALONE))
    assert isinstance(network, SileroNetwork)
    ours = probabilities(network, sound)
    assert len(ours) > 1000
    assert max(ours) > 0.99
    for file in (ALONE, BESIDE_8_KHZ):
        assert ours == pytest.approx(probabilities(SileroSession(model_file(*file)), sound), abs=1e-5)


@WITH_SILERO
@pytest.mark.parametrize("later", [ALONE, BESIDE_8_KHZ])
@pytest.mark.parametrize("first", [ALONE, BESIDE_8_KHZ])
def test_what_one_file_remembers_the_other_goes_on_from(
    first: tuple[str, str], later: tuple[str, str], tmp_path: Path
) -> None:
    speech = said("what time is it", "slt", tmp_path)
    half = len(speech) // CHUNK_SAMPLES // 2 * CHUNK_SAMPLES
    before, after = open_silero(model_file(*first)), open_silero(model_file(*later))
    whole = probabilities(after, speech)
    probabilities(before, speech[:half])
    remembered = before.state()
    before.probability(speech[half : half + CHUNK_SAMPLES])
    after.recall(remembered)
    chunks = range(half, len(speech) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES)
    heard = [after.probability(speech[at : at + CHUNK_SAMPLES]) for at in chunks]
    assert heard == pytest.approx(whole[half // CHUNK_SAMPLES :], abs=1e-5)


@WITH_SILERO
@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_damaged_file_is_named(share: float, tmp_path: Path) -> None:
    whole = model_file(*ALONE).read_bytes()
    torn = tmp_path / "silero_vad_16k_sequence.onnx"
    torn.write_bytes(whole[: int(len(whole) * share)] or b"\xff not a model")
    with pytest.raises(ModelDamaged, match=r"silero_vad_16k_sequence\.onnx is damaged; run scripts/setup"):
        open_silero(torn)


@pytest.mark.shows("V5")
def test_a_later_network_under_the_same_name_is_left_to_onnxruntime(tmp_path: Path) -> None:
    other = tmp_path / "silero_vad_16k_sequence.onnx"
    other.write_bytes(model_file("faster_whisper", "assets/silero_vad_v6.onnx").read_bytes())
    assert isinstance(open_silero(other), SileroSession)


def test_a_reset_forgets_everything(detector: VoiceDetector, tmp_path: Path) -> None:
    speech = said("hello", "slt", tmp_path)
    assert probabilities(detector, speech) == probabilities(detector, speech)


def test_another_number_of_samples_is_refused(detector: VoiceDetector) -> None:
    with pytest.raises(ValueError, match="512 samples at a time, not 480"):
        detector.probability(silence(0.03))


@pytest.mark.shows("V5", "H11")
def test_the_detector_comes_without_torch() -> None:
    loaded = {"torch", "silero_vad", "faster_whisper", "ctranslate2"}
    if importlib.util.find_spec("silero_vad"):
        loaded.add("onnxruntime")
    check = (
        "import sys; from audio.turns.vad import load_detector; import numpy; "
        "assert load_detector().probability(numpy.zeros(512, numpy.int16)) < 0.5; "
        f"print(sorted({loaded!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_installed_model_is_found() -> None:
    assert load_detector().probability(silence(CHUNK_SECONDS)) < SPEECH
