"""Near-end detection: finds somebody who speaks while nakari does, as sound that its echo does not explain."""

import math
from collections import deque
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.echo.linear_echo import BLOCK, BLOCK_SECONDS, PARTITIONS, Block, LinearEcho
from audio.pcm import SAMPLE_RATE, Samples, power_ratio

BANDS_HZ: Final = (100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700, 4400,
                   5300, 6400, 7600)  # fmt: skip
"""Bounds of the bands that are compared: those of the ear (Zwicker), so that a voice fills many of them."""

COUNTS_FROM_DB: Final = 1.5
"""By which a band has to exceed what is expected of it and of the room, to count by what is beyond that."""

MOST_DB: Final = 15.0
"""Over what is expected, as which a band counts at most: a hum in one band is nobody."""

USUAL_QUANTILE: Final = 0.98
USUAL_STEP_DB: Final = 25.0 * BLOCK_SECONDS
USUAL_MOST_DB: Final = 1.5
"""What the average over the bands usually stays below while nakari speaks alone: found as the expectation is, up to so
much, so that whoever talks on does not become usual."""

STEADY_DB: Final = 0.2
"""Usual excess from which on the residual fluctuates by itself, as it does beside a loudspeaker and where it distorts;
across a room it is 0.0 to 0.2."""

MARGIN_DB: Final = 0.5
"""Over what is usual, from which on a block speaks for somebody; below it speaks against it."""

BLOCK_DB: Final = 1.2
EVIDENCE_DB: Final = 2.0
"""As which a block speaks for somebody at most, and what is enough: two loud ones, or more that are doubtful. Twice as
much is kept, so that it is soon over when nothing stands out any more."""

LEARNING_SECONDS: Final = 2.0
"""Seconds of nakari's speech before anything is noticed."""

QUANTILE: Final = 0.9
"""What is expected: this quantile of the residual, and of the room's noise, band by band."""

FIRST_STEP_DB: Final = 50.0 * BLOCK_SECONDS
STEP_DB: Final = 15.0 * BLOCK_SECONDS
"""By which the expectation follows from block to block, in the first `SETTLING_SECONDS` and later: so slowly that the
beginning of a quiet word is not expected before it is noticed."""

SETTLING_SECONDS: Final = 8.0
"""Seconds of nakari's speech in which the residual of the filter falls fast."""

PERSON_SECONDS: Final = 0.6
"""For which nothing is learned of what stands out; by then it is quiet for a person. What stays longer, though nakari
speaks, is the room's, and expected within two seconds."""

LOUD_QUANTILE: Final = 0.8
LOUD_STEP_DB: Final = 15.0 * BLOCK_SECONDS
FIRST_LOUD_DB: Final = -30.0
"""Where nakari's voice begins to be loud."""

FADING_DB: Final = 100.0 * BLOCK_SECONDS
"""By which the expected echo fades from block to block: the end of a reverberation that the filter is too short for."""

PROVEN_SECONDS: Final = 0.5
PROVEN_RATIO: Final = 0.1
"""Seconds of nakari's voice after which a path that was known before has to have lowered its echo by 10 dB."""

LOST_SECONDS: Final = 1.5
"""Seconds in which the filter makes the echo louder instead of lower: the room has changed, it begins anew."""

POWER_SMOOTHING: Final = 2.5 * BLOCK_SECONDS
"""Smoothing of the powers that are compared for that, from block to block (0.4 s)."""

AFTER_BLOCKS: Final = round(0.5 / BLOCK_SECONDS)
"""Blocks after the last sound in which its echo may still be heard; then nothing is computed at all."""

NOISE_FACTOR: Final = 1.5
"""Times the power of the room's noise is expected beside the residual: both at once exceed either quantile."""

LEAK_RANGE_DB: Final = (-40.0, 10.0)
NOISE_RANGE_DB: Final = (-90.0, -20.0)
DISTORTION_RANGE_DB: Final = (-60.0, 15.0)
"""Within which the three estimates are kept; each begins at its `FIRST`."""

FIRST_LEAK_DB: Final = -10.0
FIRST_NOISE_DB: Final = -75.0
FIRST_DISTORTION_DB: Final = -35.0
"""A filter that has learned little, a quiet room, and a loudspeaker that adds little."""

KEPT_BLOCKS: Final = round(2.2 / BLOCK_SECONDS)
"""Of what was followed last."""

