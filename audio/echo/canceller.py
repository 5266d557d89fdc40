"""Echo cancellation: WebRTC's canceller in frames of 10 ms, and the stream of chunks that goes through it."""

import ctypes
import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
from msgspec import Struct

from audio.echo.reference import PlayedReference
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, AudioChunk, Samples

FRAME_SAMPLES: Final = SAMPLE_RATE // 100
"""10 ms: the module ends the whole process when it is given another length."""

MOST_FRAMES: Final = 4
"""That one chunk completes."""

CANCELLER_SAMPLES: Final = 128
"""By which what comes out is behind what went in (8 ms): measured by correlation, livekit 1.2.1 at 16 kHz."""


class Canceller(Protocol):
    """Removes the echo of one sound from another. Keeps state; one thread; frames in order."""

    def cancel(self, near: Samples, far: Samples) -> Samples:
        """Return `near` without the echo of `far`, `CANCELLER_SAMPLES` later.

        Both int16, 16 kHz, of 1 to `MOST_FRAMES` frames of 160 samples; `far` leaves the loudspeaker at most half a
        second before it is in `near`, and never after. Raises ValueError for another length.
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

    def __init__(self, *, is_direct: bool = True) -> None:
        """`is_direct` is whether its two calls go to the library by themselves, at half of the cost."""
        from livekit import rtc

        self._frame = rtc.AudioFrame
        self._new_module = rtc.AudioProcessingModule
        self._is_direct = is_direct
        self._frames = np.zeros((2, MOST_FRAMES * FRAME_SAMPLES), np.int16)
        """What was played (row 0), and what was recorded, which is changed in its place (row 1)."""
        self._delay_ms: int | None = None
        """To be told with the next frame: the module keeps it, and each call costs as much as a third of a frame."""
        self.begin_anew(0.0)

    def cancel(self, near: Samples, far: Samples) -> Samples:
        """Return `near` without the echo of `far`, 128 samples later. Raises ValueError unless both are some frames."""
        count, rest = divmod(len(near), FRAME_SAMPLES)
        if near.shape != far.shape or near.ndim != 1 or rest or not 0 < count <= MOST_FRAMES:
            raise ValueError(f"the canceller takes frames of {FRAME_SAMPLES} samples, not {near.shape} and {far.shape}")
        played, heard = self._frames[:, : len(near)]
        played[:], heard[:] = far, near
        if self._delay_ms is not None:
            self._module.set_stream_delay_ms(self._delay_ms)
            self._delay_ms = None
        for cancel in self._cancels[:count]:
            cancel()
        left: Samples = heard.copy()
        return left

    def begin_anew(self, delay: float) -> None:
        """Forget what was learned; the module finds the delay by itself, only sooner when it is told."""
        self._module = self._new_module(echo_cancellation=True)
        each = [self._frames[:, start:][:, :FRAME_SAMPLES] for start in range(0, self._frames.shape[1], FRAME_SAMPLES)]
        direct = [_direct(self._module, frames) if self._is_direct else None for frames in each]
        self._cancels = [by or partial(self._by_frames, frames) for by, frames in zip(direct, each, strict=True)]
        self._delay_ms = max(0, round(delay * 1000))

    def _by_frames(self, frames: Samples) -> None:
        """Give both rows to the module by its own methods."""
        played, heard = (self._frame(bytearray(row.tobytes()), SAMPLE_RATE, 1, FRAME_SAMPLES) for row in frames)
        self._module.process_reverse_stream(played)
        self._module.process_stream(heard)
        frames[1] = heard.data


def _direct(module: Any, frames: Samples) -> Callable[[], None] | None:
    """Return what gives both rows to the module, as its own methods do; None where livekit is built otherwise.

    Its methods write a request anew for each frame, read the answer, and follow the answer's handle: as much work as
    the cancellation. The requests are always the same two, for the rows, shape (2, 160), stay where they are.
    """
    try:
        from livekit.rtc._ffi_client import FfiClient
        from livekit.rtc._proto.ffi_pb2 import FfiRequest

        library, handle = FfiClient.instance._ffi_lib, module._ffi_handle.handle
        drop, ask = library.livekit_ffi_drop_handle, library["livekit_ffi_request"]
        ask.restype = ctypes.c_uint64  # by its index it is a new one, whose arguments are not checked in each call
        requests = []
        for kind, row in zip(("apm_process_reverse_stream", "apm_process_stream"), frames, strict=True):
            request = FfiRequest()
            told = getattr(request, kind)
            told.apm_handle, told.data_ptr, told.size = handle, row.ctypes.data, row.nbytes
            told.sample_rate, told.num_channels = SAMPLE_RATE, 1
            written = request.SerializeToString()
            requests.append(((ctypes.c_ubyte * len(written)).from_buffer_copy(written), ctypes.c_size_t(len(written))))
    except (ImportError, AttributeError):
        return None
    (reverse, reverse_size), (forward, forward_size) = requests
    answer, size = ctypes.POINTER(ctypes.c_ubyte)(), ctypes.c_size_t()
    answer_at, size_at = ctypes.byref(answer), ctypes.byref(size)

    def cancel() -> None:
        drop(ask(reverse, reverse_size, answer_at, size_at))
        drop(ask(forward, forward_size, answer_at, size_at))

    return cancel


REFRAMING_SAMPLES: Final = 128
"""The most that is left of a chunk when frames are cut from a stream of them: 5 x 512 = 16 x 160."""


class Reframer:
    """Cuts the chunks of one source into frames, and joins processed frames into chunks."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, np.int16)
        self._done: Samples = np.zeros(REFRAMING_SAMPLES, np.int16)

    def cut(self, chunk: AudioChunk) -> tuple[Samples, float]:
        """Return the frames that the chunk completes, shape (frames, 160), and the time of their first sample."""
        at = chunk.started_at - len(self._rest) / SAMPLE_RATE
        samples = np.concatenate([self._rest, chunk.samples])
        whole = len(samples) // FRAME_SAMPLES * FRAME_SAMPLES
        self._rest = samples[whole:]
        return samples[:whole].reshape(-1, FRAME_SAMPLES), at

    def join(self, frames: Samples) -> Samples:
        """Return the next 512 samples, `REFRAMING_SAMPLES` behind; to be called once after each `cut`."""
        samples = np.concatenate([self._done, frames.ravel()])
        self._done = samples[CHUNK_SAMPLES:]
        return samples[:CHUNK_SAMPLES]


