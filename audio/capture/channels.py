"""The channels of a microphone: the one that is listened to, and the card's own loopback among them."""

from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.pcm import CHUNK_SECONDS, Samples

Frames: TypeAlias = NDArray[np.int16]
"""Interleaved PCM taken apart: int16, shape (frames, channels)."""

MOST_CHANNELS: Final = 8
"""Of a device whose number is believed; sound servers offer 32 or more of whatever there is."""

SMOOTHING: Final = 0.3
"""Share of a new block in the short-time power of a channel."""

FLOOR_RISES: Final = 10 ** (0.1 * CHUNK_SECONDS)
"""Factor a block by which a channel's noise is thought to grow (1 dB a second): a minimum that speech cannot teach."""

LEAST_FLOOR: Final = 0.3
"""Power, in squared steps of the converter, of a channel that gives nothing but zeros."""

ACTIVE_DB: Final = 9.0
"""Above its noise, from which on something sounds in a channel."""

LEARNING: Final = 0.04
"""Share of a block in which something sounds in what is known of a channel: a word or two count together."""

CLIPPED: Final = 32_000
"""A sample above this was cut off."""

CLIPPING_DB: Final = 20.0
CLIPPING_SHARE: Final = 0.1
"""What clipping takes from a channel at most, and the share of loud blocks from which on it takes all of that."""

MARGIN_DB: Final = 3.0
"""By which another channel has to be better."""

ENOUGH_BLOCKS: Final = round(0.3 / CHUNK_SECONDS)
"""With sound in any channel, before the first choice and between two of them."""

QUIET_BLOCKS: Final = round(0.8 / CHUNK_SECONDS)
"""Without sound in the channel that is listened to, before another one is: a turn is heard through one channel."""

_Powers: TypeAlias = NDArray[np.float64]
"""One number for each channel, shape (channels,)."""


class Channels(Struct, frozen=True):
    """What is configured of a card's channels."""

    count: int = 0
    """How many are asked for; 0 for all that the device tells of, up to `MOST_CHANNELS`."""
    reference: int = 0
    """Number, from 1, of the one in which the card gives back what it plays; 0 where it has none."""

    def to_try(self, inputs: int) -> list[int]:
        """Return the numbers of channels to ask a device with so many inputs for, in that order."""
        own = inputs if inputs <= MOST_CHANNELS else 1
        return [count for count in dict.fromkeys([self.count or own, 1, 2]) if self.reference <= count <= inputs]


class ChannelPicker:
    """Picks the channel with the best ratio of sound to noise, slowly, and never within a turn.

    A mean of channels is a comb filter for whoever is not in front of them, and is spoiled by one channel that is dead,
    noisy or clips. Takes blocks of about `CHUNK_SECONDS`.
    """

    def __init__(self, count: int) -> None:
        self.chosen = 0
        """Index of the channel that is listened to."""
        self._smooth: _Powers = np.zeros(count)
        self._floor: _Powers = np.full(count, np.inf)
        self._loud: _Powers = np.zeros(count)
        """Mean power of the blocks in which something sounds."""
        self._clipped: _Powers = np.zeros(count)
        """Share of those blocks that hold a clipped sample."""
        self._heard = 0
        """Blocks with sound since the last choice."""
        self._quiet = QUIET_BLOCKS
        """Blocks without sound in the chosen channel, up to now."""

    def pick(self, frames: Frames) -> Samples:
        """Return the chosen channel's samples of the next block: int16, shape (frames,)."""
        if len(frames):
            self._follow(frames)
            self._choose()
        return frames[:, self.chosen]

    def _follow(self, frames: Frames) -> None:
        wave = frames.astype(np.float32)
        power = wave.var(axis=0).astype(np.float64)
        self._smooth += SMOOTHING * (power - self._smooth)
        self._floor = np.maximum(np.minimum(self._floor * FLOOR_RISES, self._smooth), LEAST_FLOOR)
        sounds = self._smooth > self._floor * 10 ** (ACTIVE_DB / 10)
        self._quiet = 0 if sounds[self.chosen] else self._quiet + 1
        if sounds.any():
            share = max(LEARNING, 1 / (self._heard + 1)) if not self._loud.any() else LEARNING
            self._loud += share * (self._smooth - self._loud)
            self._clipped += share * ((np.abs(wave).max(axis=0) > CLIPPED) - self._clipped)
            self._heard += 1

    def _choose(self) -> None:
        if self._heard < ENOUGH_BLOCKS or self._quiet < QUIET_BLOCKS:
            return
        # How far sound stands out of the noise in each channel (dB), less what clipping spoils.
        ratio = 10 * np.log10(np.maximum(self._loud, LEAST_FLOOR) / np.maximum(self._floor, LEAST_FLOOR))
        scores = ratio - CLIPPING_DB * np.minimum(1.0, self._clipped / CLIPPING_SHARE)
        best = int(np.argmax(scores))
        if scores[best] >= scores[self.chosen] + MARGIN_DB:
            self.chosen, self._heard = best, 0


LOOPBACK_SILENCE: Final = 8
"""A block of the loopback without a sample above this (-72 dBFS) is silence: converters are never quite."""


class ChannelSplit:
    """Takes blocks apart: what is heard, by the picked one of its channels, and what the card gives back of its own."""

    def __init__(self, count: int, reference: int = 0) -> None:
        """Split `count` channels, of which `reference`, from 1, is the loopback; 0 for none."""
        self._count = count
        self._reference = reference
        self._picker = ChannelPicker(count - bool(reference)) if count - bool(reference) > 1 else None

    def take(self, pcm: Samples) -> tuple[Samples, Samples | None]:
        """Return what is heard and what is played of an interleaved block: int16, shape (frames,); None without one."""
        frames = pcm.reshape(-1, self._count)
        played = None
        if self._reference:
            played = frames[:, self._reference - 1]
            frames = np.delete(frames, self._reference - 1, axis=1)
            if np.abs(played).max(initial=0) <= LOOPBACK_SILENCE:
                played = np.zeros_like(played)
        return self._picker.pick(frames) if self._picker else frames[:, 0], played
