"""WAV that arrives in pieces: the header once, then samples for as long as they come."""

import struct

import numpy as np

from audio.errors import SynthesisFailed
from audio.pcm import Samples

RIFF_BYTES = 12
CHUNK_HEADER_BYTES = 8
PCM_FORMAT = 1
FMT_BYTES = 16
LONGEST_HEADER = 4096
"""Bytes within which the samples must begin."""


class WavStream:
    """Reads one WAV stream of 16-bit mono PCM.

    The samples are taken to go on to the end of the stream, whatever length the header gives: programs that write to a
    pipe do not know it (espeak-ng says 2 GB).
    """

    def __init__(self) -> None:
        self._header = bytearray()
        self._odd = b""
        self.sample_rate = 0
        """Hz; 0 until the header is whole."""

    def feed(self, data: bytes) -> Samples:
        """Return the samples that these bytes complete: int16, shape (n,), n may be 0. Raises `SynthesisFailed`."""
        if self.sample_rate == 0:
            self._header += data
            start = self._samples_start()
            if start is None:
                return np.zeros(0, np.int16)
            data = bytes(self._header[start:])
        data = self._odd + data
        whole = len(data) // 2 * 2
        self._odd = data[whole:]
        return np.frombuffer(data[:whole], "<i2").astype(np.int16)

    def _samples_start(self) -> int | None:
        """Return where the samples begin; None while the header is not whole. Reads the sample rate."""
        header, position = bytes(self._header), RIFF_BYTES
        sample_rate = 0
        while len(header) >= position + CHUNK_HEADER_BYTES:
            name, length = struct.unpack_from("<4sI", header, position)
            position += CHUNK_HEADER_BYTES
            if name == b"fmt " and len(header) >= position + FMT_BYTES:
                sample_rate = _mono_rate(header[position : position + FMT_BYTES])
            if name == b"data" and sample_rate:
                self.sample_rate = sample_rate
                return position
            position += length + length % 2
        if not b"RIFF".startswith(header[:4]) or len(header) > LONGEST_HEADER:
            raise SynthesisFailed("the voice program wrote something that is not WAV")
        return None


def _mono_rate(fmt: bytes) -> int:
    kind, channels, sample_rate, _, _, bits = struct.unpack("<HHIIHH", fmt)
    if (kind, channels, bits) != (PCM_FORMAT, 1, 16):
        raise SynthesisFailed(f"the voice program wrote {channels} channel(s) of {bits} bits, not 16-bit mono")
    return int(sample_rate)
