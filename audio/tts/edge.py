"""The default voice: Microsoft Edge's read-aloud service, streamed and decoded in process (edge-tts)."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from audio.egress import SendsTo
from audio.errors import SynthesisFailed
from audio.interfaces import Synthesizer
from audio.loops import Loop
from audio.pcm import Samples
from audio.speech import SpeechAudio, WordTiming
from audio.tts.decoding import Mp3Decoder
from audio.tts.words import WordAligner

if TYPE_CHECKING:
    from audio.tts.edge_stream import KeptConnector

VOICES: Mapping[str, str] = MappingProxyType({"en": "en-US-AvaMultilingualNeural", "zh": "zh-CN-XiaoxiaoNeural"})
"""ISO 639-1 to the service's voice."""

FALLBACK_VOICE = "en-US-EmmaMultilingualNeural"
"""Speaks the languages that have no voice of their own here; the library's default voice."""

END_TOLERANCE_SECONDS = 0.1
"""How far the last word may reach beyond the sound: the coder's delay and rounding."""


class EdgeSynthesizer(Synthesizer):
    """A `Synthesizer` over the network.

    Pieces end with whole words, so that another voice can go on with the next one, and a sentence is whole only when
    the service said so and its sound reaches the end of the last word. One connection a sentence, open before it is
    there where it is expected and the loop runs; no retry but the library's own after a 403 (it corrects its clock by
    the server's): the chain has other voices.
    """

    name = "edge-tts"

    def __init__(
        self,
        voices: Mapping[str, str] = VOICES,
        *,
        url: str = "",
        first_audio_timeout: float = 1.5,
        stall_timeout: float = 2.0,
    ) -> None:
        self._voices = {**VOICES, **voices}
        self._url = url
        """Of the WebSocket, with a query; empty for the real service. The library keeps one for the whole process."""
        self.identity = "\n".join((self.name, url, str(sorted(self._voices.items()))))
        self.sends_to = (SendsTo("what nakari says", urlsplit(url).netloc or "Microsoft's read-aloud service"),)
        self._first_audio_timeout = first_audio_timeout
        """Seconds from the request to the first sound."""
        self._stall_timeout = stall_timeout
        """Seconds between two messages after it."""
        self._is_expected = asyncio.Event()
        self._is_kept = False
        """Whether `open_ahead` runs."""
        self._connector: KeptConnector | None = None
        """From the first sentence on, while it runs."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether another server than Microsoft's is asked."""
        return bool(self._url)

    def load(self) -> None:
        """Import the library now instead of with the first sentence: 0.25 s that no start has to wait for. Blocking."""
        import audio.tts.edge_stream  # noqa: F401

    def loops(self) -> Mapping[str, Loop]:
        """Return what has a connection open ahead, until cancelled."""
        return {"speech: a connection to edge-tts, ahead": self.open_ahead}

    def expect(self) -> None:
        """Take that a sentence is likely to follow."""
        self._is_expected.set()

    async def open_ahead(self) -> None:
        """Open a connection whenever a sentence is expected, but for the first, until cancelled.

        Name, TCP and TLS are three ways to the service and back, for which whoever asked waits otherwise.
        """
        self._is_kept = True
        try:
            while True:
                await self._is_expected.wait()
                self._is_expected.clear()
                if self._connector is not None:
                    await self._connector.open_ahead()
        finally:
            self._is_kept = False
            if self._connector is not None:
                await self._connector.aclose()
                self._connector = None

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono, 24 kHz, with the timings of its words. Raises `SynthesisFailed`."""
        from audio.tts.edge_stream import EdgeStream, KeptConnector

        if self._is_kept and self._connector is None:
            self._connector = KeptConnector()
        stream = EdgeStream(sentence, self._voices.get(language, FALLBACK_VOICE), self._url, self._connector)
        sound, is_heard = _Sound(), False
        async with aclosing(stream.items(self._first_audio_timeout, self._stall_timeout)) as items:
            async for item in items:
                if piece := sound.add(item):
                    if not is_heard:
                        self.expect()  # the next sentence's connection is open by the time this one is over
                    is_heard = True
                    yield piece
        if not stream.ended:
            raise SynthesisFailed("edge-tts: the connection was lost before the end of the sentence")
        for piece in sound.finish():
            yield piece


class _Sound:
    """The service's items turned into pieces of sound."""

    def __init__(self) -> None:
        self._decoder = Mp3Decoder()
        self._aligner: WordAligner | None = None
        self._early: list[WordTiming] = []
        """Timings that came before the first sound, and with it the sample rate."""

    def add(self, item: bytes | WordTiming) -> SpeechAudio | None:
        """Take an item; return the piece that is complete now."""
        if isinstance(item, bytes):
            return self._aligned(self._decoder.feed(item))
        if self._aligner is None:
            self._early.append(item)
        else:
            self._aligner.add_word(item)
        return None

    def finish(self) -> list[SpeechAudio]:
        """Return what is left. Raises `SynthesisFailed` when words are missing, or there was no sound at all."""
        piece = self._aligned(self._decoder.finish())
        if self._aligner is None:
            raise SynthesisFailed("edge-tts sent something that is not MP3")
        missing = self._aligner.last_end - self._aligner.seconds
        if missing > END_TOLERANCE_SECONDS:
            raise SynthesisFailed(f"edge-tts: the last {missing:.1f} s of the sentence are missing")
        return [left for left in (piece, self._aligner.flush()) if left]

    def _aligned(self, samples: Samples) -> SpeechAudio | None:
        if len(samples) == 0:
            return None
        if self._aligner is None:
            self._aligner = WordAligner(self._decoder.sample_rate)
            for word in self._early:
                self._aligner.add_word(word)
        return self._aligner.add_samples(samples)
