"""Reflex words spotted in sound by pocketsphinx, without a model: English, and only when nothing else was said."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import structlog

from audio.errors import RecognitionFailed
from audio.pcm import CHUNK_SECONDS, AudioChunk, Samples
from audio.recognizer.keyword_decoder import KeywordDecoder
from audio.reflexes.words import REFLEXES, Reflex, asked
from audio.turns.endpointer import SPEECH_BEGINS, SPEECH_GOES_ON

log = structlog.get_logger()

THRESHOLDS: Final[Mapping[str, float]] = {
    **{"stop": -12, "stop it": -18, "stop talking": -20, "be quiet": -20, "shut up": -12, "quiet": 0, "enough": -2},
    **{"wait": -10, "hold on": -20, "pause": -9, "go on": -18, "continue": -20, "resume": -10},
    **{"quieter": -14, "softer": -22, "volume down": -20, "turn it down": -20},
    **{"louder": -18, "volume up": -20, "turn it up": -20, "speak up": -20},
    **{"repeat": -20, "repeat that": -20, "say that again": -20, "say again": -20},
    **{"mute": -10, "mute yourself": -20},
}
"""What is listened for, and the decimal exponent by which it may be less likely than any other string of phones.

Measured (docs/decisions/0016): each stands above the best of 572 pieces of human speech that is none of these, cut at
every pause, and at -20 where no such piece came near it."""

OVER_OWN_VOICE: Final[Mapping[str, float]] = {"stop": -10.0, "wait": -6.0}
"""Added to the threshold while nakari speaks: its residual echo costs a word some 10 (simulated room, double talk at
-24 dBFS: stop at -14 and -17), who speaks over its likely means just that, and a wrong one only makes its silent. Not
for words that a cough comes near to (simulated: enough -4, pause -10, shut up -18, wait -19; stop -24)."""

COVERS: Final = 0.6
"""Share of the speech that the word has to fill: "stop" in "stop by the shop" fills less."""

SPEECH_IS_SURE: Final = 0.8
"""Reached once by every word: measured 0.86 to 1.00 of 80 (five voices, down to -40 dBFS), of a door 0.53 to 0.78."""

PRE_ROLL_CHUNKS: Final = 10
"""0.32 s."""

SOFT_END_CHUNKS: Final = 6
"""0.19 s of silence: the endpointer's soft end."""

LONGEST_CHUNKS: Final = 70
"""2.2 s with the pre-roll and the closing silence: a longer utterance is no reflex, and is not kept."""

MOST_WAITING: Final = 2
"""Stretches of speech that may wait for the decoder; past that the oldest is left to the recognizer."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Speech between two silences, short enough to be a reflex."""

    samples: Samples
    """int16, shape (n,), 16 kHz, with pre-roll and closing silence."""
    started_at: float
    """Seconds on the source's clock at which the speech began."""
    ended_at: float
    """Seconds on the source's clock at which it ended."""
    first: float
    """Seconds from the first sample to the speech."""


@dataclass(frozen=True, slots=True)
class Spotted:
    """A reflex word that was all somebody said."""

    reflex: Reflex
    words: str
    started_at: float
    """Seconds on the source's clock at which the speech began."""
    ended_at: float
    """Seconds on the source's clock at which it ended."""


class StretchCutter:
    """Cuts chunks into stretches. Pure; chunks that hold nakari's own voice are never part of one."""

    def __init__(self) -> None:
        self._before: deque[AudioChunk] = deque(maxlen=PRE_ROLL_CHUNKS)
        """The newest chunks while nobody speaks."""
        self._chunks: list[AudioChunk] = []
        """Of the open stretch, pre-roll included; none before it begins, and none once it is too long."""
        self._first = 0
        """Index of the chunk in which speech began."""
        self._silent = 0
        """Chunks without speech at its end."""
        self._is_too_long = False
        self._surest = 0.0
        """The highest probability of speech so far."""

    def process(self, chunk: AudioChunk, probability: float, *, covered: bool) -> Stretch | None:
        """Take a chunk; return the stretch whose closing silence is over with it."""
        if covered:
            self.drop()
            return None
        if not self._chunks and not self._is_too_long:
            self._wait(chunk, probability)
            return None
        self._silent = 0 if probability >= SPEECH_GOES_ON else self._silent + 1
        self._surest = max(self._surest, probability)
        if not self._is_too_long:
            self._chunks.append(chunk)
            if len(self._chunks) > LONGEST_CHUNKS:
                self._is_too_long, self._chunks = True, []
        return self._close() if self._silent >= SOFT_END_CHUNKS else None

    def drop(self) -> None:
        """Forget all sound."""
        self._before.clear()
        self._chunks, self._silent, self._is_too_long = [], 0, False

    def _wait(self, chunk: AudioChunk, probability: float) -> None:
        if probability >= SPEECH_BEGINS:
            self._first, self._silent, self._surest = len(self._before), 0, probability
            self._chunks = [*self._before, chunk]
            self._before.clear()
        else:
            self._before.append(chunk)

    def _close(self) -> Stretch | None:
        chunks, is_speech = self._chunks, self._surest >= SPEECH_IS_SURE
        self.drop()
        if not chunks:
            return None
        self._before.extend(chunks[-SOFT_END_CHUNKS:])
        if not is_speech:
            return None
        return Stretch(
            np.concatenate([chunk.samples for chunk in chunks]),
            chunks[self._first].started_at,
            chunks[-SOFT_END_CHUNKS].started_at,
            self._first * CHUNK_SECONDS,
        )


