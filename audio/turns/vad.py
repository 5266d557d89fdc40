"""Voice activity detection: the energy gate in front of Silero, and the detector that the ears get."""

from collections import deque
from collections.abc import Callable, Mapping
from math import inf, log10, sqrt
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, Samples, rms_dbfs
from audio.turns.endpointer import SPEECH_GOES_ON
from audio.turns.silero import load_silero

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PRE_ROLL_CHUNKS: Final = 8
"""A quarter of a second that the detector is fed when the gate opens: what it keeps in mind is about that long."""

SMOOTHING: Final = 0.3
"""Share of a new chunk in the short-time level, which rises with a weak voice before any one chunk stands out."""

MARGIN_DB: Final = 1.5
"""A chunk so much above the background's level is looked at by the detector ... (This and what follows is tuned on 41
clips in five noises at 20, 10, 5 and 0 dB: none was lost.)"""

MARGIN_DEVIATIONS: Final = 4.0
"""... or, where that is more, so many of its own deviations: a narrow hum fluctuates more than rain."""

WIDEST_DB: Final = 4.0
"""A band in which that comes to more is unsteady; with none steady (music, talk) the gate stays open."""

CALM_PROBABILITY: Final = 0.1
"""The detector has to say less than this for a chunk to count as background."""

CALM_CHUNKS: Final = round(0.8 / CHUNK_SECONDS)
"""And that for so long (0.8 s) before the gate closes; the gaps between words are shorter."""

LEARNING: Final = 0.05
"""Share of a new chunk in the background's level: another one is learnt within a second or two."""

LEARNING_UNASKED: Final = 0.01
"""The same for its deviation while the gate is closed: a voice just under the margin must not widen it."""

RAISED_DBFS: Final = -40.0
"""RMS level to which the loudest of weak speech is raised for the detector. Silero is less sure of what is weaker, and
so is the evidence. Chosen on 55 clips from -27 to -60 dBFS and read on others: docs/decisions/0159."""

MOST_RAISED_DB: Final = 20.0
"""A microphone's own noise is raised by no more."""

FORGOTTEN_DB: Final = 6.0 * CHUNK_SECONDS
"""By which the loudest speech counts less with each chunk of speech (6 dB a second): the next voice may be farther."""

Levels: TypeAlias = tuple[float, float, float]
"""Of one chunk in three bands, dB above one step of the converter: all below 2 kHz; the same with rumble and hum (under
300 Hz) damped; mostly what is above 2 kHz."""


class _Background:
    """Level and deviation (dB) of what the detector calls no speech, in one band."""

    def __init__(self) -> None:
        self._mean = 0.0
        self._variance = inf
        self._chunks = 0
        """Learnt from so far."""
        self._drift = 0.0
        """How far the short-time level is above the mean."""
        self._margin = self._wide()
        """Decibels above its mean at which a chunk no longer is background."""

    def _wide(self) -> float:
        return max(MARGIN_DB, MARGIN_DEVIATIONS * sqrt(self._variance))

    @property
    def is_steady(self) -> bool:
        """Whether speech can be told from it by the level."""
        return self._margin <= WIDEST_DB

    def state(self) -> tuple[float, ...]:
        """Return all that was learnt."""
        return self._mean, self._variance, float(self._chunks), self._drift

    def recall(self, learnt: tuple[float, ...]) -> None:
        """Go on from what was learnt before."""
        self._mean, self._variance, chunks, self._drift = learnt
        self._chunks, self._margin = int(chunks), self._wide()

    def holds(self, level: float) -> bool:
        """Follow the next chunk's level (dB); return whether it is the background's. Quieter than it always is."""
        above = level - self._mean
        self._drift += SMOOTHING * (above - self._drift)
        return above <= self._margin and self._drift <= self._margin / 2.0

    def learn(self, level: float, *, was_asked: bool) -> None:
        """Take the level (dB) of a chunk that is background: the detector said so, or was not asked."""
        self._chunks += 1
        if self._chunks == 1:
            self._mean, self._variance = level, WIDEST_DB**2
        else:
            above = level - self._mean
            alike = 1.0 / self._chunks  # the first ones count alike
            self._mean += max(LEARNING, alike) * above
            share = max(LEARNING if was_asked else LEARNING_UNASKED, alike)
            self._variance += share * (above * above - self._variance)
        self._margin = self._wide()


