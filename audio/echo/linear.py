"""How its voice comes back, learned as a linear filter: what it cannot explain may be somebody, however quiet."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE

BLOCK: Final = 320
"""Samples (20 ms) that are explained at once."""

BLOCK_SECONDS: Final = BLOCK / SAMPLE_RATE

PARTITIONS: Final = 20
"""Blocks of what was played that are heard in one of them (0.4 s): the lead, the air, most of a tiled room."""

FORGETTING: Final = 0.9995
"""Of what was learned, from block to block: a room changes within half a minute."""

FIRST_VARIANCE: Final = 0.3
FADING_DB: Final = 1.5
"""How strong an echo is thought possible before any was heard, and by how much less a partition later."""

SHORTENED: Final = 3
"""Partitions a block, in turn, that are kept from wrapping around: that is most of the cost, and needs no hurry."""

_ERROR_SMOOTHING: Final = 0.2
_FIRST_ERROR: Final = 1e-6
_LEAST_VARIANCE: Final = 1e-10
_LEAST_POWER: Final = 1e-9
_AUDIBLE: Final = 1e-4
"""Energy of a block's spectrum below which nothing is learned of it."""

Block: TypeAlias = NDArray[np.float32]
"""Samples relative to full scale, shape (`BLOCK`,)."""

_Spectrum: TypeAlias = NDArray[np.complex64]


class LinearEcho:
    """A Kalman filter in the frequency domain, in partitions: it learns fast while it is alone, and hardly else.

    After Kuech, Mabande, Enzner: "State-space architecture of the partitioned-block-based acoustic echo controller"
    (ICASSP 2014). The step of each frequency follows from how sure the filter is of it, and from how much of what it
    cannot explain, when it has learned the block, is not its own: nobody has to decide when somebody speaks as well.
    Pure; 0.2 ms a block.
    """

    def __init__(self) -> None:
        shape = (PARTITIONS, BLOCK + 1)
        likely = FIRST_VARIANCE * 10 ** (-FADING_DB * np.arange(PARTITIONS, dtype=np.float32) / 10)
        self._filter = np.zeros(shape, np.complex64)
        self._variance = np.repeat(likely[:, None], BLOCK + 1, axis=1)
        """Of the filter: how wrong it may be."""
        self._played = np.zeros(shape, np.complex64)
        """Spectra of what was played, the newest first."""
        self._powers = np.zeros(shape, np.float32)
        """Of them."""
        self._error = np.full(BLOCK + 1, _FIRST_ERROR, np.float32)
        """Power of what is not explained, by frequency."""
        self._before: Block = np.zeros(BLOCK, np.float32)
        self._turn = 0
        """The partition that is shortened next."""

    def explain(self, near: Block, far: Block) -> tuple[Block, Block]:
        """Return how much of `near` is the echo of what was played, and the rest; learn from it.

        `far` is what was played with it, some milliseconds early. Blocks come in order, without a gap.
        """
        self._played[1:], self._powers[1:] = self._played[:-1].copy(), self._powers[:-1].copy()
        self._played[0] = np.fft.rfft(np.concatenate([self._before, far]))
        self._powers[0] = np.abs(self._played[0]) ** 2
        self._before = far
        hers = self._echo()
        rest = near - hers
        if self._powers[0].sum() > _AUDIBLE:
            self._learn(_spectrum(rest))
            self._note(_spectrum(near - self._echo()))
        else:
            self._note(_spectrum(rest))
        return hers, rest

    def _echo(self) -> Block:
        return np.fft.irfft((self._filter * self._played).sum(axis=0))[BLOCK:].astype(np.float32, copy=False)

    def _note(self, error: _Spectrum) -> None:
        self._error += np.float32(_ERROR_SMOOTHING) * (np.abs(error) ** 2 - self._error)

    def _learn(self, error: _Spectrum) -> None:
        doubt = (self._powers * self._variance).sum(axis=0)
        step = self._variance / (doubt + 2 * self._error + np.float32(_LEAST_POWER))
        self._filter += step * np.conj(self._played) * error
        self._shorten()
        kept = FORGETTING**2
        self._variance *= np.float32(kept) * (1 - np.float32(0.5) * step * self._powers)
        self._variance += np.float32(1 - kept) * np.abs(self._filter) ** 2
        np.maximum(self._variance, np.float32(_LEAST_VARIANCE), out=self._variance)

    def _shorten(self) -> None:
        """Make of the next partitions filters of `BLOCK` samples, and not ones that wrap around."""
        turn = (self._turn + np.arange(SHORTENED)) % PARTITIONS
        self._turn = (self._turn + SHORTENED) % PARTITIONS
        samples = np.fft.irfft(self._filter[turn], axis=1)
        samples[:, BLOCK:] = 0.0
        self._filter[turn] = np.fft.rfft(samples, axis=1)


def _spectrum(block: Block) -> _Spectrum:
    return np.fft.rfft(np.concatenate([np.zeros(BLOCK, np.float32), block])).astype(np.complex64, copy=False)
