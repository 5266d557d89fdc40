"""Speech servers over HTTP, OpenAI's interface and GPT-SoVITS: one request a sentence, on a connection that is kept."""

import asyncio
import re
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from audio.complaint import complaint_of, in_a_line
from audio.egress import SendsTo
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer
from audio.loops import Loop
from audio.speech import SpeechAudio
from audio.trust import tls_fault, trust_for
from audio.tts.decoding import SoundStream

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS: Final = 3.0
"""That a connection may take, TLS included. All other patience is the chain's."""

KEEP_SECONDS: Final = 120.0
"""An idle connection is kept so long; longer and a router on the way may have forgotten it."""

MOST_COMPLAINT: Final = 64 * 1024
"""Bytes of a refusal's body that are read."""

FRESH_SECONDS: Final = 20.0
"""After a sentence, for which its connection is taken to be open yet."""

_RATE: Final = re.compile(r";\s*rate=(\d{4,5})\b")
_NO_SOUND: Final = ("text/", "application/json", "image/")


class HttpVoice(Synthesizer):
    """A `Synthesizer` over such a server; a subclass says what is asked of it. It times no words."""

    def __init__(self, address: str, key: str = "", pcm_rate: int = 0) -> None:
        """Post to one `address`, which is never left for another; `key` is a bearer token, "" for none.

        What is redirected is refused, because what is said, and the key, would go where nobody sent them. `pcm_rate` is
        the rate in Hz of an answer that is bare PCM and does not name its rate, 0 where it may not be PCM.
        """
        self._address = address
        self._host = urlsplit(address).netloc
        self.sends_to = (SendsTo("what nakari says", self._host),)
        self._key = key
        self._pcm_rate = pcm_rate
        self._kept: httpx.AsyncClient | None = None
        """While `_keep_open` runs; else there is one connection a sentence."""
        self._is_open: asyncio.Event | None = None
        """Of `_keep_open`; None while it does not run."""
        self._is_expected = asyncio.Event()
        self._used_at = -FRESH_SECONDS
        """When a sentence ended, in seconds on the event loop's clock."""

    @abstractmethod
    def _asked(self, sentence: str, language: str) -> Mapping[str, object]:
        """Return the body of the request for a sentence."""

    def load(self) -> None:
        """Import the library now instead of with the first sentence. Blocking."""
        import httpx  # noqa: F401

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps the connection from one sentence to the next, until cancelled."""
        return {f"speech: the connection to {self.name}": self._keep_open}

    async def _keep_open(self) -> None:
        self._is_open = asyncio.Event()
        try:
            async with await self._new() as self._kept:
                self._is_open.set()
                while True:
                    await self._is_expected.wait()
                    self._is_expected.clear()
                    await self._open_ahead(self._kept)
        finally:
            self._kept = self._is_open = None

    def expect(self) -> None:
        """Take that a sentence is likely to follow: where the last one is long ago, its connection may be closed."""
        if asyncio.get_running_loop().time() - self._used_at >= FRESH_SECONDS:
            self._is_expected.set()

    async def _open_ahead(self, client: "httpx.AsyncClient") -> None:
        """Open a connection, TLS and all, by a request that makes and costs nothing; whoever speaks next is told."""
        import httpx

        with suppress(httpx.HTTPError, httpx.InvalidURL):
            await client.head(self._address, timeout=CONNECT_SECONDS)

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono, as it comes.

        Raises `VoiceUnavailable` when the server cannot be reached, `SynthesisFailed` when it refuses, answers
        something that is no sound, or not all of it.
        """
        import httpx

        body = self._asked(sentence, language)
        try:
            async with self._client() as client, client.stream("POST", self._address, json=body) as response:
                if response.status_code != httpx.codes.OK:
                    raise await self._refused(response, sentence)
                async with aclosing(self._decoded(response)) as pieces:
                    async for piece in pieces:
                        yield piece
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            if fault := tls_fault(error):
                raise VoiceUnavailable(f"{self.name} at {self._host} {fault[0]}: {fault[1]}") from error
            raise VoiceUnavailable(f"{self.name} at {self._host} cannot be reached ({_words(error)})") from error
        except httpx.HTTPError as error:
            raise SynthesisFailed(f"{self.name}: the connection broke off ({_words(error)})") from error
        finally:
            self._used_at = asyncio.get_running_loop().time()

    async def _decoded(self, response: "httpx.Response") -> AsyncGenerator[SpeechAudio, None]:
        kind = response.headers.get("content-type", "").lower()
        told = _RATE.search(kind)
        pcm_rate = 0 if kind.startswith(_NO_SOUND) else self._pcm_rate
        stream = SoundStream(int(told[1]) if told and pcm_rate else pcm_rate)
        total = 0
        try:
            async with _body(response) as body:
                async for data in body:
                    samples = stream.feed(data)
                    total += len(samples)
                    if len(samples):
                        yield SpeechAudio(samples, stream.sample_rate)
            samples = stream.finish()
        except SynthesisFailed as error:
            raise SynthesisFailed(f"{self.name}: {error}") from error
        if len(samples):
            yield SpeechAudio(samples, stream.sample_rate)
        if total + len(samples) == 0:
            raise SynthesisFailed(f"{self.name}: the answer holds no sound")

    @asynccontextmanager
    async def _client(self) -> AsyncIterator["httpx.AsyncClient"]:
        if self._is_open is not None:
            await self._is_open.wait()
        if self._kept is not None:
            yield self._kept
            return
        async with await self._new() as client:
            yield client

    async def _new(self) -> "httpx.AsyncClient":
        return await asyncio.to_thread(self._opened)  # importing and reading certificates take tens of milliseconds

    def _opened(self) -> "httpx.AsyncClient":
        import httpx

        return httpx.AsyncClient(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(keepalive_expiry=KEEP_SECONDS),
            verify=trust_for(self._address),
            follow_redirects=False,
            trust_env=False,
        )

    async def _refused(self, response: "httpx.Response", sentence: str) -> SynthesisFailed:
        """Return what a refusal says, without what was to be said and without the key."""
        if response.is_redirect:
            return SynthesisFailed(f"{self.name} at {self._host} redirects elsewhere (HTTP {response.status_code})")
        told = b""
        async with _body(response) as pieces:
            async for data in pieces:
                told += data
                if len(told) >= MOST_COMPLAINT:
                    break
        words = complaint_of(told)
        for secret in (self._key, sentence):
            words = words.replace(secret, "…") if len(secret) > 1 else words
        return SynthesisFailed(
            f"{self.name} at {self._host} answered HTTP {response.status_code}{f': {words}' if words else ''}"
        )


@asynccontextmanager
async def _body(response: "httpx.Response") -> AsyncIterator[AsyncIterator[bytes]]:
    """Give the body as it comes, and close it: read on until that shows.

    httpx reads through several generators; one that is dropped half way is ended later, by a task nobody waits for.
    """
    import httpx

    pieces = response.aiter_bytes()
    try:
        yield pieces
    finally:
        await response.aclose()
        with suppress(httpx.HTTPError):
            async for _ in pieces:
                pass


def _words(error: Exception) -> str:
    return in_a_line(str(error)) or type(error).__name__


PCM_RATE: Final = 24_000
"""Hz of `response_format: pcm`, 16-bit little-endian mono (OpenAI's guide to text to speech)."""


class OpenAiSpeechSynthesizer(HttpVoice):
    """Any server that speaks OpenAI's interface: OpenAI itself, Kokoro-FastAPI, LocalAI, Speaches.

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
    """GPT-SoVITS: a voice cloned from a recording, by the interface of its `api_v2.py`.

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
