"""A Wyoming server that makes text of speech, such as wyoming-faster-whisper: one connection a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from audio.errors import RecognitionFailed, ServerFailed
from audio.pcm import SAMPLE_RATE
from audio.recognizer.faster_whisper import Hotwords, no_hotwords
from audio.recognizer.openai_api import sent_to
from audio.speech import Transcript, Utterance
from audio.wyoming import WyomingConnection, WyomingServer

if TYPE_CHECKING:
    from wyoming.event import Eventable

CHUNK_SAMPLES: Final = 1024
"""What Home Assistant sends at once."""

MOST_NAMES: Final = 64

MOST_SECONDS: Final = 120.0
"""For one event; how long a sentence may take at all is the chain's."""

MOST_LETTERS: Final = 20_000
"""Of a transcript that comes in pieces."""


class WyomingRecognizer:
    """A `RemoteRecognizer`. The protocol has no figures that speak for the words; names go as `transcript_names`."""

    def __init__(
        self, server: WyomingServer, model: str = "", language: str = "", hotwords: Hotwords = no_hotwords
    ) -> None:
        """`model` is one of the server's, "" its own choice; `language` is ISO 639-1, "" to have it found out."""
        self.name = f"wyoming:{model or server.address}"
        self.sends_to = sent_to(server.address, hotwords)
        self._server = replace(server, timeout=MOST_SECONDS)
        self._model = model
        self._language = language
        self._hotwords = hotwords
        self._heard_language = ""
        """What the last words were in: whose names are to be expected next."""
        self._is_known = False
        """Whether it was told that it recognizes."""

    async def connect(self) -> None:
        """Ask once what the server can do; a connection is for one sentence, and takes one round trip.

        Raises `RecognitionFailed` when it cannot recognize, or knows no such model.
        """
        if self._is_known:
            return
        with self._told():
            info = await self._server.info()
        if not info.asr:
            fix = "correct [wyoming_recognizer] url: speech to text and text to speech mostly have a port each"
            raise RecognitionFailed(f"the Wyoming server at {self._server.address} recognizes no speech", fix)
        models = [model.name for program in info.asr for model in program.models]
        if self._model and self._model not in models:
            what = f"the recognizer at {self._server.address} has no model {self._model}; it has {', '.join(models)}"
            raise RecognitionFailed(what, "correct [wyoming_recognizer] model")
        self._is_known = True

    async def recognize(self, utterance: Utterance) -> Transcript:
        """Return the words. Raises `RecognitionFailed`."""
        with self._told():
            async with self._server.connect() as connection:
                await connection.write(*self._asked(utterance))
                text, language = await self._answered(connection)
        self._heard_language = language
        return Transcript(text.strip(), language, self.name)

    async def aclose(self) -> None:
        """Close nothing."""

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise what the server did wrong as `RecognitionFailed`."""
        try:
            yield
        except ServerFailed as error:
            fix = "start that server, or correct [wyoming_recognizer] url"
            raise RecognitionFailed(f"the recognizer at {error}", fix) from error

    def _asked(self, utterance: Utterance) -> "list[Eventable]":
        from wyoming.asr import Transcribe
        from wyoming.audio import AudioChunk, AudioStart, AudioStop

        names = list(self._hotwords(self._language or self._heard_language))[:MOST_NAMES]
        sound = utterance.samples.astype("<i2", copy=False)
        pieces = (sound[start : start + CHUNK_SAMPLES] for start in range(0, len(sound), CHUNK_SAMPLES))
        return [
            Transcribe(self._model or None, self._language or None, transcript_names=names or None),
            AudioStart(SAMPLE_RATE, 2, 1),
            *(AudioChunk(SAMPLE_RATE, 2, 1, piece.tobytes()) for piece in pieces),
            AudioStop(),
        ]

    async def _answered(self, connection: WyomingConnection) -> tuple[str, str]:
        """Return text and language: of the transcript as a whole, else of its pieces."""
        from wyoming.asr import Transcript as Whole
        from wyoming.asr import TranscriptChunk, TranscriptStart, TranscriptStop

        text, language = "", ""
        while len(text) <= MOST_LETTERS:
            event = await connection.read()
            if Whole.is_type(event.type):
                whole = connection.parsed(Whole, event)
                return self._checked(whole.text), self._checked(whole.language or language or self._language)
            if TranscriptStart.is_type(event.type):
                language = connection.parsed(TranscriptStart, event).language or ""
            elif TranscriptChunk.is_type(event.type):
                text += self._checked(connection.parsed(TranscriptChunk, event).text)
            elif TranscriptStop.is_type(event.type):
                return text, self._checked(language or self._language)
        raise ServerFailed(f"{self._server.address} sent a transcript that does not end")

    def _checked(self, text: object) -> str:
        if not isinstance(text, str) or len(text) > MOST_LETTERS:
            raise ServerFailed(f"{self._server.address} sent a transcript that is none")
        return text
