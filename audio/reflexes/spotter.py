"""Reflex words spotted in sound while it comes: English, and only when nothing else was said."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from audio.errors import RecognitionFailed
from audio.pcm import AudioChunk
from audio.reflexes.cutting import ALONE, OVER_ECHO, NoticedCutter, StretchCutter, Underneath
from audio.reflexes.keyword_search import BARS_NOTICED, KeywordSearch, Spotted

log = structlog.get_logger()

MOST_WAITING: Final = 2
"""Stretches of speech that may wait for the decoder; past that the oldest is left to the recognizer."""

Look: TypeAlias = Callable[[], Spotted | None]
"""Blocking; looks for a word in sound that was cut. Raises `RecognitionFailed`."""


class Candidate(Struct, frozen=True):
    """Sound that may be a reflex word."""

    at: float
    """Seconds on the source's clock at which its speech began, or at which somebody was noticed."""
    look: Look


class Candidates:
    """Cuts chunks into sound that may be a reflex word: a stretch of speech, or whoever was noticed under its voice."""

    def __init__(self, search: KeywordSearch, own_voice: Underneath) -> None:
        self._search = search
        self._stretches = StretchCutter()
        self._noticed = NoticedCutter(own_voice)

    def process(self, chunk: AudioChunk, probability: float, *, covered: bool, sounds: bool) -> list[Candidate]:
        """Take a chunk, with whether nakari `sounds`; return what is complete with it."""
        found = []
        if (noticed := self._noticed.process(chunk, covered=covered, sounds=sounds)) is not None:
            found.append(Candidate(noticed.at, partial(self._search.find_noticed, noticed)))
        bars = OVER_ECHO if sounds else ALONE
        if (stretch := self._stretches.process(chunk, probability, covered=covered, bars=bars)) is not None:
            elsewhere = BARS_NOTICED if sounds and self._noticed.holds(stretch.started_at) else ()
            look = partial(self._search.find, stretch, over_own_voice=sounds, without=elsewhere)
            found.append(Candidate(stretch.started_at, look))
        return found

    def drop(self) -> None:
        """Forget all sound."""
        self._stretches.drop()
        self._noticed.drop()


class Spotter:
    """A `ChunkWatcher` that looks for reflex words in what is said, and its loop beside it.

    The chunk path only collects; the decoder works in a thread. Waiting: two stretches, then the oldest is dropped,
    counted in `dropped`: the recognizer will still get it.
    """

    def __init__(
        self,
        search: KeywordSearch,
        on_spotted: Callable[[Spotted], None],
        is_sounding: Callable[[], bool],
        own_voice: Underneath,
    ) -> None:
        """`is_sounding` says whether nakari's own sound is to be heard; asked with every chunk."""
        self._search = search
        self._on_spotted = on_spotted
        self._candidates = Candidates(search, own_voice)
        self._waiting: asyncio.Queue[Look] = asyncio.Queue(MOST_WAITING)
        self._is_sounding = is_sounding
        self.dropped = 0
        self.ready = asyncio.Event()
        """Set while the model is loaded; without it nothing is collected."""

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk; never waits."""
        if not self.ready.is_set():
            return
        sounds = self._is_sounding()
        for candidate in self._candidates.process(chunk, probability, covered=covered, sounds=sounds):
            if self._waiting.full():
                self._waiting.get_nowait()
                self.dropped += 1
            self._waiting.put_nowait(candidate.look)

    def forget(self) -> None:
        """Drop all sound that is kept."""
        self._candidates.drop()
        while not self._waiting.empty():
            self._waiting.get_nowait()

    async def run(self) -> None:
        """Look for words, for ever; returns at once, said in one line, where the network cannot be read."""
        try:
            await asyncio.to_thread(self._search.warm)
        except RecognitionFailed as error:
            log.warning("reflex_words_not_spotted", reason=str(error))
            return
        self.ready.set()
        while True:
            await self._tell(await self._waiting.get())

    async def _tell(self, look: Look) -> None:
        try:
            spotted = await asyncio.to_thread(look)
        except RecognitionFailed as error:  # the recognizer still gets these words, and the next stretch is another one
            log.warning("reflex_word_not_spotted", reason=str(error))
            return
        if spotted is not None:
            self._on_spotted(spotted)
