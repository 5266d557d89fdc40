"""Echo cancellation by WebRTC's audio processing module, from livekit's wheel, on frames of exactly 10 ms."""

import importlib.util
from typing import Final, Protocol

import numpy as np

from audio.pcm import SAMPLE_RATE, Samples

FRAME_SAMPLES: Final = SAMPLE_RATE // 100
"""10 ms: the module ends the whole process when it is given another length (FACTS, "Sound")."""

CANCELLER_SAMPLES: Final = 128
"""By which what comes out is behind what went in (8 ms): measured by correlation, livekit 1.2.1 at 16 kHz."""


class Canceller(Protocol):
    """Takes the echo of one sound out of another. Keeps state; one thread; frames in order."""

    def cancel(self, near: Samples, far: Samples) -> Samples:
        """Return `near` without the echo of `far`, `CANCELLER_SAMPLES` later.

        Both int16, shape (160,), 16 kHz; `far` leaves the loudspeaker at most half a second before it is in `near`, and
        never after. Raises ValueError for another length.
        """

    def begin_anew(self, delay: float) -> None:
        """Forget what was learned: from now on `near` is so many seconds behind `far`, as far as is known."""


def has_canceller() -> bool:
    """Whether livekit is installed; looks without importing it (0.4 s, 17 MB)."""
    return importlib.util.find_spec("livekit") is not None


class WebRtcCanceller:
    """livekit's `AudioProcessingModule`: cancellation only.

    Noise suppression and gain control stay off: the voice detector's and the recognizer's thresholds are those of plain
    sound. Blocking import in the constructor (0.4 s). Raises ImportError when livekit, or its library, is missing.
    """

    def __init__(self) -> None:
        from livekit import rtc

        self._frame = rtc.AudioFrame
        self._new_module = rtc.AudioProcessingModule
        self._delay_ms: int | None = None
        """To be told with the next frame: the module keeps it, and each call costs as much as a third of a frame."""
        self.begin_anew(0.0)

    def cancel(self, near: Samples, far: Samples) -> Samples:
        """Return `near` without the echo of `far`, 128 samples later. Raises ValueError unless both are 160 samples."""
        if near.shape != (FRAME_SAMPLES,) or far.shape != (FRAME_SAMPLES,):
            raise ValueError(f"the canceller takes {FRAME_SAMPLES} samples, not {near.shape} and {far.shape}")
        played = self._frame(bytearray(far.astype(np.int16).tobytes()), SAMPLE_RATE, 1, FRAME_SAMPLES)
        heard = self._frame(bytearray(near.astype(np.int16).tobytes()), SAMPLE_RATE, 1, FRAME_SAMPLES)
        self._module.process_reverse_stream(played)
        if self._delay_ms is not None:
            self._module.set_stream_delay_ms(self._delay_ms)
            self._delay_ms = None
        self._module.process_stream(heard)
        return np.array(heard.data, np.int16)

    def begin_anew(self, delay: float) -> None:
        """Forget what was learned; the module finds the delay by itself, only sooner when it is told."""
        self._module = self._new_module(echo_cancellation=True)
        self._delay_ms = max(0, round(delay * 1000))