_AUDIBLE: Final = 1e-7
"""Power of what is played, relative to full scale, from which on it sounds."""

_LEAST: Final = 1e-14
"""The smallest power that is told from none, relative to full scale."""

_QUIETEST_DB: Final = -60.0
"""Level of the echo from which on it counts for how loud it usually is."""

Bands: TypeAlias = NDArray[np.float64]
"""dB of each band, shape (3, bands)."""

Spectra: TypeAlias = NDArray[np.float32]
"""A power in each band, shape (bands,), or rows of that."""

Steps: TypeAlias = tuple[Spectra, Spectra]
"""Factors, shape (3, 1), by which the three estimates of `Expectation` rise and fall in one block."""


class Expectation:
    """Expected residual of the filter, noise of the room and distortion of the loudspeaker, learned band by band.

    The residual of a band follows the echo in that band. A loudspeaker that is overdriven puts harmonics of one loud
    formant into bands where the echo has nothing: its distortion follows the third power of the whole echo.

    Powers are compared as they are, and dB stand for factors: a logarithm of each costs more than all else here.
    """

    def __init__(self, learned: Bands | None = None) -> None:
        """Begin with what another one has `learned`, where there is something."""
        self._echo_power = np.zeros(_COUNT, np.float32)
        """Power of the echo in each band, fading."""
        self._distorting = _LEAST
        """Third power of the whole echo, against the square of a loud one, fading."""
        known_db = np.repeat([[FIRST_LEAK_DB], [FIRST_NOISE_DB], [FIRST_DISTORTION_DB]], _COUNT, axis=1)
        if learned is not None and learned.shape[1:] == known_db.shape[1:]:
            known_db[: len(learned)] = learned  # an older version learned the first two alone
        self._expected = (10 ** (known_db / 10)).astype(np.float32)
        """The quantiles of the residual against the echo (row 0), of the room's own noise (row 1) and of what the
        loudspeaker adds against `_distorting` (row 2), band by band."""
        self._loud_db = FIRST_LOUD_DB
        """The quantile of the level of the echo."""
        self._is_above = np.zeros((3, _COUNT), np.bool_)
        """Where the rest of the newest block is above each of the three."""
        self._is_taught = np.zeros((3, _COUNT), np.bool_)
        """Of which of the three the newest block tells: of that of which most was expected."""

    def exceeds(self, powers: Spectra) -> float:
        """Return by how much the rest (row 1) of an echo (row 0) exceeds what is expected of it.

        In dB, on average over the bands. To be called once for each block, before anything is learned from it.
        """
        echo, rest = powers
        level = max(float(np.add.reduce(echo)), _LEAST)
        self._follow_loudness(10 * math.log10(level))
        self._echo_power = np.maximum(echo, self._echo_power * _FADING)
        rest = np.maximum(rest, _LEAST)
        self._distorting = max(level**3 / power_ratio(2 * self._loud_db), self._distorting * _FADING, _LEAST)
        expected = self._expected.copy()
        expected[0] *= np.maximum(self._echo_power, _LEAST)
        expected[2] *= self._distorting
        np.greater(rest, expected, out=self._is_above)
        np.equal(expected, np.maximum.reduce(expected), out=self._is_taught)
        rest /= expected[0] + NOISE_FACTOR * expected[1] + expected[2]
        return 10 * float(np.add.reduce(np.log10(_within(rest, _COUNTED)))) / _COUNT - COUNTS_FROM_DB

    @property
    def learned(self) -> Bands:
        """The expected leak, noise and distortion, dB, shape (3, bands)."""
        decibels: Bands = 10 * np.log10(self._expected.astype(np.float64))
        return decibels

    def learn(self, steps: Steps) -> None:
        """Learn from the block: in each band that of which most was expected."""
        self._follow(steps, self._is_taught)

    def learn_noise(self) -> None:
        """Learn from the block that all that is left is the room's."""
        self._follow(_FIRST_STEPS, _NOISE)

    def _follow(self, steps: Steps, is_taught: NDArray[np.bool_]) -> None:
        """Move the estimates of the quantiles towards what was found (stochastic approximation)."""
        moved = np.where(self._is_above, *steps)
        moved *= self._expected
        self._expected = _within(np.where(is_taught, moved, self._expected), _RANGES)

    def _follow_loudness(self, level_db: float) -> None:
        """Learn how loud the echo is where it is loud."""
        if level_db > _QUIETEST_DB:
            self._loud_db += LOUD_STEP_DB * (LOUD_QUANTILE - (level_db <= self._loud_db))


