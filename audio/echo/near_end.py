"""Somebody besides her, while she speaks: what her echo does not explain, before a voice detector hears through it."""

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.echo.linear import BLOCK, BLOCK_SECONDS, Block, LinearEcho
from audio.pcm import SAMPLE_RATE, Samples

BANDS_HZ: Final = (100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700, 4400,
                   5300, 6400, 7600)  # fmt: skip
"""Bounds of the bands in which it is looked for: those of the ear (Zwicker), so that a voice fills many of them."""

ABOVE_DB: Final = 3.0
"""By which what is there exceeds what is expected of her and of the room, on average over the bands."""

MOST_DB: Final = 15.0
"""Most that one band may count for, above or below: a hum in one band is nobody."""

BLOCKS: Final = 2
WITHIN: Final = 3
"""So many of so many blocks (20 ms) have to stand out: a single one is as often a click."""

LEARNING_SECONDS: Final = 2.0
"""Of her speech before anything is noticed."""

QUANTILE: Final = 0.9
"""What is expected: this quantile of what is left of her, and of the room's noise, band by band."""

STEP_DB: Final = 1.0
"""Most by which the expectation follows from block to block: a sound that stays is expected within a second."""

FADING_DB: Final = 100.0 * BLOCK_SECONDS
"""By which her power fades from block to block: the end of a reverberation that the filter is too short for."""

LOST_SECONDS: Final = 1.5
"""Of her voice in which the rest is louder than what the filter explains: the room has changed, it begins anew."""

AFTER_BLOCKS: Final = round(0.5 / BLOCK_SECONDS)
"""After her last sound in which her echo may still be heard; then nothing is computed at all."""

NOISE_FACTOR: Final = 1.5
"""Times the power of the room's noise is expected beside what is left of her: both at once exceed either quantile."""

LEAK_RANGE_DB: Final = (-40.0, 10.0)
NOISE_RANGE_DB: Final = (-90.0, -20.0)
"""Within which the two estimates are kept; they begin at `FIRST_LEAK_DB` and `FIRST_NOISE_DB`."""

FIRST_LEAK_DB: Final = -10.0
FIRST_NOISE_DB: Final = -75.0
"""A filter that has learned little, and a quiet room."""

_AUDIBLE: Final = 1e-7
"""Power of what is played, relative to full scale, from which on she sounds."""


