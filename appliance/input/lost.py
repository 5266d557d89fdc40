"""Words that a recognizer lost end in a sign: who spoke to its should not wait for an answer that cannot come."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.listener import FAILED, TOO_SLOW
from memory.backoff import Backoff

NOT_AGAIN_WITHIN: Final = 5.0
"""Seconds after a sign; twice as long each time until words are recognized again, for the television may be on."""

LONGEST_REST: Final = 3600.0
"""Seconds."""


class LostTurns:
    """A `TurnObserver`. The end of a turn only sets a flag; `run` gives the sign."""

    def __init__(
        self,
        give: Callable[[], Awaitable[None]],
        is_for_her: Callable[[float, float], bool],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`give` plays the sign; `is_for_her` says whether words between two moments of the clock may be for it."""
        self._give = give
        self._is_for_her = is_for_her
        self._clock = clock
        self._began = 0.0
        """When speech began the last time."""
        self._signs = Backoff(NOT_AGAIN_WITHIN, LONGEST_REST, clock=clock)
        self._wanted = asyncio.Event()

    def speech_started(self, started: SpeechStarted) -> None:
        """Take note when it began."""
        self._began = started.at

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Nothing was lost so far."""

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Want a sign for words that were lost; with a wake word only where they were for it."""
        now = self._clock()
        if heard is not None:
            self._signs.worked()
        elif suppressed in {FAILED, TOO_SLOW} and not self._signs.rest and self._is_for_her(self._began, now):
            self._signs.failed()
            self._wanted.set()

    async def run(self) -> None:
        """Give the sign whenever it is wanted, for ever."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            await self._give()