class Evidence:
    """Accumulates evidence for a speaker block by block: a cumulative sum, which finds a change soonest."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """For which it has been enough, up to now."""
        self._usual_db = 0.0
        self._sum_db = 0.0

    @property
    def is_enough(self) -> bool:
        """Whether it is somebody."""
        return self._sum_db > EVIDENCE_DB

    @property
    def is_steady(self) -> bool:
        """Whether nakari's voice alone stays below what can be usual: a loudspeaker that distorts does not."""
        return self._usual_db < STEADY_DB

    def add(self, exceeded_db: float) -> None:
        """Take the next block: by how much it exceeds what was expected."""
        above_db = exceeded_db - self._usual_db
        if not self.is_enough:
            moved = self._usual_db + USUAL_STEP_DB * (USUAL_QUANTILE - (above_db <= 0.0))
            self._usual_db = min(max(moved, 0.0), USUAL_MOST_DB)
        self._sum_db = min(max(0.0, self._sum_db + min(above_db - MARGIN_DB, BLOCK_DB)), 2 * EVIDENCE_DB)
        self.seconds = self.seconds + BLOCK_SECONDS if self.is_enough else 0.0

    def drop(self) -> None:
        """Begin to add anew: nothing sounds."""
        self._sum_db = self.seconds = 0.0


class NearEnd:
    """Follows the microphone beside what was played. Pure; costs nothing while nothing is played.

    With the `path` and the `expected` that another one has `learned` in the same room it tells after half a second of
    nakari's voice, if that path lowers the echo; else they are forgotten.
    """

    def __init__(self, path: NDArray[np.float32] | None = None, expected: Bands | None = None) -> None:
        self.stands_out = False
        """Whether something that is neither echo nor the room's usual noise sounds in what was followed last."""
        self._is_recalled = path is not None and len(path) == PARTITIONS * BLOCK
        """Whether what is known is of a time before, and nobody knows yet whether it holds."""
        self._echo = LinearEcho(path if self._is_recalled else None)
        self._begun = np.zeros((2, 0), np.float32)
        """Microphone (row 0) and loudspeaker (row 1), relative to full scale: what is of the next block already."""
        self._is_fresh = False
        """Whether the block before was followed."""
        self._expectation = Expectation(expected if self._is_recalled else None)
        self._evidence = Evidence()
        self._learnt = 0.0
        """Seconds of nakari's speech."""
        self._lost = 0.0
        """Seconds of nakari's speech, up to now, that the filter did not explain."""
        self._powers = (0.0, 0.0)
        """Of the microphone and of the rest, smoothed."""
        self._left = 0
        """Blocks until it counts as silent."""
        self._unexplained: deque[NDArray[np.float32]] = deque(maxlen=KEPT_BLOCKS)
        """The microphone without the echo that the filter explains, block by block."""

    @property
    def is_steady(self) -> bool:
        """Whether the residual alone fluctuates so little that what stands out of it needs no other witness."""
        return self._evidence.is_steady

    def unexplained(self, seconds: float) -> Samples:
        """Return the newest of what was followed with the explained echo taken off: int16, 2.2 s at most."""
        kept = list(self._unexplained)[-round(seconds / BLOCK_SECONDS) :]
        sound = np.concatenate([*kept, np.zeros(0, np.float32)])
        return np.clip(sound * np.float32(32768), -32768, 32767).astype(np.int16)

    def follow(self, near: Samples, far: Samples) -> None:
        """Take what the microphone recorded, and what was played with it: int16, 16 kHz, of one length."""
        begun = self._begun.shape[1]
        sound = np.empty((2, begun + len(near)), np.float32)
        sound[:, :begun] = self._begun
        np.multiply(near, _SCALE, out=sound[0, begun:])
        np.multiply(far, _SCALE, out=sound[1, begun:])
        self.stands_out, start = False, 0
        while (end := start + BLOCK) <= sound.shape[1]:
            self.stands_out |= self._take(*sound[:, start:end])
            start = end
        self._begun = sound[:, start:]

    def _take(self, near: Block, far: Block) -> bool:
        """Follow one block; return whether somebody else stands out in it."""
        power = float(far.dot(far))
        self._left = AFTER_BLOCKS if power else self._left - 1
        if self._left <= 0:
            self._is_fresh = False
            self._evidence.drop()
            self._unexplained.append(near.copy())
            return False
        if not self._is_fresh:
            self._echo.begin_after(near)
            self._is_fresh = True
        explained = self._echo.explain(near, far)
        rest = explained.rest.copy()
        self._unexplained.append(rest)
        if power / BLOCK > _AUDIBLE:
            self._count_own_speech(float(near.dot(near)), float(rest.dot(rest)))
        self._evidence.add(self._expectation.exceeds(explained.powers @ _BANDS))
        self._learn()
        return self._learnt > LEARNING_SECONDS and self._evidence.is_enough

    def _learn(self) -> None:
        """Adapt what is expected: not while it may be a person that stands out."""
        if self._evidence.seconds > PERSON_SECONDS:
            self._expectation.learn_noise()
        elif self._learnt < SETTLING_SECONDS:
            self._expectation.learn(_FIRST_STEPS)
        elif not self._evidence.is_enough:
            self._expectation.learn(_LATER_STEPS)

    def _count_own_speech(self, near: float, rest: float) -> None:
        """Count a block of nakari's speech, by its two powers; begin anew where the filter has done harm for long."""
        self._learnt += BLOCK_SECONDS
        was_near, was_rest = self._powers
        self._powers = (was_near + POWER_SMOOTHING * (near - was_near), was_rest + POWER_SMOOTHING * (rest - was_rest))
        self._lost = self._lost + BLOCK_SECONDS if self._powers[1] > self._powers[0] else 0.0
        if self._is_recalled and self._learnt >= PROVEN_SECONDS:
            self._is_recalled = False
            if self._powers[1] < self._powers[0] * PROVEN_RATIO:
                self._learnt = SETTLING_SECONDS
            else:
                self._echo, self._expectation = LinearEcho(), Expectation()
        if self._lost > LOST_SECONDS:
            self._echo, self._learnt, self._lost = LinearEcho(), 0.0, 0.0

    @property
    def learned(self) -> tuple[NDArray[np.float32], Bands] | None:
        """The echo path and what is expected, for another one in the same room; None until it has settled."""
        return (self._echo.path, self._expectation.learned) if self._learnt >= SETTLING_SECONDS else None