DELAY_SECONDS: Final = (CANCELLER_SAMPLES + REFRAMING_SAMPLES) / SAMPLE_RATE
"""By which cleaned samples come after the raw ones, canceller or not: 16 ms. Chunks carry the time of their samples."""

LEAD_SECONDS: Final = 0.02
"""By which the echo is kept behind its reference: a canceller explains nothing by what comes after it."""

RESTING_FRAMES: Final = 100
"""Of silence in the reference (1 s), after which no echo is left and the canceller rests: it costs 0.7 % of a core."""


class Cleaned(Struct, frozen=True):
    """One processed chunk and the frames that it completed: all int16, 16 kHz."""

    chunk: AudioChunk
    """512 samples, `DELAY_SECONDS` behind the raw ones, with their time."""
    near: Samples
    """The frames as they were recorded."""
    far: Samples
    """What was played with them, `LEAD_SECONDS` early."""
    left: Samples
    """What is left of `near`; `CANCELLER_SAMPLES` behind."""


class CleanedStream:
    """Feeds a canceller. Without one, or while nothing was played for a second, sound passes with the same delay."""

    def __init__(self, reference: PlayedReference, canceller: Canceller | None = None) -> None:
        self.canceller = canceller
        """May be put in later; the loop's thread only."""
        self._reference = reference
        self._reframer = Reframer()
        self.echo_delay = 0.0
        """Seconds from the time that the player tells for a sample to that of its echo, as far as is known."""
        self._before: Samples = np.zeros(FRAME_SAMPLES, np.int16)
        """The frame before, as it was recorded."""
        self._silent_frames = RESTING_FRAMES

    @property
    def lead(self) -> float:
        """Seconds that the reference is read ahead of the microphone's time."""
        return LEAD_SECONDS - self.echo_delay

    def expect_echo_after(self, seconds: float) -> None:
        """Lay the reference so that an echo so long after the player's time for its sound is `LEAD_SECONDS` late."""
        self.echo_delay = seconds
        self._reference.pair_anew()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Have the canceller forget what it learned: the room, the devices or the pairing is another one."""
        if self.canceller is not None:
            self.canceller.begin_anew(LEAD_SECONDS)

    def rests(self, chunk: AudioChunk) -> bool:
        """Whether nothing was played for so long before the chunk that its echo is over, and nothing with it."""
        began = chunk.started_at - RESTING_FRAMES * FRAME_SAMPLES / SAMPLE_RATE
        return self._reference.is_silent_since(began + self.lead)

    def process(self, chunk: AudioChunk) -> Cleaned:
        """Take the next chunk."""
        nears, at = self._reframer.cut(chunk)
        far = self._reference.read(at + self.lead, nears.size)
        lefts = self._cancelled(nears, far.reshape(-1, FRAME_SAMPLES))
        self._before = nears[-1]
        cleaned = AudioChunk(self._reframer.join(lefts), chunk.started_at - DELAY_SECONDS)
        return Cleaned(cleaned, nears.ravel(), far, lefts.ravel())

    def _cancelled(self, nears: Samples, fars: Samples) -> Samples:
        """Return what is left of some frames, shape (frames, 160); where nothing has to be cancelled, all of them."""
        sounds: list[bool] = np.logical_or.reduce(fars, axis=1).tolist()
        silent = sounds[::-1].index(True) if any(sounds) else self._silent_frames + len(sounds)
        if self.canceller is None or (self._silent_frames >= RESTING_FRAMES and not any(sounds)):
            self._silent_frames = silent
            row = np.concatenate([self._before, nears.ravel()])
            return row[FRAME_SAMPLES - CANCELLER_SAMPLES : -CANCELLER_SAMPLES].reshape(-1, FRAME_SAMPLES)
        if self._silent_frames + len(sounds) < RESTING_FRAMES:  # it neither rests nor is about to
            self._silent_frames = silent
            return self.canceller.cancel(nears.ravel(), fars.ravel()).reshape(-1, FRAME_SAMPLES)
        lefts, before = np.empty_like(nears), self._before
        for left, near, far, is_sound in zip(lefts, nears, fars, sounds, strict=True):
            left[:] = self._left(self.canceller, before, near, far if is_sound else None)
            before = near
        return lefts

    def _left(self, canceller: Canceller, before: Samples, near: Samples, far: Samples | None) -> Samples:
        """Return what is left of a frame, behind the one before it; None stands for silence."""
        was_resting = self._silent_frames >= RESTING_FRAMES
        self._silent_frames = 0 if far is not None else self._silent_frames + 1
        if self._silent_frames >= RESTING_FRAMES:
            return np.concatenate([before[-CANCELLER_SAMPLES:], near[:-CANCELLER_SAMPLES]])
        if was_resting:  # what it still holds is from before its rest
            canceller.cancel(before, _SILENCE)
        return canceller.cancel(near, _SILENCE if far is None else far)


_SILENCE: Final = np.zeros(FRAME_SAMPLES, np.int16)
