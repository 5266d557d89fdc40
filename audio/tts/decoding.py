"""Sound as voices send it: bare PCM, WAV and MP3, told apart by their first bytes."""

import re
import struct
from typing import Final

import av
import numpy as np

from audio.errors import SynthesisFailed
from audio.pcm import LEAST_RATE, MOST_RATE, Samples


def speech_rate(sample_rate: object) -> int:
    """Return a sample rate in Hz that a voice may have. Raises `SynthesisFailed` for what is none."""
    if type(sample_rate) is not int or not LEAST_RATE <= sample_rate <= MOST_RATE:
        raise SynthesisFailed(f"it has {sample_rate} samples a second; {LEAST_RATE} to {MOST_RATE} are wanted")
    return sample_rate


class PcmStream:
    """Bare 16-bit little-endian mono PCM of a rate that is known, in Hz."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._odd = b""

    def feed(self, data: bytes) -> Samples:
        """Return the samples that are whole now: int16, shape (n,)."""
        data = self._odd + data
        whole = len(data) // 2 * 2
        self._odd = data[whole:]
        return np.frombuffer(data[:whole], "<i2").astype(np.int16)

    def finish(self) -> Samples:
        """Return no further samples. Raises `SynthesisFailed` when half a sample is left."""
        if self._odd:
            raise SynthesisFailed("the sound ends in the middle of a sample")
        return np.zeros(0, np.int16)


RIFF_BYTES = 12
CHUNK_HEADER_BYTES = 8
PCM_FORMAT = 1
FMT_BYTES = 16
LONGEST_HEADER = 4096
"""Bytes within which the samples must begin."""


LENGTH_UNKNOWN = 0x7FFF_0000
"""Bytes of samples from which on a header means: to the end. Who streams does not know it; espeak-ng says 2 GB."""


class WavStream(PcmStream):
    """Reads one WAV stream of 16-bit mono PCM: as many samples as its header says, where that knows it.

    Its rate is 0 until the header is whole.
    """

    def __init__(self) -> None:
        super().__init__(0)
        self._header = bytearray()
        self._left: int | None = None
        """Bytes of samples still to come; None where the header does not know."""

    def feed(self, data: bytes) -> Samples:
        """Return the samples that these bytes complete: int16, shape (n,), n may be 0. Raises `SynthesisFailed`."""
        if self.sample_rate == 0:
            self._header += data
            start = self._samples_start()
            if start is None:
                return np.zeros(0, np.int16)
            data = bytes(self._header[start:])
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        return super().feed(data)

    def finish(self) -> Samples:
        """Return no further samples. Raises `SynthesisFailed` when some are missing."""
        if self._left:
            seconds = self._left / 2 / self.sample_rate
            raise SynthesisFailed(f"the last {seconds:.1f} s of the sentence are missing")
        return super().finish()

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
                self._left = length if 0 < length < LENGTH_UNKNOWN else None
                return position
            position += length + length % 2
        if not b"RIFF".startswith(header[:4]) or len(header) > LONGEST_HEADER:
            raise SynthesisFailed("this is not WAV")
        return None


def _mono_rate(fmt: bytes) -> int:
    kind, channels, sample_rate, _, _, bits = struct.unpack("<HHIIHH", fmt)
    if (kind, channels, bits) != (PCM_FORMAT, 1, 16):
        raise SynthesisFailed(f"this WAV has {channels} channel(s) of {bits} bits, and 16-bit mono is wanted")
    return speech_rate(sample_rate)


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


_MP3_KBITS: Final = (
    (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
"""Of layer III by the index in the header, from 1: of MPEG 1, and of MPEG 2 and 2.5 (ISO/IEC 11172-3, 13818-3)."""

_MP3_RATES: Final = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8000)}
"""Hz by the version's bits."""

_TEXT: Final = re.compile(rb"\s*[<{\[][\s!-~]*")
_OTHERS: Final = (b"OggS", b"fLaC", b"\x1a\x45\xdf\xa3")
"""How Ogg, FLAC and WebM begin."""


def mp3_frame_bytes(header: bytes) -> int:
    """Return the length of the MP3 frame that begins with these four bytes; 0 when none does."""
    bits = int.from_bytes(header[:4], "big")
    version, layer = bits >> 19 & 3, bits >> 17 & 3
    index, rate = bits >> 12 & 15, bits >> 10 & 3
    if bits >> 21 != 0x7FF or layer != 1 or version == 1 or index in (0, 15) or rate == 3:
        return 0
    first = version == 3
    return (144 if first else 72) * 1000 * _MP3_KBITS[not first][index - 1] // _MP3_RATES[version][rate] + (
        bits >> 9 & 1
    )


class SoundStream:
    """Reads one stream of a kind that its first bytes tell, whatever its sender calls it.

    What is neither WAV nor MP3 is bare PCM of `pcm_rate` Hz; with 0 it is refused, as is text, which no sound is.
    """

    def __init__(self, pcm_rate: int = 0) -> None:
        self._pcm_rate = pcm_rate
        self._begun = b""
        self._decoder: PcmStream | Mp3Decoder | None = None

    @property
    def sample_rate(self) -> int:
        """Hz; 0 until the first sound."""
        return self._decoder.sample_rate if self._decoder else 0

    def feed(self, data: bytes) -> Samples:
        """Return the samples that these bytes complete: int16, shape (n,), n may be 0. Raises `SynthesisFailed`."""
        if self._decoder is None:
            self._begun += data
            self._decoder = self._recognized(is_all=False)
            if self._decoder is None:
                return np.zeros(0, np.int16)
            data, self._begun = self._begun, b""
        return self._decoder.feed(data)

    def finish(self) -> Samples:
        """Return what was kept back. Raises `SynthesisFailed` when the stream is not whole, or no sound."""
        if self._decoder is not None:
            return self._decoder.finish()
        if not self._begun:
            raise SynthesisFailed("the answer is empty")
        self._decoder = self._recognized(is_all=True)
        assert self._decoder is not None
        return np.concatenate([self._decoder.feed(self._begun), self._decoder.finish()])

    def _recognized(self, *, is_all: bool) -> PcmStream | Mp3Decoder | None:
        """Return what reads this stream; None while too little of it is here."""
        begun = self._begun
        if not is_all and len(begun) < RIFF_BYTES:
            return None
        if begun.startswith(b"RIFF"):
            return WavStream()
        length = mp3_frame_bytes(begun)
        if length and len(begun) < length + 4 and not is_all:
            return None
        if begun.startswith(b"ID3") or (length and mp3_frame_bytes(begun[length:])):
            return Mp3Decoder()
        if _TEXT.fullmatch(begun[:RIFF_BYTES]):
            raise SynthesisFailed(f"the answer is a text, no sound: {begun[:60].decode(errors='replace').strip()!r}")
        if not self._pcm_rate or begun.startswith(_OTHERS):
            raise SynthesisFailed("the answer is neither WAV nor MP3")
        return PcmStream(self._pcm_rate)
