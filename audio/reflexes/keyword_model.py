"""A small network that tells reflex words said alone: log-mel bands, convolutions over time, numpy only."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples, to_float

MODEL: Final = Path(__file__).with_name("keyword_model.npz")
"""Made by benchmarks/keywords/train.py; its note is docs/decisions/0064."""

BANDS: Final = 40
FRAME_SAMPLES: Final = 400
"""25 ms."""
STEP_SAMPLES: Final = 160
"""10 ms."""
WINDOW_FRAMES: Final = 144
"""1.44 s: what the network sees."""
BEFORE_FRAMES: Final = 32
"""Of them before the speech began: 0.32 s, the stretch's pre-roll."""
RANGE_DB: Final = 60.0
"""What is so much below the loudest counts as silence: level and gain make no difference."""


def bands(samples: Samples) -> NDArray[np.float32]:
    """Return the log-mel bands (frames, 40) of a sound (int16, 16 kHz): 0 is 60 dB below the loudest, 1 the loudest."""
    sound = to_float(samples)
    if len(sound) < FRAME_SAMPLES:
        sound = np.pad(sound, (0, FRAME_SAMPLES - len(sound)))
    sound = np.append(sound[0], sound[1:] - np.float32(0.9) * sound[:-1])
    frames = np.lib.stride_tricks.sliding_window_view(sound, FRAME_SAMPLES)[::STEP_SAMPLES]
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME_SAMPLES).astype(np.float32), 512)) ** 2
    levels = 10 * np.log10(power @ _filters() + 1e-12)
    loudest = np.sort(levels, axis=None)[-max(1, levels.size // 200)]
    return np.asarray(np.clip((levels - loudest) / RANGE_DB + 1, 0, 1.2), np.float32)


def window(sound: NDArray[np.float32], first: float) -> NDArray[np.float32]:
    """Return the 144 bands' frames around the beginning of the speech (`first`: seconds), 0 where there is no sound."""
    start = round(first * SAMPLE_RATE / STEP_SAMPLES) - BEFORE_FRAMES
    padded = np.pad(sound, ((max(0, -start), WINDOW_FRAMES), (0, 0)))
    return padded[max(0, start) :][:WINDOW_FRAMES]


@cache
def _filters() -> NDArray[np.float32]:
    """Return triangles (257, 40), equally wide in mel from 80 to 7600 Hz."""
    mel = np.linspace(1127 * np.log1p(80 / 700), 1127 * np.log1p(7600 / 700), BANDS + 2)
    edges = 700 * np.expm1(mel / 1127)
    bins = np.arange(257) * SAMPLE_RATE / 512
    rising = (bins[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins[:, None]) / (edges[2:] - edges[1:-1])
    return np.asarray(np.maximum(0, np.minimum(rising, falling)), np.float32)


class KeywordModel:
    """The network, loaded: 2 ms for a word on one core. Any thread; nothing is kept from one sound to the next."""

    def __init__(self, file: Path = MODEL) -> None:
        """Read the weights. Raises OSError or ValueError for a file that is none."""
        with np.load(file, allow_pickle=False) as stored:
            self.words = tuple(str(word) for word in stored["words"])
            """What is told apart; the first is none of the others."""
            self._shapes = [(int(width), int(step), int(apart)) for width, step, apart in stored["shapes"]]
            self._layers = [
                (
                    stored[f"weights_{number}"].astype(np.float32) * stored[f"scales_{number}"],
                    stored[f"offsets_{number}"],
                )
                for number in range(len(self._shapes) + 2)
            ]

    def probabilities(self, samples: Samples, first: float) -> Mapping[str, float]:
        """Return how likely each word is all that is said (int16, 16 kHz; speech begins `first` seconds into it)."""
        seen = window(bands(samples), first)
        sound = np.float32(0.5) * (seen[0::2] + seen[1::2])
        for (width, step, apart), (weights, offsets) in zip(self._shapes, self._layers, strict=False):
            made = np.maximum(0, _columns(sound, width, step, apart) @ weights + offsets)
            sound = sound + made if made.shape == sound.shape else made
        (hidden, hidden_offsets), (last, last_offsets) = self._layers[-2:]
        pooled = np.maximum(0, np.concatenate([sound.mean(0), sound.max(0)]) @ hidden + hidden_offsets)
        scores = pooled @ last + last_offsets
        likely = np.exp(scores - scores.max())
        return dict(zip(self.words, (likely / likely.sum()).tolist(), strict=True))


def _columns(sound: NDArray[np.float32], width: int, step: int, apart: int) -> NDArray[np.float32]:
    """Return for each place (every `step` frames) the `width` frames around it, `apart` from each other, in a row."""
    around = apart * (width - 1) // 2
    places = -(-len(sound) // step)
    padded = np.pad(sound, ((around, around + step), (0, 0)))
    return np.concatenate([padded[at * apart :][: (places - 1) * step + 1 : step] for at in range(width)], axis=1)
