"""Silero's voice detector: the network in numpy where its package has it for 16 kHz alone, else on onnxruntime.

In numpy a chunk takes 0.4 of the time, and onnxruntime stays out of memory (docs/decisions/0145).
"""

import importlib.util
from collections.abc import Iterator, Mapping
from math import tanh
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from audio.errors import ModelNotFound
from audio.interfaces import VoiceDetector
from audio.onnx_file import read_weights
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, Samples, to_float

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Floats: TypeAlias = NDArray[np.float32]

CONTEXT_SAMPLES: Final = 64
"""Samples of the chunk before that the model wants in front (upstream `OnnxWrapper`); without it all is silence."""

WINDOW_SAMPLES: Final = CONTEXT_SAMPLES + CHUNK_SAMPLES

HIDDEN: Final = 128
"""Cells of the LSTM."""

_FOR_16_KHZ: Final = ("silero_vad", Path("data") / "silero_vad_16k_sequence.onnx")
_PACKAGED: Final = (
    _FOR_16_KHZ,
    ("silero_vad", Path("data") / "silero_vad.onnx"),
    ("faster_whisper", Path("assets") / "silero_vad_v6.onnx"),
)
"""Where installed packages keep the model, in the order to look. The second is the first beside one for 8 kHz; the
third disagrees with them on 6 % of chunks."""


_SHAPES: Final = {
    "stft.forward_basis_buffer": (258, 1, 256),
    **{
        f"encoder.{at}.weight": shape
        for at, shape in enumerate(((128, 129, 3), (64, 128, 3), (64, 64, 3), (128, 64, 3)))
    },
    **{f"encoder.{at}.bias": (channels,) for at, channels in enumerate((128, 64, 64, 128))},
    "onnx::LSTM_209": (1, 4 * HIDDEN, HIDDEN),
    "onnx::LSTM_210": (1, 4 * HIDDEN, HIDDEN),
    "onnx::LSTM_211": (1, 8 * HIDDEN),
    "output.weight": (1, HIDDEN, 1),
    "output.bias": (1,),
}
"""The weights of the network that is computed here, as silero-vad 6.2.3 names them; the three of the LSTM are those of
its input, of its state, and the biases of both."""


def has_silero() -> bool:
    """Say whether an installed package has the model. Loads nothing."""
    return any(True for _ in _files())


def load_silero() -> VoiceDetector:
    """Load the model from an installed package. Blocking (30 ms). Raises `ModelNotFound` when none has it."""
    for file in _files():
        return open_silero(file)
    raise ModelNotFound("the voice detector's model, of the extra local-whisper, is missing; run scripts/setup")


def open_silero(file: Path) -> VoiceDetector:
    """Return the model in a file: in numpy if it is the network known here, else on onnxruntime.

    Raises `ModelDamaged` for what is no model.
    """
    weights = read_weights(file) if file.name == _FOR_16_KHZ[1].name else {}
    is_known = all(name in weights and weights[name].shape == shape for name, shape in _SHAPES.items())
    return SileroNetwork(weights) if is_known else SileroSession(file)