class NearEnd:
    """Follows a microphone beside what was played. Pure; costs nothing while she is silent."""

    def __init__(self) -> None:
        self.stands_out = False
        """Whether something that is neither she nor the room's usual noise began in what was followed last."""
        self._echo = LinearEcho()
        self._waiting: NDArray[np.float64] = np.zeros((2, 0))
        """Samples of microphone (row 0) and loudspeaker (row 1) that do not fill a block yet."""
        self._before: NDArray[np.float64] = np.zeros((2, BLOCK))
        """The last block of her echo (row 0) and of the rest (row 1): the first half of the next spectrum."""
        self._hers = np.zeros(len(BANDS_HZ) - 1)
        """Power of what is hers in each band, fading."""
        self._leak_db = np.full(len(BANDS_HZ) - 1, FIRST_LEAK_DB)
        """The quantile of what the filter leaves of it, band by band, against it."""
        self._noise_db = np.full(len(BANDS_HZ) - 1, FIRST_NOISE_DB)
        """The quantile of the room's own noise, band by band."""
        self._learnt = 0.0
        """Seconds of her speech."""
        self._lost = 0.0
        """Seconds of her speech, up to now, that the filter did not explain."""
        self._left = 0
        """Blocks until she counts as silent."""
        self._loud: deque[bool] = deque(maxlen=WITHIN)
        """Whether each of the newest blocks exceeds what is expected."""

    def follow(self, near: Samples, far: Samples) -> None:
        """Take what the microphone recorded, and what was played with it: int16, 16 kHz, of one length."""
        fresh = np.stack([near, far]) / 32768.0
        self._waiting = np.concatenate([self._waiting, fresh], axis=1)
        self.stands_out = False
        while self._waiting.shape[1] >= BLOCK:
            block, self._waiting = self._waiting[:, :BLOCK], self._waiting[:, BLOCK:]
            self.stands_out |= self._take(block[0], block[1])

    def _take(self, near: Block, far: Block) -> bool:
        """Follow one block; return whether somebody besides her stands out in it."""
        sounds = float(far @ far) / BLOCK > _AUDIBLE
        self._left = AFTER_BLOCKS if sounds else self._left - 1
        if self._left <= 0:
            self._before = np.stack([np.zeros(BLOCK), near])
            self._loud.clear()
            return False
        if sounds:
            self._count_her_speech()
        parts = np.stack(self._echo.explain(near, far))
        hers, rest = _by_band(np.concatenate([self._before, parts], axis=1))
        self._before = parts
        self._loud.append(self._excess(hers, rest) > ABOVE_DB)
        return self._learnt > LEARNING_SECONDS and self._loud[-1] and sum(self._loud) >= BLOCKS

    def _count_her_speech(self) -> None:
        """Count a block of her speech; begin anew where the filter has been of no use for long."""
        self._learnt += BLOCK_SECONDS
        self._lost = self._lost + BLOCK_SECONDS if np.mean(self._leak_db) > 0.0 else 0.0
        if self._lost > LOST_SECONDS:
            self._echo, self._learnt, self._lost = LinearEcho(), 0.0, 0.0

    def _excess(self, hers: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
        """Return by how much the rest exceeds what was expected, dB on average over the bands; then adapt what is.

        `hers` and `rest` are powers, shape (bands,). A band where more of her is expected than of the room's noise
        tells of the leak, the others of the noise.
        """
        self._hers = np.maximum(hers, self._hers * 10 ** (-FADING_DB / 10))
        hers_db, rest_db = _db(self._hers), _db(rest)
        left_db = hers_db + self._leak_db
        expected_db = _db(10 ** (left_db / 10) + NOISE_FACTOR * 10 ** (self._noise_db / 10))
        is_hers = left_db > self._noise_db
        self._leak_db = np.where(is_hers, _followed(self._leak_db, rest_db - hers_db, LEAK_RANGE_DB), self._leak_db)
        self._noise_db = np.where(is_hers, self._noise_db, _followed(self._noise_db, rest_db, NOISE_RANGE_DB))
        return float(np.mean(np.clip(rest_db - expected_db, -MOST_DB, MOST_DB)))


def _followed(
    expected: NDArray[np.float64], found: NDArray[np.float64], within: tuple[float, float]
) -> NDArray[np.float64]:
    """Return an estimate of the quantile, moved towards what was found (stochastic approximation)."""
    moved = expected + STEP_DB * np.where(found > expected, QUANTILE, QUANTILE - 1)
    return np.clip(moved, *within)


def _by_band(sounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the power in each band of sounds of two blocks each, shape (sounds, bands)."""
    spectra = np.abs(np.fft.rfft(sounds * _WINDOW)) ** 2 / BLOCK**2
    return spectra @ _BANDS.T


def _db(power: NDArray[np.float64]) -> NDArray[np.float64]:
    decibels: NDArray[np.float64] = 10 * np.log10(np.maximum(power, 1e-14))
    return decibels


def _bands() -> NDArray[np.float64]:
    """Return which frequencies of a spectrum are in which band, 0 or 1, shape (bands, `BLOCK` + 1)."""
    hertz = np.arange(BLOCK + 1) * SAMPLE_RATE / (2 * BLOCK)
    bounds = np.array(BANDS_HZ)
    return ((hertz >= bounds[:-1, None]) & (hertz < bounds[1:, None])).astype(np.float64)


_WINDOW: Final = np.hanning(2 * BLOCK + 1)[:-1]
_BANDS: Final = _bands()
