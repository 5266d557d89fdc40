"""PCM: the one sample format (mono int16; 16 kHz in chunks of 512 samples on input) and conversions."""

import struct
from math import log10
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.int16]
"""Mono PCM, dtype int16, shape (n,)."""

LEAST_RATE, MOST_RATE = 4_000, 384_000
"""Hz of sound that others send: a telephone's is 8,000, a studio's 192,000.

A child process that imports nothing of ours has the same in `appliance/remote/decode.py`.
"""

SAMPLE_RATE = 16_000
"""Hz. What Silero and Whisper take."""

CHUNK_SAMPLES = 512
"""Samples a chunk: the only length Silero v5 and v6 take at 16 kHz (upstream `utils_vad.py`)."""

CHUNK_SECONDS = CHUNK_SAMPLES / SAMPLE_RATE
"""0.032 s."""


AT_REST_CHUNKS = 12
"""Chunks handed over together while nothing goes on: a wake-up costs more than what is done for a chunk. An onset is
seen 0.35 s later at most, which is before the shortest speech can have its first pause; nothing is played then."""

UNKNOWN_BYTES: Final = 0xFFFF_FFFF
"""What a WAV says of its length while it is being made; programs read to its end then."""

QUIETEST_DBFS = -120.0
"""Level given to digital silence, dB relative to full scale."""


class AudioChunk(Struct, frozen=True):
    """`CHUNK_SAMPLES` samples of the microphone."""

    samples: Samples
    """int16, shape (512,), 16 kHz."""
    started_at: float
    """Seconds on the source's clock (`time.monotonic` for everything live) of the first sample."""

    @property
    def ended_at(self) -> float:
        """Seconds on the source's clock just after the last sample."""
        return self.started_at + len(self.samples) / SAMPLE_RATE


def to_float(samples: Samples) -> NDArray[np.float32]:
    """Return the samples as float32 in [-1, 1), shape kept."""
    return samples.astype(np.float32) / 32768.0


def from_float(samples: NDArray[np.float32]) -> Samples:
    """Return float samples in [-1, 1] as int16, clipped, shape kept."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).astype(np.int16)


def power_of(samples: Samples) -> float:
    """Return the mean square of one or more samples, of full scale; without the constant that cheap converters add.

    Nobody hears it, and beside it a quiet voice would be no louder than its room.
    """
    wave = samples.astype(np.float32)
    wave -= float(np.add.reduce(wave)) / len(wave)  # `mean` costs three times as much
    return float(wave.dot(wave)) / len(samples) / 32768.0**2


def power_ratio(decibels: float) -> float:
    """Return how many times a power is one that is so many decibels below it."""
    return float(10 ** (decibels / 10))


def rms_dbfs(samples: Samples) -> float:
    """Return `power_of` in dB relative to full scale; `QUIETEST_DBFS` for digital silence and for no samples."""
    power = power_of(samples) if len(samples) else 0.0
    return max(QUIETEST_DBFS, 10.0 * log10(power)) if power > 0 else QUIETEST_DBFS


def wav_header(sample_rate: int, channels: int = 1, samples: int | None = None) -> bytes:
    """Return the header of a 16-bit WAV of so many samples of each channel; None: it goes on until it ends.

    Its lengths are 32 bits, 24 hours of 24 kHz: of more it says what it can, and most programs read on.
    """
    data = UNKNOWN_BYTES if samples is None else min(samples * channels * 2, UNKNOWN_BYTES)
    kind = struct.pack("<IHHIIHH", 16, 1, channels, sample_rate, sample_rate * channels * 2, channels * 2, 16)
    riff = struct.pack("<I", min(data + 36, UNKNOWN_BYTES))
    return b"RIFF" + riff + b"WAVEfmt " + kind + b"data" + struct.pack("<I", data)
