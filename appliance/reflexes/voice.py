"""How it answers a reflex: a sign where silence would be unclear, words where a sign would be, and the last reply."""

import asyncio
from typing import Final

import numpy as np
import structlog
from msgspec import Struct, field

from appliance.reflexes.verbs import Verb
from audio.errors import AudioError
from audio.interfaces import Player
from audio.language import sentence_language
from audio.playback.earcons import SAMPLE_RATE, Sign, sign
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from audio.speech import SpeechAudio

log = structlog.get_logger()

SIGNS: Final[dict[Verb, Sign]] = {"quieter": "acknowledged", "louder": "acknowledged", "volume": "acknowledged"}
"""Stop, wait, go on and repeat are heard by themselves."""

SPOKEN: Final[dict[Verb, Sign]] = {"mute": "muted", "unmute": "unmuted", "forget": "acknowledged"}
"""Reflexes that are answered in words, after a sign: nobody should wonder whether the microphone is off, or on."""

_NO_SOUND: Final = SpeechAudio(np.zeros(SAMPLE_RATE // 100, np.int16), SAMPLE_RATE)


class Voice(Struct, frozen=True):
    """Speaks through the mouth as an announcement: no reply, not accounted for, hushed like any other."""

    mouth: SpeechOutput
    player: Player
    language: str = "en"
    """Of the house, ISO 639-1."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """To be set when the wake word was said alone."""

    async def show_listening(self) -> None:
        """Answer the wake word with a short sound whenever it was said alone, until cancelled."""
        while True:
            await self.woken.wait()
            self.woken.clear()
            await self.give("listening")

    async def answer(self, reflex: Verb, words: str) -> None:
        """Let it be heard that a reflex was acted on."""
        if reflex in SPOKEN:
            await self.mouth.announce(sign(SPOKEN[reflex]), self._spoken(words))
        elif reflex == "repeat":
            await self.repeat()
        elif reflex in SIGNS:
            await self.give(SIGNS[reflex])

    async def ask_back(self, words: str) -> None:
        """Ask for an order to be said again."""
        await self.mouth.announce(sign("listening"), self._spoken(words))

    async def give(self, meaning: Sign) -> None:
        """Play a sign; while it speaks it is heard to go on, or not to, and needs none."""
        if self.mouth.current is not None:
            return
        try:
            await self.player.play(sign(meaning))
        except AudioError as error:
            log.info("sign_not_played", sign=meaning, reason=str(error))

    async def repeat(self) -> None:
        """Say the last reply again, whole, until somebody hushes it."""
        words = "\n".join(each.text for each in self.mouth.last_reply)  # in lines, or marks of lists would be said
        if words:
            await self.mouth.announce(_NO_SOUND, self._spoken(words))

    def _spoken(self, words: str) -> SpokenSentence:
        return SpokenSentence("", 0, words, sentence_language(words, self.language))
