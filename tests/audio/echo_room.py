"""A room on arrays: what a microphone records of a loudspeaker, a person and noise, and what the player tells of it."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.interfaces import EchoGuard
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples, rms_dbfs, to_float
from audio.playback.live import PlaybackTap
from audio.resampler import StreamResampler


class EchoPath(Struct, frozen=True):
    """From the loudspeaker to the microphone."""

    gain_db: float = -10.0
    """Level of the echo against what was played."""
    delay: float = 0.02
    """Seconds of the direct sound: air, and what the devices did not tell of themselves."""
    reverberation: float = 0.3
    """Seconds in which the room's sound falls by 60 dB."""
    drift_ppm: float = 0.0
    """By which the loudspeaker's clock is faster than the microphone's."""
    clipping: float = 0.0
    """0: a clean loudspeaker; 1: peaks at full scale are squeezed to tanh(1) of it; 3: badly overdriven."""
    noise_dbfs: float = -65.0
    """Of the room, at the microphone."""

    def recorded(self, played: Samples) -> NDArray[np.float64]:
        """Return the echo (float, 16 kHz, 1 s longer) of what was played (int16, 16 kHz), noise included."""
        sound = to_float(played).astype(np.float64)
        if self.clipping:
            sound = np.tanh(self.clipping * sound) / self.clipping
        sound = np.concatenate([sound, np.zeros(SAMPLE_RATE)])
        wet = _convolved(sound, self._response())
        moments = (np.arange(len(sound), dtype=np.float64) - self.delay * SAMPLE_RATE) * (1 + self.drift_ppm * 1e-6)
        echo = _at(wet, moments)
        noise = np.random.default_rng(1).normal(0.0, 10 ** (self.noise_dbfs / 20), len(echo))
        return np.asarray(10 ** (self.gain_db / 20) * echo + noise)

    def _response(self) -> NDArray[np.float64]:
        times = np.arange(round(max(0.02, self.reverberation) * SAMPLE_RATE)) / SAMPLE_RATE
        tail = np.random.default_rng(2).normal(0.0, 1.0, len(times)) * 10 ** (
            -3 * times / max(0.02, self.reverberation)
        )
        tail[: round(0.002 * SAMPLE_RATE)] = 0.0
        tail *= 0.7 / np.sqrt(np.sum(tail**2))
        tail[0] = 0.7
        return np.asarray(tail)


class Room(Struct, frozen=True):
    """One evening: the loudspeaker begins at `began` seconds of the common clock, and so does the microphone."""

    path: EchoPath = EchoPath()
    player_rate: int = 24_000
    block_seconds: float = 0.02
    latency: float = 0.06
    """Seconds from the player's callback to the loudspeaker."""
    jitter: float = 0.003
    """Seconds by which callbacks come late, at most."""
    began: float = 1000.0

    def chunks(self, played: Samples, near: Samples, tap: PlaybackTap) -> Iterator[AudioChunk]:
        """Yield the microphone's chunks; before each, the tap is told what the sound card has taken by then.

        `played` and `near` are int16, 16 kHz, from `began` on. The times that the tap gets are those of the devices.
        """
        sound = self.path.recorded(played)
        sound[: len(near)] += to_float(near)[: len(sound)]
        recorded = (np.clip(sound, -1, 1) * 32767).astype(np.int16)
        buffers = self._buffers(played)
        waiting = next(buffers, None)
        for number in range(len(recorded) // CHUNK_SAMPLES):
            started = self.began + number * CHUNK_SECONDS
            while waiting is not None and waiting[1] - self.latency <= started + CHUNK_SECONDS:
                tap(waiting[0], self.player_rate, waiting[1])
                waiting = next(buffers, None)
            yield AudioChunk(recorded[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES], started)

    def _buffers(self, played: Samples) -> Iterator[tuple[Samples, float]]:
        resampler = StreamResampler(SAMPLE_RATE, self.player_rate)
        sound = np.concatenate([resampler.feed(played), resampler.flush(), np.zeros(self.player_rate, np.int16)])
        block = round(self.block_seconds * self.player_rate)
        late = np.random.default_rng(3).uniform(0.0, self.jitter, len(sound) // block + 1)
        rate = self.player_rate * (1 + self.path.drift_ppm * 1e-6)
        for number, start in enumerate(range(0, len(sound) - block + 1, block)):
            yield sound[start : start + block], self.began + start / rate + late[number]


def cleaned(guard: EchoGuard, chunks: Iterator[AudioChunk]) -> list[AudioChunk]:
    """Return what the guard makes of the chunks."""
    return [guard.clean(chunk) for chunk in chunks]


def joined(chunks: list[AudioChunk]) -> Samples:
    """Return the chunks' samples in one row."""
    return np.concatenate([chunk.samples for chunk in chunks])


def at_level(samples: Samples, dbfs: float) -> Samples:
    """Return the samples at an RMS level (of what is not silence), clipped."""
    loud = samples[np.abs(samples) > np.abs(samples).max() / 50]
    gain = 10 ** ((dbfs - rms_dbfs(loud)) / 20)
    return np.asarray(np.clip(samples * gain, -32768, 32767), np.int16)


def _at(sound: NDArray[np.float64], moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sound between its samples: four times as many of them, and straight lines."""
    size = 1 << len(sound).bit_length()
    spectrum = np.fft.rfft(sound, size)
    spectrum[-1] = 0.0
    fine = 4 * np.fft.irfft(np.concatenate([spectrum, np.zeros(3 * size // 2)]), 4 * size)
    return np.asarray(np.interp(4 * moments, np.arange(4 * len(sound)), fine[: 4 * len(sound)], left=0.0, right=0.0))


def _convolved(sound: NDArray[np.float64], response: NDArray[np.float64]) -> NDArray[np.float64]:
    size = 1 << (len(sound) + len(response)).bit_length()
    return np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)[: len(sound) + len(response)]
