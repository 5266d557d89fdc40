"""Sound on disk: FLAC through PyAV."""

import io

import av
import numpy as np

from audio.errors import BadRecording
from audio.pcm import Samples


def to_flac(samples: Samples, sample_rate: int) -> bytes:
    """Return a FLAC file of mono samples (int16, shape (n,)); nothing is lost."""
    file = io.BytesIO()
    with av.open(file, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=sample_rate, format="s16", layout="mono")
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None, :]), format="s16", layout="mono")
        frame.sample_rate = sample_rate
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def from_flac(data: bytes) -> tuple[Samples, int]:
    """Return the samples and their rate in Hz. Raises `BadRecording` when this is no FLAC or holds no sound."""
    try:
        with av.open(io.BytesIO(data), "r", format="flac", metadata_errors="ignore") as container:
            frames = list(container.decode(audio=0))
    except (av.error.FFmpegError, IndexError) as error:
        raise BadRecording(f"this is no FLAC ({error}): it is removed") from error
    if not frames:
        raise BadRecording("this FLAC holds no sound: it is removed")
    return np.concatenate([frame.to_ndarray()[0] for frame in frames]), frames[0].sample_rate
