"""Plays on a loudspeaker in a process of its own, so that PortAudio meets the sound card of the test and no other.

usage: python -m tests.audio.player_program sounddevice|pyaudio tones|endless|knock [DEVICE]
"""

import asyncio
import json
import sys
import time
from typing import cast

import numpy as np

from appliance.config.sections import SoundLibrary, VoiceSettings
from appliance.output.voices import output_of
from audio.errors import DeviceUnavailable
from audio.pcm import Samples
from audio.playback.live import LivePlayer
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import note


def tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)  # noqa: T201


async def tones(player: LivePlayer) -> None:
    """Play 440 Hz to its end, then three seconds of 880 Hz of which the last one is dropped."""
    began = time.monotonic()
    await player.play(SpeechAudio(note(440, 0.5, 24_000), 24_000))
    first_sound = player.busy_until - 0.5 - began
    await player.drain()
    drained = time.monotonic() - began
    await player.play(SpeechAudio(note(880, 3.0, 22_050), 22_050))
    dropped = player.stop()
    await player.drain()
    tell(first_sound=first_sound, drained=drained, dropped=dropped, busy=player.busy_until - time.monotonic())


async def endless(player: LivePlayer) -> None:
    """Play until the sound card goes away, and say what was raised."""
    began = time.monotonic()
    tell(playing=True)
    try:
        while True:
            await player.play(SpeechAudio(note(440, 0.5, 24_000), 24_000))
    except DeviceUnavailable as error:
        tell(error=str(error), seconds=time.monotonic() - began)


async def knock(player: LivePlayer) -> None:
    """Say nothing for a while, then knock: full level from the first sample on, for a fiftieth of a second."""
    loop, idle, given = asyncio.get_running_loop(), asyncio.Event(), 0.0

    def count(samples: Samples, sample_rate: int, at: float) -> None:
        nonlocal given
        given += len(samples) / sample_rate
        if given > 2.0:
            loop.call_soon_threadsafe(idle.set)

    player.tap(count)
    await idle.wait()
    await player.play(SpeechAudio(np.full(480, 16_000, np.int16), 24_000))
    await player.drain()
    tell(knocked=True)


async def main(backend: str, what: str, device: str = "") -> None:
    settings = VoiceSettings(device=device, backend=cast("SoundLibrary", backend))
    player = LivePlayer(output_of(settings), device or "the default loudspeaker")
    try:
        await player.start()
    except DeviceUnavailable as error:
        tell(error=str(error))
        return
    await {"tones": tones, "endless": endless, "knock": knock}[what](player)
    await player.aclose()
    await player.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
