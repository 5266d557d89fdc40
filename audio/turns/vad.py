"""Voice activity: Silero on onnxruntime, one thread, no torch."""

import importlib.util
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.errors import ModelNotFound
from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, Samples, to_float
from audio.turns.energy_gate import EnergyGate

CONTEXT_SAMPLES: Final = 64
"""Samples of the chunk before that the model wants in front (upstream `OnnxWrapper`); without it all is silence."""

_PACKAGED: Final = (
    ("silero_vad", Path("data") / "silero_vad.onnx"),
    ("faster_whisper", Path("assets") / "silero_vad_v6.onnx"),
)
"""Where installed packages keep the model, in the order to look; the two disagree on 6 % of chunks."""


def load_detector() -> VoiceDetector:
    """Return what the ears listen with: Silero behind the energy gate. Raises `ModelNotFound` as `load_silero`."""
    return EnergyGate(load_silero())


def load_silero() -> "SileroDetector":
    """Load the model from an installed package. Blocking (30 ms). Raises `ModelNotFound` when neither has it."""
    for package, inside in _PACKAGED:
        file = _folder_of(package) / inside
        if file.is_file():
            return SileroDetector(file)
    raise ModelNotFound("the voice detector's model is missing; install nakari again with scripts/setup")


class SileroDetector:
    """The model with its state. It comes in two shapes: one `state`, or the two halves `h` and `c` of an LSTM."""

    def __init__(self, file: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self._states = [each.name for each in self._session.get_inputs() if each.name in {"state", "h", "c"}]
        self.reset()

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in [0, 1] for 512 samples. Raises ValueError for another number."""
        if len(samples) != CHUNK_SAMPLES:
            raise ValueError(f"the detector takes {CHUNK_SAMPLES} samples at a time, not {len(samples)}")
        self._window[0, :CONTEXT_SAMPLES] = self._window[0, -CONTEXT_SAMPLES:]
        self._window[0, CONTEXT_SAMPLES:] = to_float(samples)
        outputs = self._session.run(None, self._inputs)
        self._inputs |= dict(zip(self._states, outputs[1:], strict=True))
        return float(outputs[0].item())

    def reset(self) -> None:
        """Forget what was heard."""
        self._window: NDArray[np.float32] = np.zeros((1, CONTEXT_SAMPLES + CHUNK_SAMPLES), np.float32)
        self._inputs: dict[str, NDArray[np.float32] | NDArray[np.int64]] = {"input": self._window}
        if self._states == ["state"]:
            self._inputs |= {"state": np.zeros((2, 1, 128), np.float32), "sr": np.array(SAMPLE_RATE, np.int64)}
        else:
            self._inputs |= {name: np.zeros((1, 1, 128), np.float32) for name in self._states}


def _folder_of(package: str) -> Path:
    """Return a package's folder without importing it: silero_vad's import wants torch."""
    spec = importlib.util.find_spec(package)
    locations = spec.submodule_search_locations if spec else None
    return Path(locations[0]) if locations else Path("missing")
