"""Speech that the recognizer did not understand: kept from the mind, and told to whoever spoke, now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from audio.interfaces import TurnObserver
from audio.playback.speech_output import SpokenSentence
from audio.speech import RecognizedTurn, Utterance
from audio.turns.evidence import LITTLE_ECHO
from memory.backoff import Backoff

NOT_UNDERSTOOD: Final = "not understood"
"""Why nobody gets what a recognizer made of another language, or of words that it does not know."""

LEAST_UNDERSTOOD: Final = 0.35
"""The probability, as the recognizer tells it (`understood` in its evidence), below which its words are not taken."""

LEAST_IN_ANOTHER_LANGUAGE: Final = 0.8
"""The same in a house whose language the small recognizer does not know: there it is most likely that one."""

TOLD_SECONDS: Final = 1.0
"""Of speech, below which nothing is said of it."""

NOT_AGAIN_WITHIN: Final = 600.0
"""Seconds after it was told; twice as long each time, for the television may be on."""

LONGEST_REST: Final = 6 * 3600.0
"""Seconds."""

FORGOTTEN_AFTER: Final = 12 * 3600.0
"""Seconds without such speech after which it is told as if for the first time."""

_SENTENCE: Final = {
    "en": "I only understand simple English until a Whisper model is here. The command nakari models helps to get one.",
    "zh": "没有Whisper模型之前，我只听得懂简单的英语。用nakari models这个命令可以下载一个模型。",
}


def understood_guard(language: str) -> Callable[[RecognizedTurn], str]:
    """Return a guard of the intake for a house of this language (ISO 639-1, "" or "auto" for any).

    It lets pass what was understood, and what a recognizer gives without saying how likely it was.
    """
    least = LEAST_UNDERSTOOD if language in {"", "auto", "en"} else LEAST_IN_ANOTHER_LANGUAGE

    def guard(heard: RecognizedTurn) -> str:
        return NOT_UNDERSTOOD if heard.transcript.evidence.get("understood", 1.0) < least else ""

    return guard


def _is_persons(utterance: Utterance) -> bool:
    """Say whether somebody said enough of it, and not its own voice: it would answer itself."""
    return utterance.speech_seconds >= TOLD_SECONDS and utterance.echo_suspicion <= LITTLE_ECHO


class NotUnderstood(TurnObserver):
    """A `TurnObserver`. The end of a turn only sets a flag; `run` says the sentence, or gives the sign."""

    def __init__(
        self,
        say: Callable[[SpokenSentence], Awaitable[None]],
        give: Callable[[], Awaitable[None]],
        language: str,
        unclear: Backoff,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`say` queues a sentence, `give` plays the sign; `language` is the house's, ISO 639-1: Chinese or English.

        `unclear` is the rest between two signs, shared with all who give that one.
        """
        self._say = say
        self._give = give
        self._language = "zh" if language == "zh" else "en"
        self._tellings = Backoff(NOT_AGAIN_WITHIN, LONGEST_REST, steady=FORGOTTEN_AFTER, clock=clock)
        self._signs = unclear
        self._is_to_be_told = False
        self._wanted = asyncio.Event()

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Want the sentence for speech that was not understood, or the sign where it was said a while ago."""
        if suppressed != NOT_UNDERSTOOD or heard is None or not _is_persons(heard.utterance):
            return
        answer = self._signs if self._tellings.rest else self._tellings
        if not answer.rest:
            answer.failed()
            self._is_to_be_told |= answer is self._tellings
            self._wanted.set()

    async def run(self) -> None:
        """Say the sentence or give the sign whenever it is wanted, for ever."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            if not self._is_to_be_told:
                await self._give()
                continue
            self._is_to_be_told = False
            await self._say(SpokenSentence("", 0, _SENTENCE[self._language], self._language))
