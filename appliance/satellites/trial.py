"""Trying a satellite: a short sound there, and what its microphone hears once somebody wakes it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import log10
from typing import Final

import numpy as np

from appliance.satellites.interfaces import Device, DeviceObserver, VoiceEvent
from audio.playback.earcons import bell

FULL_SCALE: Final = 32_768.0


class Trial(DeviceObserver):
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


@asynccontextmanager
async def served(address: str, port: int = 0) -> AsyncIterator[str]:
    """Serve a bell, once, at an address of this machine until the end of the block; gives its url. Raises OSError.

    Where something has the port already, another is taken; 0 is any.
    """
    from appliance.satellites.talk.body import USUAL, Body  # which loads FFmpeg
    from appliance.satellites.talk.serving import ReplyServer

    body = Body(USUAL, time.monotonic, asyncio.Event())
    body.put(bell())
    body.finish()
    server = ReplyServer(port=port)
    try:
        try:
            url = await server.offer(body, address, "")
        except OSError:
            server = ReplyServer()
            url = await server.offer(body, address, "")
        yield url
    finally:
        server.close()
