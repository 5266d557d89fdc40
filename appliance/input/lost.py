"""Speech that comes to nothing ends in a sign: who spoke to it should not wait for an answer that cannot come."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from audio.interfaces import TurnObserver
from audio.playback.earcons import Sign
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.evidence import REFUSED, sounds_like_speech
from audio.turns.listener import FAILED, NO_WORDS, TOO_SLOW
from memory.backoff import Backoff

NOT_AGAIN_WITHIN: Final = 5.0
"""Seconds after a sign; twice as long each time until words are recognized again, for the television may be on."""

UNCLEAR_NOT_AGAIN_WITHIN: Final = 60.0
"""Seconds after the sign that speech was heard and no words; twice as long each time while that goes on ..."""

CLEAR_AFTER: Final = 300.0
"""... until so many seconds have passed since without any such speech."""

LONGEST_REST: Final = 3600.0
"""Seconds."""


def rest_of_unclear(clock: Callable[[], float] = monotonic) -> Backoff:
    """Return the rest between two signs that speech was heard and not understood, whoever gives them."""
    return Backoff(UNCLEAR_NOT_AGAIN_WITHIN, LONGEST_REST, steady=CLEAR_AFTER, clock=clock)


class LostTurns(TurnObserver):
    """A `TurnObserver`. The end of a turn only sets what sign is wanted; `run` gives it."""

    def __init__(
        self,
        give: Callable[[Sign], Awaitable[None]],
        is_for_it: Callable[[float, float], bool],
        unclear: Backoff,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`give` plays a sign; `is_for_it` says whether words between two moments of the clock may be for it.

        `unclear` is `rest_of_unclear`, shared with all who give that sign.
        """
        self._give = give
        self._is_for_it = is_for_it
        self._clock = clock
        self._began = 0.0
        """When speech began the last time."""
        self._rests: dict[Sign, Backoff] = {
            "error": Backoff(NOT_AGAIN_WITHIN, LONGEST_REST, clock=clock),
            "unclear": unclear,
        }
        self._wanted: asyncio.Queue[Sign] = asyncio.Queue(maxsize=1)
        """A sign that comes while another one waits is left out."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Take note when it began."""
        self._began = started.at

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Want a sign for words that were lost or not understood; with a wake word only where they were for it."""
        if heard is not None:
            self._rests["error"].worked()
        if (wanted := _sign_for(heard, suppressed)) is None or self._rests[wanted].rest:
            return
        began, ended = heard.utterance.span if heard is not None else (self._began, self._clock())
        if self._is_for_it(began, ended) and not self._wanted.full():
            self._rests[wanted].failed()
            self._wanted.put_nowait(wanted)

    async def run(self) -> None:
        """Give the sign whenever one is wanted, for ever."""
        while True:
            await self._give(await self._wanted.get())


def _sign_for(heard: RecognizedTurn | None, suppressed: str) -> Sign | None:
    """Return the sign that a turn deserves: for words that were lost, or for clear speech without clear words."""
    if heard is None:
        return "error" if suppressed in {FAILED, TOO_SLOW} else None
    is_refused = suppressed == NO_WORDS or suppressed.startswith(REFUSED)
    return "unclear" if is_refused and sounds_like_speech(heard.utterance) else None
