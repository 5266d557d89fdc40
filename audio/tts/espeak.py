"""The voice without network: espeak-ng as a program."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from audio.errors import VoiceUnavailable
from audio.speech import SpeechAudio
from audio.tts.command import VoiceProgram

VOICES = {"en": "en-us", "zh": "cmn"}
"""ISO 639-1 to espeak-ng's voice where the two differ."""

_VOICE_NAME = re.compile(r"[a-z]{2,3}(-[a-z0-9]+)*")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


class EspeakSynthesizer:
    """A `Synthesizer` that works anywhere; about 20 ms to its first sound.

    It times no words. An unknown language is read by the voice of `default_language`.
    """

    name = "espeak-ng"

    def __init__(
        self,
        *,
        default_language: str = "en",
        words_a_minute: int = 165,
        program: str = "espeak-ng",
        stall_timeout: float = 3.0,
    ) -> None:
        """`stall_timeout` is the seconds it may take to its first sound, and between two pieces."""
        self._default_language = default_language
        self._words_a_minute = words_a_minute
        self._program = program
        self._stall_timeout = stall_timeout

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono, 22,050 Hz. Raises `SynthesisFailed`, `VoiceUnavailable`."""
        language = language or self._default_language
        voice = VOICES.get(language, language)
        if not _VOICE_NAME.fullmatch(voice):
            raise VoiceUnavailable(f"{voice!r} is no language espeak-ng could know: use codes such as en or zh")
        program = VoiceProgram(
            [self._program, "--stdin", "--stdout", "-b", "1", "-s", str(self._words_a_minute), "-v", voice],
            fix="install it with `sudo apt install espeak-ng`",
            stall_timeout=self._stall_timeout,
        )
        async with aclosing(program.speak(_plain(sentence))) as pieces:
            async for piece in pieces:
                yield piece


def _plain(sentence: str) -> str:
    """Return the sentence so that it is only read: double brackets would begin phonemes, controls commands."""
    return _CONTROLS.sub(" ", sentence).replace("[[", "[ [").replace("]]", "] ]")
