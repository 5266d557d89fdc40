"""Any server that speaks OpenAI's speech interface, streamed: OpenAI itself, Kokoro-FastAPI, LocalAI, Speaches."""

from collections.abc import Mapping
from typing import Final, Literal

from audio.tts.http_speech import HttpVoice

PCM_RATE: Final = 24_000
"""Hz of `response_format: pcm`, 16-bit little-endian mono (OpenAI's guide to text to speech)."""


class OpenAiSpeechSynthesizer(HttpVoice):
    """A `Synthesizer` over such a server. It times no words.

    Whatever is asked for, the answer is taken for what it is: WAV, MP3, else PCM.
    """

    name = "OpenAI speech"

    def __init__(
        self,
        url: str,
        model: str,
        voices: Mapping[str, str],
        *,
        key: str = "",
        response_format: Literal["pcm", "wav", "mp3"] = "pcm",
    ) -> None:
        """`url` is what `/audio/speech` is below. `voices` are by ISO 639-1; that of "" speaks what has no own."""
        url = url.rstrip("/")
        super().__init__(f"{url}/audio/speech", key, PCM_RATE if response_format == "pcm" else 0)
        self.identity = "\n".join((self.name, url, model, str(sorted(voices.items())), response_format))
        """The format too: its rates and losses differ."""
        self._model = model
        self._voices = voices
        self._format = response_format

    def _asked(self, sentence: str, language: str) -> Mapping[str, object]:
        return {
            "model": self._model,
            "voice": self._voices.get(language) or self._voices.get("", ""),
            "input": sentence,
            "response_format": self._format,
        }
