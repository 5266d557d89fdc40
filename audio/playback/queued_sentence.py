"""One queued sentence: synthesized by a voice, played by a player, accounted for at its end."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from audio.errors import SynthesisFailed
from audio.interfaces import Synthesizer, closing
from audio.speech import SpeechAudio, WordTiming
from audio.tts.speakable import pictograms_named, speakable, written_part
from audio.tts.words import heard_part

MOST_PIECES = 256
"""Pieces of sound made before they are played; past it the voice waits. About 45 s of espeak-ng's."""


class SpokenSentence(Struct, frozen=True):
    """A sentence to be spoken."""

    key: str
    """Of the reply it belongs to; "" for what is none: a reflex's own words."""
    number: int
    """Its place in the reply, from 1."""
    text: str
    """As it is written; what is said of it is for `audio.tts.speakable` to decide."""
    language: str
    """ISO 639-1, or "" for unknown."""


class QueuedSentence:
    """A sentence between synthesis and playback; either stage may be told to give up.

    Pieces keep their order; none is lost unless it is given up.
    """

    def __init__(self, sentence: SpokenSentence, clock: Callable[[], float]) -> None:
        """`clock` gives seconds, for `made_at`."""
        self.sentence = sentence
        self._clock = clock
        self.made_at = 0.0
        """Seconds on the clock at which the voice gave its first sound; 0 before."""
        self.given_up = False
        self.failure = ""
        """Why it could not be said whole; empty while it can, and when somebody only wanted silence."""
        self.pieces: asyncio.Queue[SpeechAudio | None] = asyncio.Queue(MOST_PIECES)
        """As they are made; None after the last one, and as soon as it is given up."""
        self._making: asyncio.Timeout | None = None
        """While sound is made: what ends it early."""
        self._said = ""
        """The text as the voice is to say it; empty until it is made."""
        self._words: list[WordTiming] = []
        """Of `_said`."""
        self._made: float | None = None
        """Seconds of the whole sentence; None until it is known."""
        self._heard = 0.0
        """Seconds handed to the player, less those it dropped again."""

    async def make(self, voice: Synthesizer) -> None:
        """Have the voice speak; return when all of it is made, has failed, or was given up."""
        if self.given_up:
            return
        try:
            # Cancelling from outside needs a scope; a deadline that `give_up` sets to now is one.
            async with asyncio.timeout(None) as self._making:
                self._made = await self._take(voice)
        except SynthesisFailed as error:
            self.failure = str(error)
        except TimeoutError:
            if not self.given_up:
                raise
        finally:
            self._making = None
        if not self.given_up:
            await self.pieces.put(None)

    async def _take(self, voice: Synthesizer) -> float:
        """Take the pieces as the voice gives them; return their seconds."""
        seconds = 0.0
        text, language = self.sentence.text, self.sentence.language
        self._said = speakable(text, language)
        if not self._said and self.sentence.number <= 1:
            # Pictograms come with the words around them; where they are the first sentence, they are all of the reply.
            self._said = pictograms_named(text, language)
        if self._said:
            async with closing(voice.speak(self._said, self.sentence.language)) as pieces:
                async for piece in pieces:
                    self.made_at = self.made_at or self._clock()
                    seconds += len(piece.samples) / piece.sample_rate
                    self._words += piece.words
                    await self.pieces.put(piece)
        return seconds

    def played(self, piece: SpeechAudio) -> None:
        """Count a piece that goes to the player now."""
        self._heard += len(piece.samples) / piece.sample_rate

    def give_up(self, dropped: float, reason: str = "") -> None:
        """End whatever is being done for it; `dropped` seconds that were handed to the player were not heard."""
        self._heard -= dropped
        self.failure = self.failure or reason
        if self.given_up:
            return
        self.given_up = True
        while not self.pieces.empty():
            self.pieces.get_nowait()
        self.pieces.put_nowait(None)
        if self._making is not None:
            self._making.reschedule(asyncio.get_running_loop().time())

    def heard(self) -> tuple[str, bool]:
        """Return the part of the text that was heard, and whether that is all of it."""
        text = self.sentence.text
        if self._made is not None and self._heard >= self._made - 1e-6 and not self.failure:
            return text, True
        if self.failure and not self._words:
            return "", False  # what sounded may have been a tone
        said = heard_part(self._said, self._words, self._heard, self._made)
        return written_part(text, self._said, said), False
