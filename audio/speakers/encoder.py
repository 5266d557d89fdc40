"""The network that turns a voice into a vector: mel bands in numpy, three LSTMs on onnxruntime."""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL: Final = Path(__file__).with_name("speaker_encoder.onnx")
"""Resemblyzer's encoder (Resemble AI, Apache-2.0), as benchmarks/speakers/convert.py made it; docs/decisions/0127."""

Vector: TypeAlias = NDArray[np.float32]
"""float32, shape (256,), of length 1 and without negative values."""

BANDS: Final = 40
FRAME_SAMPLES: Final = 400
"""25 ms."""
STEP_SAMPLES: Final = 160
"""10 ms."""
WINDOW_FRAMES: Final = 160
"""1.6 s: what the network was trained on, and looks at in one piece."""
LEVEL_DBFS: Final = -30.0
"""The level at which it was trained; its bands are powers, not logarithms, so that the level counts."""

_BLOCK: Final = 480
"""Samples that are kept or cut together: 30 ms."""
_QUIET_DB: Final = 30.0
"""Below the loudest blocks by so much is silence between words."""
_ABOVE_NOISE_DB: Final = 3.0
"""Nor is what hardly rises above the room."""


class SpeakerEncoder:
    """Turns speech into vectors. Safe from several threads, of which each waits for the one before."""

    def __init__(self, file: Path = MODEL) -> None:
        self.file = file
        self._session: InferenceSession | None = None
        self._one = Lock()

    @property
    def is_there(self) -> bool:
        """Whether the weights are on this machine."""
        return self.file.is_file()

    def vectors(self, speech: NDArray[np.float32]) -> list[Vector]:
        """Return the vector of each stretch of what `speech_of` returned; of one shorter than a window a single one.

        The stretches are 1.6 s long, half of one lies over the next. Blocking, some 20 ms a second of speech. Raises
        what onnxruntime raises for a damaged file.
        """
        frames = mel_bands(speech)
        count = max(1, round((len(frames) - WINDOW_FRAMES) / (WINDOW_FRAMES / 2)) + 1)
        starts = np.linspace(0, max(0, len(frames) - WINDOW_FRAMES), count).round().astype(int)
        windows = np.stack([frames[start : start + WINDOW_FRAMES] for start in starts])
        with self._one:
            (raw,) = self._loaded().run(None, {"mels": windows})
        return [unit(each) for each in np.asarray(raw, np.float32)]

    def _loaded(self) -> "InferenceSession":
        if self._session is None:
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.inter_op_num_threads = options.intra_op_num_threads = 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self._session = onnxruntime.InferenceSession(str(self.file), options, providers=["CPUExecutionProvider"])
        return self._session


def unit(vector: NDArray[np.floating]) -> Vector:
    """Return the vector at length 1; zeros stay zeros."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)


def speech_of(samples: Samples, noise_dbfs: float = -120.0) -> NDArray[np.float32]:
    """Return the speech without its silences, at the level of the training: float32, shape (n,).

    `samples` are int16, shape (m,), 16 kHz; `noise_dbfs` is the level of the background.
    """
    blocks = samples[: len(samples) // _BLOCK * _BLOCK].reshape(-1, _BLOCK).astype(np.float32) / 32768.0
    if not len(blocks):
        return np.zeros(0, np.float32)
    level = 10.0 * np.log10(np.mean(blocks**2, axis=1) + 1e-12)
    loud = float(np.percentile(level, 95))
    is_speech = level > max(loud - _QUIET_DB, min(noise_dbfs + _ABOVE_NOISE_DB, loud - 6.0))
    # a consonant beside a vowel belongs to it
    kept = blocks[np.convolve(is_speech, np.ones(5), "same") > 0].ravel()
    power = float(np.mean(kept**2)) if len(kept) else 0.0
    return kept * np.float32(10 ** (LEVEL_DBFS / 20) / np.sqrt(power)) if power > 0 else kept[:0]


def mel_bands(speech: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the power in 40 mel bands, as librosa's `melspectrogram` does: float32, (frames, 40), 10 ms a frame."""
    padded = np.pad(speech, FRAME_SAMPLES // 2)
    frames = sliding_window_view(padded, FRAME_SAMPLES)[::STEP_SAMPLES]
    spectrum = np.fft.rfft(frames * _window())
    return np.asarray((spectrum.real**2 + spectrum.imag**2) @ _filters(), np.float32)


@cache
def _window() -> NDArray[np.float32]:
    """Return the periodic Hann window."""
    return np.hanning(FRAME_SAMPLES + 1)[:-1].astype(np.float32)


@cache
def _filters() -> NDArray[np.float32]:
    """Return Slaney's triangular mel filters, each of area one: (201, 40)."""
    top = _mel(np.array([SAMPLE_RATE / 2]))[0]
    edges = _hertz(np.linspace(0.0, top, BANDS + 2))
    lines = np.fft.rfftfreq(FRAME_SAMPLES, 1 / SAMPLE_RATE)[:, None]
    rise = (lines - edges[:-2]) / np.diff(edges)[:-1]
    fall = (edges[2:] - lines) / np.diff(edges)[1:]
    return (np.maximum(0, np.minimum(rise, fall)) * 2 / (edges[2:] - edges[:-2])).astype(np.float32)


_LINEAR_TO: Final = 1000.0
_STEP_HZ: Final = 200.0 / 3
_LOG_STEP: Final = np.log(6.4) / 27.0
"""Slaney's scale: linear to 1 kHz, then logarithmic (Auditory Toolbox, 1998)."""


def _mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    above = _LINEAR_TO / _STEP_HZ + np.log(np.maximum(hertz, 1.0) / _LINEAR_TO) / _LOG_STEP
    return np.where(hertz < _LINEAR_TO, hertz / _STEP_HZ, above)


def _hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    edge = _LINEAR_TO / _STEP_HZ
    return np.where(mel < edge, mel * _STEP_HZ, _LINEAR_TO * np.exp(_LOG_STEP * (mel - edge)))