class SileroNetwork(VoiceDetector):
    """The network in numpy: a spectrum, four convolutions in time, an LSTM.

    Its outputs are within 1e-5 of onnxruntime's. Not thread-safe.
    """

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        basis = weights["stft.forward_basis_buffer"][:, 0].T
        self._cosines, self._sines = (np.ascontiguousarray(half) for half in np.split(basis, 2, axis=1))
        (self._first, self._second, third, fourth), self._biases = _convolutions(weights)
        # What is left of a chunk there is two steps, then one: the taps that would see padding are left out.
        self._third, self._fourth = third[third.shape[0] // 3 :], np.split(fourth, 3)[1]
        recurrent = [weights[f"onnx::LSTM_{number}"][0] for number in (209, 210, 211)]
        self._of_input, self._of_hidden = (np.ascontiguousarray(matrix.T) for matrix in recurrent[:2])
        self._gate_bias = recurrent[2][: 4 * HIDDEN] + recurrent[2][4 * HIDDEN :]
        self._output, self._output_bias = weights["output.weight"].ravel(), float(weights["output.bias"][0])
        self._window = np.zeros(WINDOW_SAMPLES + CONTEXT_SAMPLES, np.float32)
        """The last samples of the chunk before, the chunk, and the chunk's end mirrored."""
        self._spectrum = np.zeros((6, len(basis) // 2 + 1), np.float32)
        """A row each 128 samples, one of padding before and after."""
        self._steps = np.zeros((6, self._first.shape[1]), np.float32)
        self._frames = _overlapping(self._window, rows=4, width=256, every=128)
        self._spectrum_taps = _taps(self._spectrum, rows=4, every=1)
        self._step_taps = _taps(self._steps, rows=2, every=2)
        self.reset()

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in [0, 1] for 512 samples. Raises ValueError for another number."""
        _slide(self._window, samples)
        self._window[WINDOW_SAMPLES:] = self._window[WINDOW_SAMPLES - 2 : CHUNK_SAMPLES - 2 : -1]
        real, imaginary = self._frames @ self._cosines, self._frames @ self._sines
        np.sqrt(real * real + imaginary * imaginary, out=self._spectrum[1:5])
        first, second, third, fourth = self._biases
        np.maximum(self._spectrum_taps @ self._first + first, 0.0, out=self._steps[1:5])
        halved = np.maximum(self._step_taps @ self._second + second, 0.0).ravel()
        quartered = np.maximum(halved @ self._third + third, 0.0)
        return self._recur(np.maximum(quartered @ self._fourth + fourth, 0.0))

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return what the model remembers: the last window, and `h` and `c`."""
        hidden, cells = self._hidden.reshape(1, 1, -1), self._cells.reshape(1, 1, -1)
        return {"window": self._window[None, :WINDOW_SAMPLES].copy(), "h": hidden, "c": cells}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of the same model, in either shape. Raises KeyError for another's."""
        told = _both_shapes(state)
        self._window[:WINDOW_SAMPLES] = np.asarray(told["window"], np.float32)[0]
        self._hidden, self._cells = (np.asarray(told[name], np.float32).ravel() for name in ("h", "c"))

    def reset(self) -> None:
        """Forget what was heard."""
        self._window[:] = 0.0
        self._hidden, self._cells = np.zeros(HIDDEN, np.float32), np.zeros(HIDDEN, np.float32)

    def _recur(self, features: Floats) -> float:
        """Take a step of the LSTM (gates in ONNX's order: input, output, forget, cell); return the probability."""
        gates = features @ self._of_input + self._hidden @ self._of_hidden + self._gate_bias
        # The logistic function by tanh: without an overflow whatever the values are.
        entry, out, forget = (0.5 + 0.5 * np.tanh(0.5 * gates[: 3 * HIDDEN])).reshape(3, HIDDEN)
        self._cells = forget * self._cells + entry * np.tanh(gates[3 * HIDDEN :])
        self._hidden = out * np.tanh(self._cells)
        logit = float(np.maximum(self._hidden, 0.0) @ self._output) + self._output_bias
        return 0.5 + 0.5 * tanh(0.5 * logit)


class SileroSession(VoiceDetector):
    """The model on onnxruntime. It comes in two shapes: one `state`, or the two halves `h` and `c` of an LSTM."""

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
        _slide(self._window[0], samples)
        outputs = self._session.run(None, self._inputs)
        self._inputs |= dict(zip(self._states, outputs[1:], strict=True))
        return float(outputs[0].item())

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return what the model remembers: the last window, and `state` or its halves `h`, `c`."""
        return {"window": self._window.copy(), **{name: self._inputs[name] for name in self._states}}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of the same model, in either shape. Raises KeyError for another's."""
        told = _both_shapes(state)
        self._window[:] = np.asarray(told["window"], np.float32)
        self._inputs |= {name: np.asarray(told[name], np.float32) for name in self._states}

    def reset(self) -> None:
        """Forget what was heard."""
        self._window: Floats = np.zeros((1, WINDOW_SAMPLES), np.float32)
        self._inputs: dict[str, Floats | NDArray[np.int64]] = {"input": self._window}
        if self._states == ["state"]:
            self._inputs |= {"state": np.zeros((2, 1, HIDDEN), np.float32), "sr": np.array(SAMPLE_RATE, np.int64)}
        else:
            self._inputs |= {name: np.zeros((1, 1, HIDDEN), np.float32) for name in self._states}


def _slide(window: Floats, samples: Samples) -> None:
    """Put a chunk into a window, the end of the chunk before it in front. Raises ValueError for another length."""
    if len(samples) != CHUNK_SAMPLES:
        raise ValueError(f"the detector takes {CHUNK_SAMPLES} samples at a time, not {len(samples)}")
    window[:CONTEXT_SAMPLES] = window[CHUNK_SAMPLES:WINDOW_SAMPLES]
    window[CONTEXT_SAMPLES:WINDOW_SAMPLES] = to_float(samples)


def _convolutions(weights: Mapping[str, Floats]) -> tuple[list[Floats], list[Floats]]:
    """Return the four matrices, shape (3 taps x channels in, channels out), and their biases."""
    kernels = [weights[f"encoder.{number}.weight"] for number in range(4)]
    matrices = [np.ascontiguousarray(each.transpose(2, 1, 0).reshape(-1, each.shape[0])) for each in kernels]
    return matrices, [weights[f"encoder.{number}.bias"] for number in range(4)]


def _taps(steps: Floats, *, rows: int, every: int) -> Floats:
    """Return three rows of `steps` side by side for each row of the next layer: a view."""
    width = steps.shape[1]
    return _overlapping(steps.ravel(), rows=rows, width=3 * width, every=every * width)


def _overlapping(values: Floats, *, rows: int, width: int, every: int) -> Floats:
    """Return a view of `rows` stretches of `width` values, one beginning `every` so many."""
    return as_strided(values, (rows, width), (every * values.itemsize, values.itemsize), writeable=False)


def _both_shapes(state: "Mapping[str, ArrayLike]") -> "Mapping[str, ArrayLike]":
    """Return a state with both its halves `h` and `c` and the `state` that holds them, whichever it came with."""
    if "state" in state:
        return {**state, **dict(zip(("h", "c"), np.split(np.asarray(state["state"]), 2), strict=True))}
    return {**state, "state": np.concatenate([np.asarray(state["h"]), np.asarray(state["c"])])}


def _files() -> Iterator[Path]:
    """Yield where the model is, the one to be taken first."""
    for package, inside in _PACKAGED:
        file = _folder_of(package) / inside
        if file.is_file():
            yield file


def _folder_of(package: str) -> Path:
    """Return a package's folder without importing it: silero_vad's import wants torch."""
    spec = importlib.util.find_spec(package)
    locations = spec.submodule_search_locations if spec else None
    return Path(locations[0]) if locations else Path("missing")
