"""The voice detector against upstream's way of asking its model, and on labelled clips: what it finds, and invents."""

from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, Samples
from audio.turns.silero import open_silero
from tests.audio.spoken import go_forward, said, silence
from tests.audio.turns.test_silero import MODELS, SPEECH, model_file, probabilities
from tests.audio.turns.test_vad import NOISES, mixed
from tests.figures import figure
from tests.sample import sample

CONTEXT = 64
"""Samples of the chunk before that upstream's `OnnxWrapper` puts in front of each 512 at 16 kHz; zeros at the start."""

BOX = ("faster_whisper", "assets/silero_vad_v6.onnx")
"""The model that every box has."""

SNR_DB = 10.0

LOUD_DB = 25.0
"""A chunk so little below its clip's loudest is labelled speech; one in a gap between the clips is labelled none."""

LINGERS = 10
"""Chunks after a clip without a label: the detector may hold on for a third of a second."""


def as_upstream(file: Path, samples: Samples) -> list[float]:
    """Return the probabilities as upstream's wrapper asks for them, a tensor made anew for each chunk."""
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    wave = np.concatenate([np.zeros(CONTEXT, np.float32), samples.astype(np.float32) / 32768])
    names = {each.name for each in session.get_inputs()}
    state = {name: np.zeros((1, 1, 128), np.float32) for name in ("h", "c")}
    rate = {}
    if "state" in names:
        state, rate = {"state": np.zeros((2, 1, 128), np.float32)}, {"sr": np.array(SAMPLE_RATE, np.int64)}
    found = []
    for start in range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES):
        window = wave[None, start : start + CONTEXT + CHUNK_SAMPLES]
        first, *rest = session.run(None, {"input": window, **state, **rate})
        state = dict(zip(state, rest, strict=True))
        found.append(float(first.item()))
    return found


@pytest.mark.shows("V5")
@pytest.mark.parametrize("model", MODELS)
def test_each_chunk_comes_with_the_64_samples_before_it(model: tuple[str, str], tmp_path: Path) -> None:
    file = model_file(*model)
    samples = np.concatenate([silence(0.5), said("what time is it", "slt", tmp_path), go_forward().samples])
    found = probabilities(open_silero(file), samples)
    assert max(found) > SPEECH
    assert found == pytest.approx(as_upstream(file, samples), abs=1e-4)


@pytest.mark.shows("V5")
def test_recall_and_false_alarms_on_labelled_clips(every_step: bool) -> None:
    for name in sample(["white noise", "pink noise", "music"], 2, whole=every_step):
        hears_and_invents_little_in(name)


def hears_and_invents_little_in(name: str) -> None:
    sound, marks = mixed(NOISES[name], SNR_DB)
    speech, none = labels()
    found = np.array(probabilities(open_silero(model_file(*BOX)), sound)) >= SPEECH
    recall, alarms = float(found[speech].mean()), int(found[none].sum())
    figure(
        f"voice detector, {len(marks)} clips in {name} at {SNR_DB:.0f} dB",
        f"finds {recall:.1%} of {speech.sum()} chunks of speech, invents {alarms} of {none.sum()}",
    )
    assert min(speech.sum(), none.sum()) > 400
    assert recall > 0.85
    assert alarms <= 0.005 * none.sum()


@cache
def labels() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each chunk whether it is speech, and whether it surely is none, by the clips without any noise."""
    clean, marks = mixed(NOISES["white noise"], 200.0)
    chunks = clean[: len(clean) // CHUNK_SAMPLES * CHUNK_SAMPLES].reshape(-1, CHUNK_SAMPLES).astype(np.float64)
    level = np.sqrt(np.mean(chunks**2, axis=1))
    speech, none = np.zeros(len(chunks), bool), np.ones(len(chunks), bool)
    for begins, ends in marks:
        first, last = int(begins * SAMPLE_RATE / CHUNK_SAMPLES), int(ends * SAMPLE_RATE / CHUNK_SAMPLES)
        speech[first:last] = level[first:last] > level[first:last].max() / 10 ** (LOUD_DB / 20)
        none[max(0, first - 1) : last + LINGERS] = False
    return speech, none
