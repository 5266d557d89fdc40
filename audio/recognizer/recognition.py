"""The recognition queue: whole turns in order, and words ahead of a turn's end, one recognition at a time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from time import monotonic
from typing import Final, TypeAlias

import structlog

from audio.errors import RecognitionFailed
from audio.interfaces import Recognizer
from audio.speech import RecognizedTurn, Utterance
from audio.turns.prosody import ending_heard

log = structlog.get_logger()

WAITING_UTTERANCES: Final = 16
"""Utterances that may wait for the recognizer; past that the oldest is dropped, and counted."""

USELESS_AHEAD: Final = 1.5
"""Seconds; a recognizer that took so long last time would still be busy with the words so far when the turn ends, and
the whole turn would wait for it. Then only the voice is listened to."""

Take: TypeAlias = Callable[[Utterance, RecognizedTurn | None], Awaitable[None]]
"""Takes a whole turn, in order; None when the recognizer failed."""


class Recognition:
    """Queues whole turns (bounded, oldest dropped); of requests for the words so far only the newest waits.

    A whole turn goes before words so far. What was recognized ahead is not recognized again when the turn ends without
    more speech. All methods are for the event loop and return at once, but `run`.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        on_words_so_far: Callable[[RecognizedTurn], None],
        on_voice: Callable[[Utterance, float, bool], None],
        clock: Callable[[], float] = monotonic,
        turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> None:
        """Tell of a turn that is still as it was when it was asked for.

        First `on_voice` what `ending_heard` says of it and whether words will follow, then `on_words_so_far` its words.
        `turn` returns what is held while the recognizer is at work; others may use it too.
        """
        self.recognizer = recognizer
        self._on_words_so_far = on_words_so_far
        self._on_voice = on_voice
        self._clock = clock
        self._turn = turn
        self._whole: deque[Utterance] = deque()
        self._ahead: Utterance | None = None
        """What waits to be recognized ahead."""
        self._wanted: Utterance | None = None
        """What was last asked for ahead, for as long as its turn did not go on."""
        self._are_words_wanted = True
        self._known: RecognizedTurn | None = None
        """The newest result of a recognition ahead."""
        self.last_took = 0.0
        """Seconds of the newest recognition: by them it is decided whether to recognize ahead."""
        self._is_over = False
        self._has_work = asyncio.Event()
        self.settled = asyncio.Event()
        """Set while nothing waits and nothing is under way: a recording waits for that, a microphone never."""
        self.settled.set()

    def look_ahead(self, utterance: Utterance, *, at_any_cost: bool = False) -> bool:
        """Listen to the voice so far and recognize the words; False when the recognizer is too slow for the words."""
        self._ahead = self._wanted = utterance
        self._are_words_wanted = self.last_took < USELESS_AHEAD or at_any_cost
        self._wake()
        return self._are_words_wanted

    def forget(self) -> None:
        """Speech went on, or the turn is over: nobody wants its words so far any more."""
        self._ahead = self._wanted = None

    def forget_known(self) -> None:
        """Keep nothing of what was recognized ahead last."""
        self._known = None

    def add(self, utterance: Utterance) -> Utterance | None:
        """Queue a whole turn; return the one that was dropped for it."""
        self.forget()
        dropped = self._whole.popleft() if len(self._whole) == WAITING_UTTERANCES else None
        self._whole.append(utterance)
        self._wake()
        return dropped

    def finish(self) -> None:
        """Let `run` return when all is done: no more will come."""
        self._is_over = True
        self._wake()

    async def run(self, take: Take) -> None:
        """Recognize what comes, until `finish`. Raises what `take` raises."""
        while True:
            if self._whole:
                await self._hand_over(self._whole.popleft(), take)
            elif self._ahead is not None:
                await self._recognize_ahead(self._ahead)
            elif self._is_over:
                return
            else:
                self.settled.set()
                self._has_work.clear()
                await self._has_work.wait()

    async def _hand_over(self, utterance: Utterance, take: Take) -> None:
        """Recognize a whole turn and hand it over; not in `run`, whose locals would keep its sound alive."""
        heard = None
        if self._known is not None and _is_same(self._known.utterance, utterance):
            heard = RecognizedTurn(utterance, self._known.transcript, self._known.recognized_at)
        else:
            try:
                heard = await self._recognize(utterance)
            except RecognitionFailed as error:
                log.warning("recognition_failed", reason=str(error))
        await take(utterance, heard)

    async def _recognize_ahead(self, utterance: Utterance) -> None:
        self._ahead, are_words_wanted = None, self._are_words_wanted
        began = utterance.seconds - (utterance.committed_at - utterance.started_at)
        voice = await asyncio.to_thread(ending_heard, utterance.samples, began)
        if self._wanted is utterance:
            self._on_voice(utterance, voice, are_words_wanted)
        if self._wanted is not utterance or not are_words_wanted:
            return
        try:
            self._known = await self._recognize(utterance)
        except RecognitionFailed as error:  # the whole turn will fail as well, and is counted then
            log.debug("recognition_ahead_failed", reason=str(error))
            return
        if self._wanted is utterance:
            self._on_words_so_far(self._known)

    async def _recognize(self, utterance: Utterance) -> RecognizedTurn:
        began = self._clock()
        async with self._turn():
            transcript = await asyncio.to_thread(self.recognizer.transcribe, utterance)
        ended = self._clock()
        self.last_took = ended - began
        return RecognizedTurn(utterance, transcript, ended)

    def _wake(self) -> None:
        self.settled.clear()
        self._has_work.set()


def _is_same(ahead: Utterance, whole: Utterance) -> bool:
    """Whether what was recognized ahead is all that the turn came to."""
    return ahead.started_at == whole.started_at and len(ahead.samples) == len(whole.samples)
