"""Recordings: reads sound files, and plays one in place of the microphone."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from audio.errors import BadRecording
from audio.interfaces import always_awake
from audio.pcm import AT_REST_CHUNKS, CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

if TYPE_CHECKING:
    from av.container import InputContainer

CLOSING_SECONDS: Final = 1.5
"""Silence behind the recording, so that its last turn is committed."""

FRAME_SIZE: Final = 4096
"""Samples the resampler hands out at a time."""


def read_recording(path: Path) -> Samples:
    """Return a sound file of any format FFmpeg knows as int16, shape (n,), mono, 16 kHz.

    Raises `BadRecording` when it cannot be opened, is no sound, or holds none.
    """
    import av

    try:
        with av.open(str(path), mode="r", metadata_errors="ignore") as container:
            if not container.streams.audio:
                raise BadRecording(f"{path} holds no sound; give a WAV, FLAC, MP3 or other sound file")
            samples = np.concatenate([np.zeros(0, np.int16), *_resampled(container)])
    except (OSError, av.FFmpegError) as error:
        reason = error.strerror or "it is no sound file"
        raise BadRecording(f"{path} cannot be read as sound ({reason}); give a WAV, FLAC or MP3 file") from error
    if len(samples) == 0:
        raise BadRecording(f"{path} holds no sound; record it again, or give another file")
    return samples


class RecordingSource:
    """A recording as an `AudioSource`: in real time on `time.monotonic`, or as fast as it is read; then it ends."""

    dropped_chunks = 0
    """A recording waits for its reader."""

    def __init__(self, path: Path, *, fast: bool = False) -> None:
        self.name = str(path)
        self._samples = read_recording(path)
        self.seconds = len(self._samples) / SAMPLE_RATE
        """Length of the recording, without the silence behind it."""
        self.started_at = 0.0
        """Seconds on `time.monotonic` of the first sample; 0 until `chunks` is stepped."""
        self.is_live = not fast

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        """Yield the recording and the silence behind it; the last chunk is filled up with zeros."""
        self.started_at = time.monotonic()
        closing = np.zeros(int(CLOSING_SECONDS * SAMPLE_RATE), np.int16)
        padding = np.zeros(-(len(self._samples) + len(closing)) % CHUNK_SAMPLES, np.int16)
        samples = np.concatenate([self._samples, closing, padding])
        first, last = 0, len(samples) // CHUNK_SAMPLES
        while first < last:
            end = min(last, first + (AT_REST_CHUNKS if is_at_rest() else 1))
            # A microphone hands a chunk over when its last sample was taken.
            ended_at = self.started_at + end * CHUNK_SECONDS
            await asyncio.sleep(max(0.0, ended_at - time.monotonic()) if self.is_live else 0)
            for number in range(first, end):
                chunk = samples[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES]
                yield AudioChunk(chunk, self.started_at + number * CHUNK_SECONDS)
            first = end


def _resampled(container: "InputContainer") -> Iterator[Samples]:
    """Yield the sound in pieces; each stretch of one format has a resampler of its own: files may be put together."""
    import av

    form = attrgetter("sample_rate", "format.name", "layout.name")
    for _, frames in groupby(container.decode(audio=0), form):
        resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE, frame_size=FRAME_SIZE)
        for frame in chain(frames, (None,)):
            yield from (piece.to_ndarray()[0] for piece in resampler.resample(frame))
