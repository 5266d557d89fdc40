"""Unitary Fourier transforms of short real blocks in single precision: numpy's, by its loops where it has them.

`numpy.fft` finds the loop, the axes and the factor anew in each call: 3 µs, as much as the transform of a block takes.
"""

from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray


def numpy_loops() -> ModuleType | None:
    """Return the module with numpy's loops, a private one; None where it is built otherwise."""
    try:
        found = import_module("numpy.fft._pocketfft_umath")
    except ImportError:
        return None
    return found if hasattr(found, "rfft_n_even") and hasattr(found, "irfft") else None


class Transforms:
    """Both directions, for blocks of `size` samples, an even number; any number of them, in the last axis."""

    def __init__(self, size: int, loops: ModuleType | None) -> None:
        """Without `loops` it is done by `numpy.fft`, with the same results."""
        self._factor = 1 / np.sqrt(np.float32(size))
        self._loops = loops

    def forward(self, blocks: NDArray[np.float32], out: NDArray[np.complex64]) -> None:
        """Write the spectra of the blocks to `out`, shape (..., `size` // 2 + 1)."""
        if self._loops is not None:
            self._loops.rfft_n_even(blocks, self._factor, out=out)
        else:
            out[...] = np.fft.rfft(blocks, norm="ortho")

    def back(self, spectra: NDArray[np.complex64], out: NDArray[np.float32]) -> None:
        """Write the blocks with these spectra to `out`, shape (..., `size`)."""
        if self._loops is not None:
            self._loops.irfft(spectra, self._factor, out=out)
        else:
            out[...] = np.fft.irfft(spectra, norm="ortho")
