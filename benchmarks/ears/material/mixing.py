"""Clips put into a room: its answer, a noise at a ratio to the speech, a level, and quiet before and after."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from audio.pcm import SAMPLE_RATE, Samples, to_float
from tests.room.acoustics import Sound, at_level, from_samples, impulse_response
from tests.room.sounds import hum, music, pink, vacuum_cleaner, white

LEAD_SECONDS, TAIL_SECONDS = 2.0, 1.6
"""Of the noise alone, before and after the clip: it is learnt, and the turn ends."""

FLOOR_DBFS: Final = -66.0
"""RMS level of the microphone's own noise under everything."""

LEVELS_DBFS: Final = (-20.0, -27.0, -34.0)
"""Of the speech at the microphone, what is active of it: near, across the room, soft."""

ROOMS: Final = {"dry": None, "furnished": (0.3, -3.0), "kitchen": (0.55, 0.0), "stairwell": (1.1, 3.0)}
"""Seconds in which the sound falls by 60 dB, and the energy of the tail against the direct sound, dB."""

GENERATED: Final = {"white": white, "pink": pink, "hum": hum, "vacuum": vacuum_cleaner, "music": music}

STEADY: Final = ("white", "pink", "hum", "vacuum")
"""Of these, what sounds alike all the time, as a fan does."""


class Condition(Struct, frozen=True):
    """How a clip sounds at the microphone."""

    snr_db: float | None = None
    """Active level of the speech over the active level of the noise; None without noise."""
    room: str = "dry"
    level_dbfs: float = LEVELS_DBFS[1]


class Mixed(Struct, frozen=True):
    """A sound for the ears, and where in it the clip is."""

    samples: Samples
    begins: float
    """Seconds at which the active part of the clip begins and ends; the whole sound for a noise alone."""
    ends: float


def mixed(clip: Samples, noise: Samples | None, condition: Condition, seed: int) -> Mixed:
    """Return the clip in a room, with so much noise from before it begins until after it has ended."""
    speech = at_level(_in_room(from_samples(clip), condition.room, seed), condition.level_dbfs)
    sound = np.concatenate([_silence(LEAD_SECONDS), speech, _silence(TAIL_SECONDS)])
    if noise is not None and condition.snr_db is not None:
        random = np.random.default_rng(seed)
        background = at_level(_looped(from_samples(noise), len(sound), random), condition.level_dbfs - condition.snr_db)
        sound = sound + background
    begins, ends = active(clip)
    return Mixed(_recorded(sound, seed), LEAD_SECONDS + begins, LEAD_SECONDS + ends)


def alone(noise: Samples, dbfs: float, seed: int) -> Mixed:
    """Return a noise by itself at this active level, in the same quiet."""
    sound = np.concatenate([_silence(LEAD_SECONDS), at_level(from_samples(noise), dbfs), _silence(TAIL_SECONDS)])
    return Mixed(_recorded(sound, seed), 0.0, len(sound) / SAMPLE_RATE)


def generated(name: str, seconds: float) -> Samples:
    """Return a noise of `GENERATED`: int16, 16 kHz."""
    return np.asarray(GENERATED[name](seconds) * 32767).clip(-32768, 32767).astype(np.int16)


def active(clip: Samples) -> tuple[float, float]:
    """Return where in the clip something is to be heard (frames of 20 ms, within 30 dB of the loudest), in seconds."""
    frames = to_float(clip[: len(clip) // 320 * 320]).reshape(-1, 320)
    power = np.mean(frames**2, axis=1)
    loud = np.flatnonzero(power > power.max() * 1e-3)
    return (loud[0] * 0.02, (loud[-1] + 1) * 0.02) if len(loud) else (0.0, len(clip) / SAMPLE_RATE)


def drawn(choices: Sequence[float], random: np.random.Generator) -> float:
    """Return one of the values."""
    return float(random.choice(choices))


def _in_room(dry: Sound, room: str, seed: int) -> Sound:
    shape = ROOMS[room]
    if shape is None:
        return dry
    decay, tail_db = shape
    response = impulse_response(decay, seed, tail_db)
    size = 1 << (len(dry) + len(response)).bit_length()
    wet = np.fft.irfft(np.fft.rfft(dry, size) * np.fft.rfft(response, size), size)
    return wet[: len(dry) + len(response)].astype(np.float32)


def _looped(noise: Sound, samples: int, random: np.random.Generator) -> Sound:
    """Return so many samples of the noise, begun somewhere and repeated where it is shorter."""
    start = int(random.integers(len(noise)))
    return np.resize(np.roll(noise, -start), samples)


def _recorded(sound: Sound, seed: int) -> Samples:
    floor = np.random.default_rng(seed + 1).normal(0.0, 10 ** (FLOOR_DBFS / 20), len(sound))
    return np.asarray(np.clip(sound + floor, -1.0, 1.0) * 32767).astype(np.int16)


def _silence(seconds: float) -> Sound:
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)
