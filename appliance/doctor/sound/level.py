"""Listens to the microphone for a second and prints how loud it was, and whose sound, as JSON; a process of its own."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from appliance.config.sections import EarsSettings
from appliance.input.devices.source import microphone_of
from audio.capture.health import FULL_SCALE
from audio.capture.live import LiveMicrophone
from audio.devices.pulse import records_itself
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SECONDS, QUIETEST_DBFS, SAMPLE_RATE, Samples, rms_dbfs
from audio.playback.live import LivePlayer
from audio.playback.speaker import SpeakerPlayer

SECONDS: Final = 1.0
"""Of sound that are measured."""

SETTLING: Final = 8
"""Chunks left out first (0.26 s): cards begin with zeros, or with a click."""


class SoundLevel(Struct, frozen=True):
    """How loud a second was."""

    missing: str = ""
    """Why nothing could be heard; empty where something could."""
    dbfs: float = QUIETEST_DBFS
    """RMS level, dB relative to full scale."""
    peak: int = 0
    """The largest sample, 0 to 32768; 0 is digital silence."""
    clipped: float = 0.0
    """Share of the samples that are at full scale."""
    is_monitor: bool = False
    """Whether it is the loudspeaker's own sound that was measured."""


def level_of(samples: Samples) -> SoundLevel:
    """Return the level of int16 samples, shape (n,)."""
    size = np.abs(samples.astype(np.int32))
    return SoundLevel("", round(rms_dbfs(samples), 1), int(size.max(initial=0)), float(np.mean(size > FULL_SCALE)))


async def listen(
    microphone: LiveMicrophone,
    seconds: float = SECONDS,
    is_monitor: Callable[[], Awaitable[bool | None]] = records_itself,
) -> SoundLevel:
    """Return how loud the microphone is during so many seconds, why not where it cannot be heard; nothing is kept.

    `is_monitor` is asked while it is open.
    """
    heard: list[Samples] = []
    try:
        async with aclosing(microphone.chunks()) as chunks:
            async for chunk in chunks:
                heard.append(chunk.samples)
                if (len(heard) - SETTLING) * CHUNK_SECONDS >= seconds:
                    break
            hears_itself = bool(await is_monitor())
    except DeviceUnavailable as error:
        return SoundLevel(missing=str(error))
    level = level_of(np.concatenate(heard[SETTLING:])[: round(seconds * SAMPLE_RATE)])
    return replace(level, is_monitor=hears_itself)


async def listen_beside(loudspeaker: LivePlayer, microphone: LiveMicrophone) -> SoundLevel:
    """Return what `listen` does, beside a loudspeaker that plays nothing: else nobody knows whose monitor is heard."""
    try:
        with suppress(DeviceUnavailable):
            await loudspeaker.start()
        return await listen(microphone)
    finally:
        await loudspeaker.aclose()


def main(loudspeaker: str, ears: str) -> None:
    """Listen and print; `ears` is the section of the configuration, as JSON."""
    microphone = microphone_of(msgspec.json.decode(ears, type=EarsSettings))
    found = asyncio.run(listen_beside(SpeakerPlayer(loudspeaker), microphone))
    sys.stdout.write(json.dumps(asdict(found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
