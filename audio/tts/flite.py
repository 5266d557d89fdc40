"""A voice nearer to a human's than espeak-ng's, English only: flite as a program, for the questions of the demo."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from audio.errors import SynthesisFailed
from audio.speech import SpeechAudio
from audio.tts.command import VoiceProgram

_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


class FliteSynthesizer:
    """A `Synthesizer` for English; it speaks when the whole sentence is made."""

    name = "flite"
    sends_to = ()

    def __init__(self, *, voice: str = "slt", program: str = "flite") -> None:
        self._voice = voice
        """One of `flite -lv`."""
        self._program = program

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono, 16 kHz (kal: 8 kHz). Raises `SynthesisFailed`, `VoiceUnavailable`."""
        if language not in ("", "en"):
            raise SynthesisFailed(f"flite speaks English only, and this is {language}")
        # Read from standard input it would want to read what it wrote, which a pipe cannot give.
        program = VoiceProgram(
            [self._program, "-voice", self._voice, "-t", _CONTROLS.sub(" ", sentence), "-o", "/dev/stdout"],
            fix="install it with `sudo apt install flite`",
        )
        async with aclosing(program.speak("")) as pieces:
            async for piece in pieces:
                yield piece
