"""How her voice comes back, learned as a linear filter: what it cannot explain may be somebody, however quiet."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE

BLOCK: Final = 320
"""Samples (20 ms) that are explained at once."""

BLOCK_SECONDS: Final = BLOCK / SAMPLE_RATE

PARTITIONS: Final = 10
"""Blocks of what was played that are heard in one of them (0.2 s): the lead, the air, most of the room."""

FORGETTING: Final = 0.9995
"""Of what was learned, from block to block: a room changes within half a minute."""

_ERROR_SMOOTHING: Final = 0.2
_LEAST_VARIANCE: Final = 1e-10
_AUDIBLE: Final = 1e-4
"""Energy of a block's spectrum below which nothing is learned of it."""

Block: TypeAlias = NDArray[np.float64]
"""Samples relative to full scale, shape (`BLOCK`,)."""


class LinearEcho:
    """A Kalman filter in the frequency domain, in partitions: it learns fast while she is alone, and hardly else.

    After Kuech, Mabande, Enzner: "State-space architecture of the partitioned-block-based acoustic echo controller"
    (ICASSP 2014). The step of each frequency follows from how sure the filter is of it, and from how much of what it
    could not explain is not hers, so that nobody has to decide when somebody speaks as well. Pure; 0.15 ms a block.
    """

    def __init__(self) -> None:
        shape = (PARTITIONS, BLOCK + 1)
        self._filter = np.zeros(shape, np.complex128)
        self._variance = np.ones(shape)
        """Of the filter: how wrong it may be."""
        self._played = np.zeros(shape, np.complex128)
        """Spectra of what was played, the newest first."""
        self._error = np.full(BLOCK + 1, 1e-6)
        """Power of what was not explained, by frequency."""
        self._before: Block = np.zeros(BLOCK)

    def explain(self, near: Block, far: Block) -> tuple[Block, Block]:
        """Return how much of `near` is the echo of what was played, and the rest; learn from it.

        `far` is what was played with it, some milliseconds early. Blocks come in order, without a gap.
        """
        self._played = np.roll(self._played, 1, axis=0)
        self._played[0] = np.fft.rfft(np.concatenate([self._before, far]))
        self._before = far
        hers = np.fft.irfft((self._filter * self._played).sum(axis=0))[BLOCK:]
        rest = near - hers
        self._learn(np.fft.rfft(np.concatenate([np.zeros(BLOCK), rest])))
        return hers, rest

    def _learn(self, error: NDArray[np.complex128]) -> None:
        powers = np.abs(self._played) ** 2
        self._error += _ERROR_SMOOTHING * (np.abs(error) ** 2 - self._error)
        if powers[0].sum() <= _AUDIBLE:
            return
        step = self._variance / ((powers * self._variance).sum(axis=0) + 2 * self._error + 1e-9)
        change = np.fft.irfft(step * np.conj(self._played) * error, axis=1)
        change[:, BLOCK:] = 0.0  # a filter of so many samples, and not one that wraps around
        self._filter += np.fft.rfft(change, axis=1)
        kept = FORGETTING**2
        self._variance *= kept * (1 - 0.5 * step * powers)
        self._variance += (1 - kept) * np.abs(self._filter) ** 2
        np.maximum(self._variance, _LEAST_VARIANCE, out=self._variance)
