"""Text-to-speech: text as it comes, a sentence at a time, by the box's own voices."""

from collections.abc import AsyncIterator
from typing import Final

import numpy as np
from msgspec import Struct
from wyoming.audio import AudioChunk, AudioStart, AudioStop

from appliance.wyoming.wire import EventStream
from audio.interfaces import Synthesizer, closing
from audio.language import sentence_language
from audio.pcm import Samples
from audio.resampler import StreamResampler
from audio.speech import SpeechAudio
from audio.tts.sentences import SentenceSplitter
from audio.tts.speakable import speakable

MOST_CHARACTERS: Final = 20_000
"""Of a text: twenty minutes of speech."""

CHUNK_SAMPLES: Final = 4096
"""Samples of one event at most."""

SILENCE_RATE: Final = 16_000
"""Hz; of what is sent where nothing of a text can be said: a file without a sample is none to many a program."""

SILENCE_SECONDS: Final = 0.1


class Speaking(Struct, frozen=True):
    """Says texts for programs, beside the room."""

    voice: Synthesizer
    language: str
    """ISO 639-1: what is not plain from the script; "auto" for English."""

    async def say(self, pieces: AsyncIterator[str], language: str, stream: EventStream) -> None:
        """Say a text that comes in pieces, each sentence as soon as it is whole; `language` is ISO 639-1, or "".

        One sound: its start, its chunks, its end. Raises `SynthesisFailed` and `ClientGone`.
        """
        sound, splitter = _Sound(stream), SentenceSplitter()
        async for piece in pieces:
            for sentence in splitter.feed(piece):
                await self._say(sentence, language, sound)
        for sentence in splitter.finish():
            await self._say(sentence, language, sound)
        await sound.end()

    async def _say(self, sentence: str, language: str, sound: "_Sound") -> None:
        spoken = sentence_language(sentence, language or self.language)
        if said := speakable(sentence, spoken):
            async with closing(self.voice.speak(said, spoken)) as pieces:
                await sound.take(pieces)


class _Sound:
    """Sound on its way to a program, all of it at the rate of the first voice that was heard."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self._rate = 0
        """Hz; 0 before the first sample."""

    async def take(self, pieces: AsyncIterator[SpeechAudio]) -> None:
        """Send the sound of a sentence as it is made. Raises `ClientGone`, and what the voice raises."""
        resampler: StreamResampler | None = None
        async for piece in pieces:
            await self._begin(piece.sample_rate)
            resampler = resampler or StreamResampler(piece.sample_rate, self._rate)
            await self._send(resampler.feed(piece.samples))
        if resampler is not None:
            await self._send(resampler.flush())

    async def end(self) -> None:
        """Send the end. Raises `ClientGone`."""
        if not self._rate:
            await self._begin(SILENCE_RATE)
            await self._send(np.zeros(round(SILENCE_SECONDS * SILENCE_RATE), np.int16))
        await self._stream.write(AudioStop())

    async def _begin(self, rate: int) -> None:
        if not self._rate:
            self._rate = rate
            await self._stream.write(AudioStart(rate, 2, 1))

    async def _send(self, samples: Samples) -> None:
        for at in range(0, len(samples), CHUNK_SAMPLES):
            content = samples[at : at + CHUNK_SAMPLES].astype("<i2", copy=False).tobytes()
            await self._stream.write(AudioChunk(self._rate, 2, 1, content))