def _always() -> bool:
    return True


def never_plain() -> bool:
    """Say that nakari may be heard in any chunk, as `is_plain`: of a microphone elsewhere, which cancels by itself."""
    return False


class RaisedDetector(VoiceDetector):
    """A `VoiceDetector` around another, which gets weak sound raised: a microphone turned low, somebody far away.

    The loudest of the speech that was heard last decides, so that speech keeps its rise and fall, and a room in which
    nobody has spoken weakly is never raised. What is loud stays as it is, and so does what may hold nakari's own voice:
    what cancelling leaves of it is weak too.
    """

    def __init__(self, detector: VoiceDetector, is_plain: Callable[[], bool] = _always) -> None:
        """`is_plain` says whether nothing of nakari's own voice can be in the chunk that is asked about."""
        self._detector = detector
        self._is_plain = is_plain
        self._loudest = inf
        """Level (dBFS) of the loudest chunk of speech, forgotten by and by; infinite before there was any."""

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in [0, 1] for one chunk of 512 samples at 16 kHz."""
        level = rms_dbfs(samples)
        weaker = min(MOST_RAISED_DB, RAISED_DBFS - max(level, self._loudest))
        if weaker > 0 and self._is_plain():
            louder = np.rint(samples * np.float32(10 ** (weaker / 20)))
            samples = np.asarray(np.clip(louder, -32768, 32767), np.int16)
        probability = self._detector.probability(samples)
        if probability >= SPEECH_GOES_ON:
            self._loudest = level if self._loudest == inf else max(level, self._loudest - FORGOTTEN_DB)
        return probability

    def reset(self) -> None:
        """Forget the state, as at the start of a new source."""
        self._detector.reset()
        self._loudest = inf

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return what it and the detector behind it remember."""
        return {**self._detector.state(), "loudest": self._loudest}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of its own; one of before there was any knows no loudest."""
        self._detector.recall(state)
        self._loudest = float(np.asarray(state.get("loudest", inf)))


class EnergyGate(VoiceDetector):
    """A `VoiceDetector` around another: answers 0 for chunks at the background's level, asks the other for the rest.

    The background is learnt from the chunks that the other called no speech. While it is unknown or unsteady in all
    bands every chunk is asked for. When the gate opens, the detector is fed the last quarter of a second first, so that
    its state is what it would have been; the chunk that opened is answered by the detector.
    """

    def __init__(self, detector: VoiceDetector) -> None:
        self._detector = detector
        self._skipped: deque[Samples] = deque(maxlen=PRE_ROLL_CHUNKS)
        self._bands = self._unknown()
        self._calm = 0
        """Chunks in a row that were background."""
        self.asked = 0
        """Chunks that the detector was asked for since the start, pre-roll included."""

    @property
    def is_open(self) -> bool:
        """Whether the detector is asked for every chunk."""
        return self._calm < CALM_CHUNKS

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in [0, 1] for one chunk of 512 samples at 16 kHz."""
        levels = levels_of(samples)
        is_calm = self._holds(levels)
        if not self.is_open:
            if is_calm:
                self._skipped.append(samples)
                self._learn(levels, was_asked=False)
                return 0.0
            self._catch_up()
        self.asked += 1
        probability = self._detector.probability(samples)
        is_background = probability < CALM_PROBABILITY
        if is_background:
            self._learn(levels, was_asked=True)
        self._calm = self._calm + 1 if is_calm and is_background else 0
        return probability

    def reset(self) -> None:
        """Forget the state and the background, as at the start of a new source."""
        self._detector.reset()
        self._skipped.clear()
        self._calm = 0
        self._bands = self._unknown()

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return what it and the detector behind it remember."""
        bands, behind = tuple(band.state() for band in self._bands), self._detector.state()
        return {**behind, "gate_bands": bands, "gate_calm": self._calm, "gate_skipped": tuple(self._skipped)}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of its own."""
        self._detector.recall(state)
        for band, learnt in zip(self._bands, np.asarray(state["gate_bands"], np.float64), strict=True):
            band.recall(tuple(map(float, learnt)))
        self._calm = int(np.asarray(state["gate_calm"]))
        skipped = np.asarray(state["gate_skipped"], np.int16)
        self._skipped = deque(skipped.reshape(-1, CHUNK_SAMPLES), PRE_ROLL_CHUNKS)

    def _unknown(self) -> list[_Background]:
        return [_Background() for _ in range(3)]

    def _holds(self, levels: Levels) -> bool:
        """Return whether every band is at its background and one of them is steady; all follow the level."""
        held = [band.holds(level) for band, level in zip(self._bands, levels, strict=True)]
        return all(held) and any(band.is_steady for band in self._bands)

    def _learn(self, levels: Levels, *, was_asked: bool) -> None:
        for band, level in zip(self._bands, levels, strict=True):
            band.learn(level, was_asked=was_asked)

    def _catch_up(self) -> None:
        for samples in self._skipped:
            self._detector.probability(samples)
        self.asked += len(self._skipped)
        self._skipped.clear()
        self._calm = 0


