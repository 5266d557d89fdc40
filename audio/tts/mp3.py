"""MP3 that arrives in pieces, decoded in process (PyAV)."""

import av
import numpy as np

from audio.pcm import Samples


class Mp3Decoder:
    """Decodes one stream of mono MP3. Not thread-safe; a few microseconds a piece, so it runs on the event loop."""

    def __init__(self) -> None:
        self._decoder = av.CodecContext.create("mp3", "r")
        self.sample_rate = 0
        """Hz; 0 until the first sound."""

    def feed(self, data: bytes) -> Samples:
        """Return the samples that these bytes complete: int16, shape (n,), n may be 0. What is not MP3 is skipped."""
        return self._decoded(self._decoder.parse(data))

    def finish(self) -> Samples:
        """Return what was kept for want of a following frame."""
        return self._decoded(self._decoder.parse(b""))

    def _decoded(self, packets: "list[av.Packet[av.AudioStream]]") -> Samples:
        pieces = [np.zeros(0, np.int16)]
        for packet in packets:
            try:
                frames = self._decoder.decode(packet)
            except av.error.FFmpegError:
                continue
            for frame in frames:
                self.sample_rate = frame.sample_rate
                pieces.append(frame.to_ndarray()[0])
        return np.concatenate(pieces)
