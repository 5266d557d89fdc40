"""GPT-SoVITS: a voice cloned from a recording, by the HTTP interface of its `api_v2.py`, streamed."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from audio.tts.http_speech import HttpVoice

LANGUAGES: Final = ("zh", "en", "ja", "ko", "yue")
"""What `text_lang` calls as ISO 639 does; all else is "auto", which tells by the text (TTS_Config.v2_languages)."""


class Reference(Struct, frozen=True):
    """The recording whose voice is taken."""

    path: str
    """Of a file of 3 to 10 s on the server's machine."""
    language: str
    """Of its words, by the server's own names."""
    text: str = ""
    """Its words; without them the voice is less like it, and models of version 3 refuse."""


class SovitsSynthesizer(HttpVoice):
    """A `Synthesizer` over a GPT-SoVITS server. It times no words.

    The server tells most faults only in its own log: one before the first sound breaks the connection off behind a
    good status, one while it thinks is a second of digital silence.
    """

    name = "GPT-SoVITS"

    def __init__(self, url: str, reference: Reference, *, streaming_mode: int = 1) -> None:
        """`streaming_mode` is the server's: 1 by parts of a sentence, 2 and 3 finer and sooner, 0 not at all."""
        url = url.rstrip("/")
        super().__init__(f"{url}/tts")
        self.identity = "\n".join(map(str, (self.name, url, reference, streaming_mode)))
        self._reference = reference
        self._streaming_mode = streaming_mode

    def _asked(self, sentence: str, language: str) -> Mapping[str, object]:
        return {
            "text": sentence,
            "text_lang": language if language in LANGUAGES else "auto",
            "ref_audio_path": self._reference.path,
            "prompt_lang": self._reference.language,
            "prompt_text": self._reference.text,
            "media_type": "wav",
            "streaming_mode": self._streaming_mode,
        }