def levels_of(samples: Samples) -> Levels:
    """Return the level in the three bands, cheaply.

    Sums of four samples are a low pass at 2 kHz, the differences of neighbouring sums damp its low end, the differences
    of neighbouring samples are a high pass.
    """
    wave = samples.astype(np.float32)
    pairs = wave[::2] + wave[1::2]
    bass = pairs[::2] + pairs[1::2]  # a product of matrices costs more after each sleep than all else here
    return _decibels(bass), _decibels(bass[1:] - bass[:-1]), _decibels(wave[1:] - wave[:-1])


def _decibels(band: NDArray[np.float32]) -> float:
    """Return the mean square in dB; what is below one step of the converter, digital silence too, is 0."""
    power = float(band.dot(band)) / len(band)
    return 10.0 * log10(power) if power > 1.0 else 0.0


class LoadDetector(Protocol):
    """Loads a detector; blocking."""

    def __call__(self, is_plain: Callable[[], bool] = ...) -> VoiceDetector:
        """Return one for sound of which `is_plain` says whether nothing of nakari's own voice can be in it."""


def load_detector(is_plain: Callable[[], bool] = _always) -> VoiceDetector:
    """Return the detector of the box: Silero behind the energy gate, what is weak raised for it while `is_plain`.

    Raises `ModelNotFound` as `load_silero`.
    """
    return EnergyGate(RaisedDetector(load_silero(), is_plain))


class LateDetector(VoiceDetector):
    """A detector that is loaded when there is something to hear: a box without a microphone needs none."""

    def __init__(self, load: Callable[[], VoiceDetector]) -> None:
        self._load = load
        self._detector: VoiceDetector | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether chunks can be asked about without waiting."""
        return self._detector is not None

    def load(self) -> VoiceDetector:
        """Load it, the first time. Blocking (0.2 s). Raises what its loader raises."""
        if self._detector is None:
            self._detector = self._load()
        return self._detector

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in [0, 1] for one chunk."""
        return self.load().probability(samples)

    def reset(self) -> None:
        """Forget the state, where there is one."""
        if self._detector is not None:
            self._detector.reset()

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return what the detector remembers; {} of one that is not loaded."""
        return self._detector.state() if self._detector is not None else {}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of the detector's."""
        self.load().recall(state)
