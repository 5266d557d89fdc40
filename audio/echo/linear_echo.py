"""The linear part of the echo: a filter that learns what the room makes of what was played."""

from importlib import import_module
from types import ModuleType
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE


def numpy_loops() -> ModuleType | None:
    """Return the module with numpy's loops, a private one; None where it is built otherwise."""
    try:
        found = import_module("numpy.fft._pocketfft_umath")
    except ImportError:
        return None
    return found if hasattr(found, "rfft_n_even") and hasattr(found, "irfft") else None


class Transforms:
    """Unitary Fourier transforms of blocks of `size` samples, an even number; any number of them, in the last axis.

    By numpy's loops where it has them: `numpy.fft` finds the loop, the axes and the factor anew in each call: 3 µs, as
    much as the transform of a block takes.
    """

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
_FIRST_ERROR: Final = 1.6e-9
_LEAST_VARIANCE: Final = 1e-10
_LEAST_POWER: Final = 1.6e-12
_SOUNDING: Final = 1.6e-7
"""Energy of two blocks, below which nothing is learned from them. Spectra are those of unitary transforms."""

Block: TypeAlias = NDArray[np.float32]
"""Samples relative to full scale, shape (`BLOCK`,)."""

_Spectrum: TypeAlias = NDArray[np.complex64]

_TRANSFORMS: Final = Transforms(2 * BLOCK, numpy_loops())

_RISING, _FALLING = np.hanning(2 * BLOCK + 1)[:-1].astype(np.float32).reshape(2, BLOCK)
"""The window over two blocks, the older one first."""


class Explained(NamedTuple):
    """One block of the microphone, in two parts."""

    echo: Block
    """Of what was played."""
    rest: Block
    """What is not explained by it."""
    powers: NDArray[np.float32]
    """Of both by frequency, shape (2, `BLOCK` + 1), through a Hann window over this block and the one before."""


class _Work:
    """What is written anew with each block, and its parts by name: to make it, or to name a part, costs a call."""

    def __init__(self) -> None:
        self.spectra = np.zeros((1 + SHORTENED, BLOCK + 1), np.complex64)
        """To be transformed back: of the echo, and the partitions that are to be shortened."""
        self.echo, self.turned = self.spectra[0], self.spectra[1:]
        self.sounds = np.zeros((1 + SHORTENED, 2 * BLOCK), np.float32)
        """Transformed back."""
        self.echoed, self.unwrapped = self.sounds[0, BLOCK:], self.sounds[1:, :BLOCK]
        self.frames = np.zeros((3 + SHORTENED, 2 * BLOCK), np.float32)
        """To be transformed: the rest behind silence, both parts through the window, the shortened partitions."""
        self.rest, self.shortened = self.frames[0, BLOCK:], self.frames[3:, :BLOCK]
        self.both_before, self.both = self.frames[1:3, :BLOCK], self.frames[1:3, BLOCK:]
        self.found = np.zeros((3 + SHORTENED, BLOCK + 1), np.complex64)
        """Transformed."""
        self.real, self.imag = self.found[:3].real, self.found[:3].imag
        self.powers = np.zeros((3, BLOCK + 1), np.float32)
        """Of the rest, and of both parts through the window."""
        self.step = np.zeros((PARTITIONS, BLOCK + 1), np.complex64)
        self.doubts = np.zeros((PARTITIONS, BLOCK + 1), np.float32)
        """Of the filter in one block."""


