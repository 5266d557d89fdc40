"""How much of Whisper's window of 30 s is encoded: all of it, or the utterance and a margin."""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Features: TypeAlias = NDArray[np.float32]
"""The log-mel spectrogram, shape (bands, frames) or (1, bands, frames)."""

StorageView: TypeAlias = object
"""CTranslate2's handle on what the encoder made."""

Encode: TypeAlias = Callable[[Features], StorageView]

FRAME_SAMPLES: Final = 160
"""A frame is 10 ms (upstream `hop_length`)."""

WHOLE: Final = 3000
"""Frames that Whisper was trained on, and upstream always pads to."""

MARGIN: Final = 100
"""Frames of silence behind the utterance: cut closer, models repeat themselves and invent."""


def short_window(samples: int) -> int:
    """Return the frames for an utterance of so many samples at 16 kHz, even and at most `WHOLE`."""
    frames = -(-samples // FRAME_SAMPLES) + MARGIN
    return min(WHOLE, frames + frames % 2)


class Window:
    """Stands before an encoder that upstream always gives the whole window, and cuts what it gets."""

    def __init__(self, encode: Encode) -> None:
        self.encoder = encode
        self.cut_to(WHOLE)

    def cut_to(self, frames: int) -> None:
        """Encode so many frames from now on; what was encoded before is forgotten."""
        self._frames = frames
        self._encode = encoded_once(self.encoder)

    def __call__(self, features: Features) -> StorageView:
        """Return what the encoder makes of the first frames."""
        return self._encode(np.ascontiguousarray(features[..., : self._frames]))


def encoded_once(encode: Encode) -> Encode:
    """Return `encode` that keeps its last answer, and gives it for the same features again.

    Upstream encodes once to detect the language and once to decode, and that is most of the cost of an utterance.
    """
    last: list[tuple[Features, StorageView]] = []

    def encode_once(features: Features) -> StorageView:
        if not last or not np.array_equal(last[0][0], features):
            last[:] = [(features.copy(), encode(features))]
        return last[0][1]

    return encode_once