def _within(values: Spectra, bounds: tuple[float, float] | tuple[Spectra, Spectra]) -> Spectra:
    """Return the values, none beyond the bounds: `np.clip` takes three times as long for so few."""
    within = np.maximum(values, bounds[0])
    return np.minimum(within, bounds[1], out=within)


def _rows(leak_db: float, noise_db: float, distortion_db: float) -> Spectra:
    """Return three numbers of dB as factors, shape (3, 1)."""
    return np.array([[power_ratio(leak_db)], [power_ratio(noise_db)], [power_ratio(distortion_db)]], np.float32)


def _steps(leak_db: float, noise_db: float) -> Steps:
    """Return the steps by which estimates that move by so much at most come to rest at the quantile."""
    up, down = QUANTILE, QUANTILE - 1
    return _rows(up * leak_db, up * noise_db, up * leak_db), _rows(down * leak_db, down * noise_db, down * leak_db)


def _bands() -> NDArray[np.float64]:
    """Return the share of the frequencies of a spectrum in the power of each band, shape (`BLOCK` + 1, bands)."""
    hertz = np.arange(BLOCK + 1)[:, None] * SAMPLE_RATE / (2 * BLOCK)
    bounds = np.array(BANDS_HZ)
    return ((hertz >= bounds[:-1]) & (hertz < bounds[1:])) * 2 / BLOCK


_SCALE: Final = np.float32(1 / 32768)
_BANDS: Final = _bands().astype(np.float32)
_COUNT: Final = len(BANDS_HZ) - 1
_FADING: Final = power_ratio(-FADING_DB)
_COUNTED: Final = (power_ratio(COUNTS_FROM_DB), power_ratio(MOST_DB))
_NOISE: Final = np.repeat([[False], [True], [False]], _COUNT, axis=1)
_LEAST_DB, _MOST_DB = zip(LEAK_RANGE_DB, NOISE_RANGE_DB, DISTORTION_RANGE_DB, strict=True)
_RANGES: Final = (_rows(*_LEAST_DB), _rows(*_MOST_DB))
_FIRST_STEPS: Final = _steps(FIRST_STEP_DB, FIRST_STEP_DB)
_LATER_STEPS: Final = _steps(STEP_DB, FIRST_STEP_DB)
