"""The linear part of the echo: a filter that learns what the room makes of what was played."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE

BLOCK: Final = 320
"""Samples (20 ms) that are explained at once: the time of one period of a low voice."""

BLOCK_SECONDS: Final = BLOCK / SAMPLE_RATE

PARTITIONS: Final = 20
"""Blocks of what was played that are heard in one of them (0.4 s): the lead, the air, most of a tiled room."""

FORGETTING: Final = 0.9995
"""Of what was learned, from block to block: a room changes within half a minute."""

FIRST_VARIANCE: Final = 0.3
KNOWN_VARIANCE: Final = 0.1
PARTITION_FADING_DB: Final = 75.0 * BLOCK_SECONDS
"""How strong an echo is thought possible before any was heard, and by how much less a partition later; and which
share of a path from before a restart may be wrong."""

SHORTENED: Final = 3
"""Partitions a block, in turn, that are kept from wrapping around: at once that would cost as much as all else."""

GROWN_BLOCKS: Final = 8
"""Blocks after which the doubt that time brings is added: it is small, and needs no hurry."""

_ERROR_SMOOTHING: Final = 0.2
_FIRST_ERROR: Final = 1e-6
_LEAST_VARIANCE: Final = 1e-10
_LEAST_POWER: Final = 1e-9
_SOUNDING: Final = 1e-4
"""Energy of a block's spectrum below which nothing is learned from it."""

Block: TypeAlias = NDArray[np.float32]
"""Samples relative to full scale, shape (`BLOCK`,)."""

_Spectrum: TypeAlias = NDArray[np.complex64]


class LinearEcho:
    """A partitioned Kalman filter in the frequency domain: learns fast while nakari speaks alone, and slowly else.

    After Kuech, Mabande, Enzner: "State-space architecture of the partitioned-block-based acoustic echo controller"
    (ICASSP 2014). The step of each frequency follows from how sure the filter is of it, and from how much it could not
    explain lately: nobody has to decide when somebody speaks as well.
    Pure; 0.1 ms a block.
    """

    def __init__(self, path: NDArray[np.float32] | None = None) -> None:
        """Begin with the `path` that another one found, where there is one."""
        likely = FIRST_VARIANCE * 10 ** (-PARTITION_FADING_DB * np.arange(PARTITIONS, dtype=np.float32) / 10)
        known = np.zeros(PARTITIONS * BLOCK, np.float32) if path is None else path
        self._filter = np.fft.rfft(known.reshape(PARTITIONS, BLOCK), 2 * BLOCK).astype(np.complex64, copy=False)
        self._variance = np.repeat(likely[:, None], BLOCK + 1, axis=1)
        """Of the filter: how wrong it may be."""
        if path is not None:
            self._variance = KNOWN_VARIANCE * np.abs(self._filter) ** 2 + np.float32(_LEAST_VARIANCE)
        self._played = np.zeros((2 * PARTITIONS, BLOCK + 1), np.complex64)
        """Spectra of what was played, twice, so that those from `_newest` on are one stretch, the newest first."""
        self._powers = np.zeros((2 * PARTITIONS, BLOCK + 1), np.float32)
        """Of them."""
        self._newest = 0
        self._error = np.full(BLOCK + 1, _FIRST_ERROR, np.float32)
        """Power of what is not explained, by frequency."""
        self._frames = np.zeros((2, 2 * BLOCK), np.float32)
        """What was played, the block before it in front (row 0), and the rest behind silence (row 1)."""
        self._blocks = 0
        """Learned from so far."""

    @property
    def path(self) -> NDArray[np.float32]:
        """The impulse response from what was played to the microphone, shape (`PARTITIONS` * `BLOCK`,)."""
        return np.fft.irfft(self._filter, axis=1)[:, :BLOCK].ravel().astype(np.float32, copy=False)

    def explain(self, near: Block, far: Block) -> tuple[Block, Block]:
        """Return how much of `near` is the echo of what was played, and the rest; learn from it.

        `far` is what was played with it, some milliseconds early. Blocks come in order, without a gap.
        """
        self._frames[0, :BLOCK] = self._frames[0, BLOCK:]
        self._frames[0, BLOCK:] = far
        spectrum = np.fft.rfft(self._frames[0])
        self._newest = (self._newest - 1) % PARTITIONS
        power = spectrum.real**2 + spectrum.imag**2
        for row in (self._newest, self._newest + PARTITIONS):
            self._played[row], self._powers[row] = spectrum, power
        window = slice(self._newest, self._newest + PARTITIONS)
        played, powers = self._played[window], self._powers[window]
        echo: Block = np.fft.irfft((self._filter * played).sum(axis=0))[BLOCK:].astype(np.float32, copy=False)
        rest = near - echo
        self._frames[1, BLOCK:] = rest
        error = np.fft.rfft(self._frames[1]).astype(np.complex64, copy=False)
        if power.sum() > _SOUNDING:
            self._learn(played, powers, error)
        self._error += np.float32(_ERROR_SMOOTHING) * (error.real**2 + error.imag**2 - self._error)
        return echo, rest

    def _learn(self, played: _Spectrum, powers: NDArray[np.float32], error: _Spectrum) -> None:
        doubts = powers * self._variance
        certainty = 1 / (doubts.sum(axis=0) + 2 * self._error + np.float32(_LEAST_POWER))
        # (step * conj(played) * error), conjugated twice: of the small factor once instead of the large one.
        step = self._variance * np.conj(certainty * error)
        step *= played
        self._filter += np.conj(step, out=step)
        self._shorten()
        doubts *= np.float32(-0.5) * certainty
        doubts += np.float32(1.0)
        self._variance *= doubts
        self._blocks += 1
        if self._blocks % GROWN_BLOCKS == 0:
            self._grow(FORGETTING ** (2 * GROWN_BLOCKS))

    def _grow(self, kept: float) -> None:
        """Let the doubt grow with the time: the room changes."""
        self._variance *= np.float32(kept)
        self._variance += np.float32(1 - kept) * (self._filter.real**2 + self._filter.imag**2)
        np.maximum(self._variance, np.float32(_LEAST_VARIANCE), out=self._variance)

    def _shorten(self) -> None:
        """Make of the next partitions filters of `BLOCK` samples, and not ones that wrap around."""
        turn = (self._blocks * SHORTENED + np.arange(SHORTENED)) % PARTITIONS
        samples = np.fft.irfft(self._filter[turn], axis=1)
        samples[:, BLOCK:] = 0.0
        self._filter[turn] = np.fft.rfft(samples, axis=1)
