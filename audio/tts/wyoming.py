"""A Wyoming server's voice, such as wyoming-piper: one connection a sentence."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from audio.egress import SendsTo
from audio.errors import ServerFailed, ServerUnreachable, SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer
from audio.speech import SpeechAudio
from audio.tts.decoding import PcmStream, speech_rate
from audio.wyoming import WyomingConnection, WyomingServer, load

if TYPE_CHECKING:
    from wyoming.audio import AudioChunk
    from wyoming.event import Event, Eventable
    from wyoming.info import Info, TtsProgram
    from wyoming.tts import SynthesizeVoice

PORT: Final = 10_200
"""Where Wyoming servers of text to speech usually listen."""

SAMPLE_BYTES: Final = 2


class WyomingSynthesizer(Synthesizer):
    """A `Synthesizer` over a Wyoming server. It times no words.

    Of a server's programs the first one that is installed speaks, as with other clients. Which of its voices is the
    server's choice where none is configured: wyoming-piper calls all voices installed that it could download.
    """

    name = "Wyoming voice"

    def __init__(self, server: WyomingServer, voices: Mapping[str, str]) -> None:
        """`voices` are the server's own names by ISO 639-1; with any, languages beside them are refused."""
        self.identity = "\n".join((self.name, server.address, str(sorted(voices.items()))))
        self.sends_to = (SendsTo("what nakari says", server.address),)
        self._server = server
        self._voices = voices
        self._info: Info | None = None
        """What the server said that it can do; asked for anew after a failure."""

    def load(self) -> None:
        """Import what speaking needs. Blocking."""
        load()

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono. Raises `SynthesisFailed`, `VoiceUnavailable`."""
        try:
            async with self._server.connect() as connection:
                self._info = self._info or await connection.info()
                program = next((program for program in self._info.tts if program.installed), None)
                if program is None:
                    raise SynthesisFailed(f"{self.name}: {self._server.address} has no voice that is installed")
                voice = self._voice(program, language)
                is_streamed = program.supports_synthesize_streaming
                await connection.write(*_request(sentence, voice, is_streamed=is_streamed))
                async with aclosing(self._heard(connection, is_streamed=is_streamed)) as pieces:
                    async for piece in pieces:
                        yield piece
        except ServerUnreachable as error:
            raise VoiceUnavailable(f"{self.name}: {error}") from error
        except ServerFailed as error:
            self._info = None
            raise SynthesisFailed(f"{self.name}: {error}") from error

    async def _heard(self, connection: WyomingConnection, *, is_streamed: bool) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sound that is answered, to its end."""
        from wyoming.audio import AudioChunk, AudioStop
        from wyoming.tts import SynthesizeStopped

        end = SynthesizeStopped if is_streamed else AudioStop
        stream: PcmStream | None = None
        while not end.is_type((event := await connection.read()).type):
            if not AudioChunk.is_type(event.type):
                continue
            chunk = self._checked(connection, event, stream.sample_rate if stream else 0)
            stream = stream or PcmStream(self._rate(chunk))
            samples = stream.feed(chunk.audio)
            if len(samples):
                yield SpeechAudio(samples, stream.sample_rate)
        if stream is None:
            raise SynthesisFailed(f"{self.name}: {self._server.address} ended the sentence without any sound")
        try:
            stream.finish()
        except SynthesisFailed as error:
            raise SynthesisFailed(f"{self.name}: {error}") from error

    def _checked(self, connection: WyomingConnection, event: "Event", rate: int) -> "AudioChunk":
        """Return a piece of sound in the form that is wanted. Raises `SynthesisFailed` for another."""
        from wyoming.audio import AudioChunk

        chunk = connection.parsed(AudioChunk, event)
        form = (chunk.rate, chunk.width, chunk.channels)
        if form != (rate or chunk.rate, SAMPLE_BYTES, 1):
            told = f"{chunk.channels} channel(s) of {chunk.width} bytes at {chunk.rate} Hz"
            raise SynthesisFailed(f"{self.name}: {self._server.address} sent {told}, and 16-bit mono is wanted")
        return chunk

    def _rate(self, chunk: "AudioChunk") -> int:
        try:
            return speech_rate(chunk.rate)
        except SynthesisFailed as error:
            raise SynthesisFailed(f"{self.name}: {self._server.address}: {error}") from error

    def _voice(self, program: "TtsProgram", language: str) -> "SynthesizeVoice | None":
        """Return the voice for a language, None for the server's default. Raises `SynthesisFailed` without one."""
        from wyoming.tts import SynthesizeVoice

        if name := self._voices.get(language):
            return SynthesizeVoice(name=name)
        codes = {code.lower().replace("_", "-").split("-")[0] for each in program.voices for code in each.languages}
        if language and (self._voices or (codes and language not in codes)):
            raise SynthesisFailed(f"{self.name}: {self._server.address} has no voice for {language!r}")
        return SynthesizeVoice(language=language) if language else None


def _request(text: str, voice: "SynthesizeVoice | None", *, is_streamed: bool) -> "list[Eventable]":
    from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop

    if is_streamed:
        return [SynthesizeStart(voice), SynthesizeChunk(text), SynthesizeStop()]
    return [Synthesize(text, voice)]
