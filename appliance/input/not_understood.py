"""Speech that comes to nothing: kept from the mind, and answered with a sign or a word, now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, Literal, TypeAlias

from audio.interfaces import TurnObserver
from audio.playback.earcons import Sign
from audio.playback.speech_output import SpokenSentence
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.evidence import LITTLE_ECHO, REFUSED, sounds_like_speech
from audio.turns.listener import FAILED, NO_WORDS, TOO_SLOW
from memory.backoff import Backoff

NOT_UNDERSTOOD: Final = "not understood"
"""Why nobody gets what a recognizer made of another language, or of words that it does not know."""

LEAST_UNDERSTOOD: Final = 0.35
"""The probability, as the recognizer tells it (`understood` in its evidence), below which its words are not taken."""

LEAST_IN_ANOTHER_LANGUAGE: Final = 0.8
"""The same in a house whose language the small recognizer does not know: there it is most likely that one."""

LOST_NOT_AGAIN_WITHIN: Final = 5.0
"""Seconds after a sign; twice as long each time until words are recognized again, for the television may be on."""

UNCLEAR_NOT_AGAIN_WITHIN: Final = 60.0
"""Seconds after the sign that speech was heard and no words; twice as long each time while that goes on ..."""

CLEAR_AFTER: Final = 300.0
"""... until so many seconds have passed since without any such speech."""

LONGEST_REST: Final = 3600.0
"""Seconds."""

TOLD_SECONDS: Final = 1.0
"""Of speech, below which nothing is said of it."""

TOLD_NOT_AGAIN_WITHIN: Final = 600.0
"""Seconds after it was told; twice as long each time, for the television may be on."""

LONGEST_UNTOLD: Final = 6 * 3600.0
"""Seconds."""

FORGOTTEN_AFTER: Final = 12 * 3600.0
"""Seconds without such speech after which it is told as if for the first time."""

_SENTENCE: Final = {
    "en": "I only understand simple English until a Whisper model is here. The command nakari models helps to get one.",
    "zh": "没有Whisper模型之前，我只听得懂简单的英语。用nakari models这个命令可以下载一个模型。",
}

_Answer: TypeAlias = Sign | Literal["told"]
"""A sign, or the sentence."""


def understood_guard(language: str) -> Callable[[RecognizedTurn], str]:
    """Return a guard of the intake for a house of this language (ISO 639-1, "" or "auto" for any).

    It lets pass what was understood, and what a recognizer gives without saying how likely it was.
    """
    least = LEAST_UNDERSTOOD if language in {"", "auto", "en"} else LEAST_IN_ANOTHER_LANGUAGE

    def guard(heard: RecognizedTurn) -> str:
        return NOT_UNDERSTOOD if heard.transcript.evidence.get("understood", 1.0) < least else ""

    return guard


class Unanswered(TurnObserver):
    """A `TurnObserver`. The end of a turn only sets what is wanted; `run` gives the sign, or says the sentence.

    Who spoke to it should not wait for an answer that cannot come.
    """

    def __init__(
        self,
        give: Callable[[Sign], Awaitable[None]],
        say: Callable[[SpokenSentence], Awaitable[None]],
        is_for_it: Callable[[float, float], bool],
        language: str,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`give` plays a sign, `say` queues a sentence; `language` is the house's, ISO 639-1: Chinese or English.

        `is_for_it` says whether words between two moments of the clock may be for it.
        """
        self._give = give
        self._say = say
        self._is_for_it = is_for_it
        self._language = "zh" if language == "zh" else "en"
        self._clock = clock
        self._began = 0.0
        """When speech began the last time."""
        self._rests: dict[_Answer, Backoff] = {
            "error": Backoff(LOST_NOT_AGAIN_WITHIN, LONGEST_REST, clock=clock),
            "unclear": Backoff(UNCLEAR_NOT_AGAIN_WITHIN, LONGEST_REST, steady=CLEAR_AFTER, clock=clock),
            "told": Backoff(TOLD_NOT_AGAIN_WITHIN, LONGEST_UNTOLD, steady=FORGOTTEN_AFTER, clock=clock),
        }
        self._wanted: asyncio.Queue[_Answer] = asyncio.Queue(maxsize=1)
        """What comes while another one waits is left out."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Take note when it began."""
        self._began = started.at

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Want a sign, or the sentence, for words that were lost or not understood."""
        if heard is not None:
            self._rests["error"].worked()
        wanted = self._answer_to(heard, suppressed)
        if wanted is not None and not self._rests[wanted].rest and not self._wanted.full():
            self._rests[wanted].failed()
            self._wanted.put_nowait(wanted)

    async def run(self) -> None:
        """Give the sign or say the sentence whenever it is wanted, for ever."""
        while True:
            wanted = await self._wanted.get()
            if wanted == "told":
                await self._say(SpokenSentence("", 0, _SENTENCE[self._language], self._language))
            else:
                await self._give(wanted)

    def _answer_to(self, heard: RecognizedTurn | None, suppressed: str) -> _Answer | None:
        """Return what a turn deserves: words that were lost a sign, and clear speech without clear words another one.

        With a wake word only where they were for it; what is not understood has passed that guard before. It is told
        in words, or, where that was said a while ago, by the sign; not of little more than a syllable, nor of its own
        voice: it would answer itself.
        """
        if heard is None:
            is_lost = suppressed in {FAILED, TOO_SLOW} and self._is_for_it(self._began, self._clock())
            return "error" if is_lost else None
        utterance = heard.utterance
        if suppressed == NOT_UNDERSTOOD:
            is_persons = utterance.speech_seconds >= TOLD_SECONDS and utterance.echo_suspicion <= LITTLE_ECHO
            return ("unclear" if self._rests["told"].rest else "told") if is_persons else None
        is_refused = suppressed == NO_WORDS or suppressed.startswith(REFUSED)
        is_unclear = is_refused and sounds_like_speech(utterance) and self._is_for_it(*utterance.span)
        return "unclear" if is_unclear else None
