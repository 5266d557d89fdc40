"""One request to edge-tts, with the deadlines and the check for a whole answer that the library lacks."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Final

import aiohttp
import edge_tts.communicate
from aiohttp.connector import Connection
from edge_tts.exceptions import EdgeTTSException
from edge_tts.typing import TTSChunk

from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.speech import WordTiming

if TYPE_CHECKING:
    from aiohttp.tracing import Trace

TICKS_PER_SECOND = 10_000_000
"""Unit of the service's timings: 100 ns (edge_tts/constants.py)."""


AHEAD_SECONDS: Final = 30.0
"""For which a connection that was opened ahead waits for its sentence."""


class KeptConnector(aiohttp.TCPConnector):
    """The library's way to the service, kept from one sentence to the next, which by itself it closes behind each.

    A connection that was opened ahead, TLS and all, is the one that the next sentence takes.
    """

    def __init__(self) -> None:
        super().__init__(keepalive_timeout=AHEAD_SECONDS)
        self._last: tuple[aiohttp.ClientRequest, aiohttp.ClientTimeout] | None = None
        """How the library asked for its last connection: address, proxy and TLS of the next. No words are in it."""

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: "list[Trace]",
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  aiohttp's own parameter
    ) -> Connection:
        """Return a connection, one that is open where there is one."""
        self._last = (req, timeout)
        return await super().connect(req, traces, timeout)

    async def open_ahead(self) -> None:
        """Open a connection like the last one, unless one is open; what fails there whoever speaks next is told."""
        if self._last is not None:
            request, timeout = self._last
            with suppress(OSError, aiohttp.ClientError):
                (await super().connect(request, [], timeout)).release()

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Keep it: so the library ends each sentence."""

    async def aclose(self) -> None:
        """Close all connections, for good."""
        await super().close()


class EdgeStream:
    """One request to the service, made inside a running loop.

    Iterate `items` once; then `ended` says whether the service said that it was all.
    """

    def __init__(self, text: str, voice: str, url: str, connector: KeptConnector | None = None) -> None:
        if url:
            # The library has no parameter for the address of the service; it reads this name at each request.
            edge_tts.communicate.WSS_URL = url  # type: ignore[attr-defined]
        try:
            self._communicate = edge_tts.Communicate(text, voice, boundary="WordBoundary", connector=connector)
        except ValueError as error:
            raise VoiceUnavailable(f"edge-tts has no voice {voice!r}: `edge-tts --list-voices` prints them") from error
        self._bytes = 0

    @property
    def ended(self) -> bool:
        """Whether the service announced the end of its turn; a dropped connection looks the same but for this.

        The library adds a turn's bytes to this sum when it sees `turn.end`, and only then.
        """
        return self._bytes > 0 and self._communicate.state["cumulative_audio_bytes"] == self._bytes

    async def items(self, first_audio_timeout: float, stall_timeout: float) -> AsyncGenerator[bytes | WordTiming, None]:
        """Yield pieces of MP3 and word timings in the order they arrive.

        `first_audio_timeout` seconds may pass until the first MP3, then `stall_timeout` between two items. Raises
        `VoiceUnavailable` when the service cannot be reached, `SynthesisFailed` for every other way it may fail.
        """
        loop = asyncio.get_running_loop()
        by = loop.time() + first_audio_timeout
        try:
            async with aclosing(self._communicate.stream()) as chunks:
                while (chunk := await self._next(chunks, max(0.0, by - loop.time()))) is not None:
                    yield self._item(chunk)
                    if self._bytes:
                        by = loop.time() + stall_timeout
        except OSError as error:
            raise VoiceUnavailable(f"edge-tts cannot be reached: {_words(error)}") from error
        except (EdgeTTSException, aiohttp.ClientError, LookupError, TypeError, ValueError) as error:
            raise SynthesisFailed(f"edge-tts failed: {_words(error)}") from error

    async def _next(self, chunks: AsyncGenerator[TTSChunk, None], seconds: float) -> TTSChunk | None:
        """Return the next chunk, None at the end. Raises `SynthesisFailed` when it takes longer than this."""
        try:
            async with asyncio.timeout(seconds):
                return await anext(chunks, None)
        except TimeoutError as error:
            what = "no further sound" if self._bytes else "no sound"
            raise SynthesisFailed(f"edge-tts: {what} in time ({seconds:.1f} s)") from error

    def _item(self, chunk: TTSChunk) -> bytes | WordTiming:
        if chunk["type"] == "audio":
            self._bytes += len(chunk["data"])
            return chunk["data"]
        start = chunk["offset"] / TICKS_PER_SECOND
        return WordTiming(chunk["text"], start, start + chunk["duration"] / TICKS_PER_SECOND)


def _words(error: Exception) -> str:
    """Return what the error says, the status of a refused handshake first; its name when it says nothing.

    The library's own words about a host name its TLS context by the address in memory.
    """
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"{error.host}: {error.os_error.strerror or error.os_error}"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"HTTP {error.status}"
    return str(error) or type(error).__name__
