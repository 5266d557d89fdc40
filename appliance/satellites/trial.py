"""Trying a satellite: a short sound there, and what its microphone hears once somebody wakes it."""

import asyncio
import io
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import log10
from typing import Final

import numpy as np

from appliance.satellites.interfaces import Device, VoiceEvent

TONE_SECONDS: Final = 0.6
TONE_RATE: Final = 48_000
"""Hz, two channels: what starts soonest on the players that were tried."""

FULL_SCALE: Final = 32_768.0

REQUEST_BYTES: Final = 8_192


class Trial:
    """Listens to a device when a person tries it; else it takes nothing. An observer like any other."""

    def __init__(self, device: Device, hearing_seconds: float) -> None:
        """`hearing_seconds` is how long its microphone is listened to once it was woken."""
        self._device = device
        self._hearing_seconds = hearing_seconds
        self._is_on = False
        self._woken = asyncio.Event()
        self._phrase = ""
        self._loudest = 0
        self._samples = 0

    async def listen(self, seconds: float) -> str:
        """Wait so long for somebody to wake it, and return what its microphone gave then, in words."""
        self._is_on, self._loudest, self._samples = True, 0, 0
        self._woken.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
            await asyncio.sleep(self._hearing_seconds)
        except TimeoutError:
            return f"nobody woke it within {seconds:g} s"
        finally:
            self._is_on = False
        for event in (VoiceEvent.STT_VAD_END, VoiceEvent.RUN_END):
            self._device.tell(event)
        if not self._samples:
            return f"woken by {self._phrase or 'its button'}, and no sound came"
        level = f"{20 * log10(self._loudest / FULL_SCALE):.0f} dBFS at most" if self._loudest else "silence"
        return f"woken by {self._phrase or 'its button'}, its microphone gives sound ({level})"

    def wake(self, phrase: str, *, follows_reply: bool) -> bool:
        """Take the sound while a person tries it."""
        if self._is_on:
            self._phrase = phrase
            self._woken.set()
            self._device.tell(VoiceEvent.RUN_START)
            self._device.tell(VoiceEvent.STT_START)
        return self._is_on

    def audio(self, pcm: bytes) -> None:
        """Note how loud it is."""
        if self._is_on and pcm:
            samples = np.frombuffer(pcm, dtype="<i2")
            self._samples += len(samples)
            self._loudest = max(self._loudest, int(np.abs(samples.astype(np.int32)).max()))

    def stopped(self, aborted: bool) -> None:
        """Nothing to do."""

    def announcement_finished(self) -> None:
        """Nothing to do."""

    def there(self, is_there: bool) -> None:
        """Nothing to do."""

    def muted(self, is_muted: bool) -> None:
        """Nothing to do."""

    def volume(self, level: float) -> None:
        """Nothing to do."""


def tone() -> bytes:
    """Return a short sound as a WAV file."""
    times = np.arange(int(TONE_SECONDS * TONE_RATE)) / TONE_RATE
    fade = np.minimum(1.0, np.minimum(times, TONE_SECONDS - times) / 0.02)
    sound = np.where(times < TONE_SECONDS / 2, np.sin(2 * np.pi * 659.25 * times), np.sin(2 * np.pi * 880.0 * times))
    samples = np.repeat((sound * fade * 0.3 * FULL_SCALE).astype("<i2"), 2)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(TONE_RATE)
        out.writeframes(samples.tobytes())
    return file.getvalue()


class _Answer(asyncio.Protocol):
    """Answers one request with one file."""

    def __init__(self, content: bytes, opened: set[asyncio.Transport]) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: {len(content)}\r\nConnection: close"
        self._head, self._content, self._opened = f"{head}\r\n\r\n".encode(), content, opened
        self._asked = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._opened.add(transport)

    def data_received(self, data: bytes) -> None:
        self._asked += data
        if b"\r\n\r\n" in self._asked:
            self._transport.write(self._head + (b"" if self._asked.startswith(b"HEAD") else self._content))
            self._transport.close()
        elif len(self._asked) > REQUEST_BYTES:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._opened.discard(self._transport)


@asynccontextmanager
async def served(content: bytes, address: str, port: int = 0) -> AsyncIterator[str]:
    """Serve a WAV file at an address of this machine until the end of the block; gives its url. Raises OSError.

    Where something has the port already, another is taken; 0 is any.
    """
    opened: set[asyncio.Transport] = set()
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(lambda: _Answer(content, opened), address, port)
    except OSError:
        server = await loop.create_server(lambda: _Answer(content, opened), address, 0)
    host = f"[{address}]" if ":" in address else address
    try:
        yield f"http://{host}:{server.sockets[0].getsockname()[1]}/sound.wav"
    finally:
        server.close()
        for _ in range(3):  # whoever was let in just now is known after that
            await asyncio.sleep(0)
        for transport in [*opened]:
            transport.abort()
        await asyncio.sleep(0)