class LinearEcho:
    """A partitioned Kalman filter in the frequency domain: learns fast while nakari speaks alone, and slowly else.

    After Kuech, Mabande, Enzner: "State-space architecture of the partitioned-block-based acoustic echo controller"
    (ICASSP 2014). The step of each frequency follows from how sure the filter is of it, and from how much it could not
    explain lately: nobody has to decide when somebody speaks as well.
    Pure; 0.05 ms a block, a quarter of it in three Fourier transforms, each of all that is there to be transformed.
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
        """Spectra of what was played: those from `_newest` on are the last `PARTITIONS`, the newest first."""
        self._powers = np.zeros((2 * PARTITIONS, BLOCK + 1), np.float32)
        """Of them."""
        self._newest = PARTITIONS
        self._error = np.full(BLOCK + 1, _FIRST_ERROR, np.float32)
        """Power of what is not explained, by frequency."""
        self._heard = np.zeros(2 * BLOCK, np.float32)
        """What was played, the block before it in front."""
        self._parts = np.zeros((2, BLOCK), np.float32)
        """Echo and rest of the block before."""
        self._work = _Work()
        self._blocks = 0
        """Learned from so far."""

    @property
    def path(self) -> NDArray[np.float32]:
        """The impulse response from what was played to the microphone, shape (`PARTITIONS` * `BLOCK`,)."""
        return np.fft.irfft(self._filter, axis=1)[:, :BLOCK].ravel().astype(np.float32, copy=False)

    def begin_after(self, near: Block) -> None:
        """Take a block before which nothing was followed for the one before the next: all of it is rest."""
        self._parts[0] = 0.0
        self._parts[1] = near

    def explain(self, near: Block, far: Block) -> Explained:
        """Return how much of `near` is the echo of what was played, and the rest; learn from it.

        `far` is what was played with it, some milliseconds early. Blocks come in order, without a gap. Echo and rest
        hold until the next one.
        """
        power = self._push(far)
        window = slice(self._newest, self._newest + PARTITIONS)
        played, powers = self._played[window], self._powers[window]
        work, parts, turn = self._work, self._parts, _TURNS[self._blocks % PARTITIONS]
        np.add.reduce(np.multiply(self._filter, played, out=work.step), axis=0, out=work.echo)
        work.turned[...] = self._filter[turn]
        _TRANSFORMS.back(work.spectra, work.sounds)
        np.multiply(parts, _RISING, out=work.both_before)
        parts[0] = work.echoed
        rest = np.subtract(near, work.echoed, out=parts[1])
        np.multiply(parts, _FALLING, out=work.both)
        work.rest[...] = rest
        work.shortened[...] = work.unwrapped
        _TRANSFORMS.forward(work.frames, work.found)
        np.square(work.real, out=work.powers)
        work.powers += np.square(work.imag)
        if np.add.reduce(power) > _SOUNDING:
            self._filter[turn] = work.found[3:]
            self._learn(played, powers, work.found[0])
        self._error += np.float32(_ERROR_SMOOTHING) * (work.powers[0] - self._error)
        return Explained(parts[0], rest, work.powers[1:])

    def _push(self, far: Block) -> NDArray[np.float32]:
        """Take what was played next; return the power of its spectrum."""
        if self._newest == 0:  # the oldest is not needed any more
            for rows in (self._played, self._powers):
                rows[PARTITIONS + 1 :] = rows[: PARTITIONS - 1]
            self._newest = PARTITIONS + 1
        self._newest -= 1
        self._heard[:BLOCK] = self._heard[BLOCK:]
        self._heard[BLOCK:] = far
        spectrum: _Spectrum = self._played[self._newest]
        power: NDArray[np.float32] = self._powers[self._newest]
        _TRANSFORMS.forward(self._heard, spectrum)
        np.square(spectrum.real, out=power)
        power += np.square(spectrum.imag)
        return power

    def _learn(self, played: _Spectrum, powers: NDArray[np.float32], error: _Spectrum) -> None:
        doubts, step = self._work.doubts, self._work.step
        np.multiply(powers, self._variance, out=doubts)
        certainty = 1 / (np.add.reduce(doubts, axis=0) + 2 * self._error + np.float32(_LEAST_POWER))
        # (step * conj(played) * error), conjugated twice: of the small factor once instead of the large one.
        np.multiply(self._variance, np.conj(certainty * error), out=step)
        step *= played
        self._filter += np.conj(step, out=step)
        doubts *= np.float32(-0.5) * certainty
        doubts += np.float32(1.0)
        self._variance *= doubts
        self._blocks += 1
        if self._blocks % GROWN_BLOCKS == 0:
            kept = FORGETTING ** (2 * GROWN_BLOCKS)
            self._variance *= np.float32(kept)
            self._variance += np.float32(1 - kept) * (self._filter.real**2 + self._filter.imag**2)
            np.maximum(self._variance, np.float32(_LEAST_VARIANCE), out=self._variance)


def _turns() -> tuple[slice | NDArray[np.int64], ...]:
    """Return which partitions are kept from wrapping around before a block is learned, by its number."""
    turns: list[slice | NDArray[np.int64]] = []
    for first in (block * SHORTENED % PARTITIONS for block in range(PARTITIONS)):
        is_whole = first + SHORTENED <= PARTITIONS
        rows = slice(first, first + SHORTENED)
        turns.append(rows if is_whole else np.arange(first, first + SHORTENED) % PARTITIONS)
    return tuple(turns)


_TURNS: Final = _turns()