class KeywordSearch:
    """Finds the reflex word that fills a stretch. One thread at a time."""

    def __init__(self, active: Collection[str] = REFLEXES) -> None:
        self._reflexes = {words: reflex for words in THRESHOLDS if (reflex := asked(words, active))}
        self._decoder = KeywordDecoder(self._reflexes)

    def warm(self) -> None:
        """Load the model. Raises `RecognitionFailed` where it is not installed, or broken."""
        self._decoder.warm()

    def find(self, stretch: Stretch, *, over_own_voice: bool = False) -> Spotted | None:
        """Return the likeliest word that fills the stretch; over its own voice less is enough. Blocking (30 ms/s)."""
        seconds = stretch.ended_at - stretch.started_at
        span = (stretch.first, stretch.first + seconds)
        found = [
            (each.exponent - self._threshold(each.words, over_own_voice=over_own_voice), each.words)
            for each in self._decoder.find(stretch.samples)
            if each.words in self._reflexes and overlap((each.start, each.end), span) >= COVERS * seconds
        ]
        above, words = max(found, default=(-1.0, ""))
        if above < 0:
            return None
        return Spotted(self._reflexes[words], words, stretch.started_at, stretch.ended_at)

    def _threshold(self, words: str, *, over_own_voice: bool) -> float:
        return THRESHOLDS[words] + (OVER_OWN_VOICE.get(words, 0.0) if over_own_voice else 0.0)


def overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return how many seconds two spans share, never less than 0."""
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))


class Spotter:
    """A `ChunkWatcher` that looks for reflex words in what is said, and its loop beside it.

    The chunk path only collects; the decoder works in a thread. Waiting: two stretches, then the oldest is dropped,
    counted in `dropped`: the recognizer will still get it.
    """

    def __init__(
        self, search: KeywordSearch, on_spotted: Callable[[Spotted], None], is_sounding: Callable[[], bool]
    ) -> None:
        """`is_sounding` says whether nakari's own sound is to be heard; asked when speech has ended."""
        self._search = search
        self._on_spotted = on_spotted
        self._cutter = StretchCutter()
        self._waiting: asyncio.Queue[tuple[Stretch, bool]] = asyncio.Queue(MOST_WAITING)
        self._is_sounding = is_sounding
        self.dropped = 0
        self.ready = asyncio.Event()
        """Set while the model is loaded; without it nothing is collected."""

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk; never waits."""
        if not self.ready.is_set():
            return
        stretch = self._cutter.process(chunk, probability, covered=covered)
        if stretch is None:
            return
        if self._waiting.full():
            self._waiting.get_nowait()
            self.dropped += 1
        self._waiting.put_nowait((stretch, self._is_sounding()))

    def forget(self) -> None:
        """Drop all sound that is kept."""
        self._cutter.drop()
        while not self._waiting.empty():
            self._waiting.get_nowait()

    async def run(self) -> None:
        """Look for words, for ever; returns at once, said in one line, where pocketsphinx does not work."""
        try:
            await asyncio.to_thread(self._search.warm)
        except RecognitionFailed as error:
            log.warning("reflex_words_not_spotted", reason=str(error))
            return
        self.ready.set()
        while True:
            await self._look(*await self._waiting.get())

    async def _look(self, stretch: Stretch, over_own_voice: bool) -> None:
        try:
            spotted = await asyncio.to_thread(partial(self._search.find, stretch, over_own_voice=over_own_voice))
        except RecognitionFailed as error:  # the recognizer still gets these words, and the next stretch is another one
            log.warning("reflex_word_not_spotted", reason=str(error))
            return
        if spotted is not None:
            self._on_spotted(spotted)
