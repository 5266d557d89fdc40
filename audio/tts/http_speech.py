"""A speech server over HTTP: one request a sentence, over a connection that is kept, its faults as sentences."""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from audio.egress import SendsTo, has_certificate
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.loops import Loop
from audio.speech import SpeechAudio
from audio.tts.decoding import SoundStream

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS: Final = 3.0
"""That a connection may take, TLS included. All other patience is the chain's."""

KEEP_SECONDS: Final = 120.0
"""An idle connection is kept so long; longer and a router on the way may have forgotten it."""

MOST_COMPLAINT: Final = 64 * 1024
"""Bytes of a refusal's body that are read."""

MOST_WORDS: Final = 200
"""Characters of a refusal that are told."""

_RATE: Final = re.compile(r";\s*rate=(\d{4,5})\b")
_NO_SOUND: Final = ("text/", "application/json", "image/")


class HttpVoice(ABC):
    """A `Synthesizer` over such a server; a subclass says what is asked of it. It times no words."""

    name: str

    def __init__(self, url: str, key: str = "", pcm_rate: int = 0) -> None:
        """`pcm_rate` as in `HttpSpeech.sound`."""
        self._server = HttpSpeech(self.name, url, key)
        self._pcm_rate = pcm_rate

    @abstractmethod
    def _asked(self, sentence: str, language: str) -> Mapping[str, object]:
        """Return the body of the request for a sentence."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """Each sentence, to the server."""
        return (SendsTo("what nakari says", self._server.host),)

    def load(self) -> None:
        """Import what speaking needs. Blocking."""
        self._server.load()

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps the connection, until cancelled."""
        return {f"speech: the connection to {self.name}": self._server.keep_open}

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono. Raises `SynthesisFailed`, `VoiceUnavailable`."""
        async with aclosing(self._server.sound(self._asked(sentence, language), self._pcm_rate)) as pieces:
            async for piece in pieces:
                yield piece


class HttpSpeech:
    """Posts to one address, and reads the sound that is answered."""

    def __init__(self, name: str, url: str, key: str = "") -> None:
        """`name` is the voice's, for the sentences; `key` a bearer token, "" for none. `url` is never left for another.

        What is redirected is refused, because what is said, and the key, would go where nobody sent them.
        """
        self._name = name
        self._url = url
        self._key = key
        self._kept: httpx.AsyncClient | None = None
        """While `keep_open` runs; else there is one connection a sentence."""
        self._is_open: asyncio.Event | None = None
        """Of `keep_open`; None while it does not run."""

    @property
    def host(self) -> str:
        """The host, with its port where it has one."""
        return urlsplit(self._url).netloc

    @staticmethod
    def load() -> None:
        """Import the library now instead of with the first sentence. Blocking."""
        import httpx  # noqa: F401

    async def keep_open(self) -> None:
        """Keep the connection from one sentence to the next, until cancelled."""
        self._is_open = asyncio.Event()
        try:
            async with await self._new() as self._kept:
                self._is_open.set()
                await asyncio.Event().wait()
        finally:
            self._kept = self._is_open = None

    async def sound(self, body: Mapping[str, object], pcm_rate: int = 0) -> AsyncGenerator[SpeechAudio, None]:
        """Post the body as JSON and yield the sound of the answer as it comes.

        `pcm_rate` is the rate in Hz of an answer that is bare PCM and does not name its rate, 0 where it may not be
        PCM. Raises `VoiceUnavailable` when the server cannot be reached, `SynthesisFailed` when it refuses, answers
        something that is no sound, or not all of it.
        """
        import httpx

        try:
            async with self._client() as client, client.stream("POST", self._url, json=body) as response:
                if response.status_code != httpx.codes.OK:
                    raise await self._refused(response, body)
                async with aclosing(self._decoded(response, pcm_rate)) as pieces:
                    async for piece in pieces:
                        yield piece
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise VoiceUnavailable(f"{self._name} at {self.host} cannot be reached ({_words(error)})") from error
        except httpx.HTTPError as error:
            raise SynthesisFailed(f"{self._name}: the connection broke off ({_words(error)})") from error

    async def _decoded(self, response: "httpx.Response", pcm_rate: int) -> AsyncGenerator[SpeechAudio, None]:
        kind = response.headers.get("content-type", "").lower()
        told = _RATE.search(kind)
        stream = SoundStream(0 if kind.startswith(_NO_SOUND) else pcm_rate and int(told[1] if told else pcm_rate))
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
            raise SynthesisFailed(f"{self._name}: {error}") from error
        if len(samples):
            yield SpeechAudio(samples, stream.sample_rate)
        if total + len(samples) == 0:
            raise SynthesisFailed(f"{self._name}: the answer holds no sound")

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
            verify=has_certificate(self._url),
            follow_redirects=False,
            trust_env=False,
        )

    async def _refused(self, response: "httpx.Response", body: Mapping[str, object]) -> SynthesisFailed:
        """Return what a refusal says, without what was to be said and without the key."""
        if response.is_redirect:
            return SynthesisFailed(f"{self._name} at {self.host} redirects elsewhere (HTTP {response.status_code})")
        told = b""
        async with _body(response) as pieces:
            async for data in pieces:
                told += data
                if len(told) >= MOST_COMPLAINT:
                    break
        words = _complaint(told)
        for secret in (self._key, str(body.get("text") or body.get("input") or "")):
            words = words.replace(secret, "…") if len(secret) > 1 else words
        return SynthesisFailed(
            f"{self._name} at {self.host} answered HTTP {response.status_code}{f': {words}' if words else ''}"
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


def _complaint(body: bytes) -> str:
    """Return what the body of a refusal says, in one line: a field of its JSON; of a page nothing."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode(errors="replace").strip()
        return "" if text.startswith("<") else _line(text)
    while isinstance(said, dict | list):
        if isinstance(said, list):
            said = said[0] if said else ""
            continue
        fields = ("error", "detail", "message", "msg", "Exception")
        said = [said[name] for name in fields if said.get(name)][-1:]
    return _line(str(said or ""))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]}…"


def _words(error: Exception) -> str:
    return _line(str(error)) or type(error).__name__
