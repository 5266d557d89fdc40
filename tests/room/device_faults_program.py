"""A child process that listens and plays under supervision: PortAudio reads its surroundings once, a process a card.

Arguments: microphone's name ("" for the default), seconds of zeros that are dead. Prints one JSON object a line for
each change; plays a second of speech-like noise for each line `play` on its standard input, and tells for `level` how
loud the last second of the microphone was.
"""

import asyncio
import json
import sys
from functools import partial

import numpy as np
import structlog

from appliance.config.sections import EarsSettings
from appliance.input.devices.devices import MicrophoneSupervision
from appliance.input.devices.source import microphone_of
from audio.capture.health import Fault
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import system_hotplug
from audio.devices.listing import find_device
from audio.devices.portaudio import SOUND_THREAD
from audio.errors import DeviceUnavailable
from audio.loops import running
from audio.pcm import rms_dbfs
from audio.playback.reopening import ReopeningPlayer
from audio.playback.speaker import SounddeviceOutput
from audio.speech import SpeechAudio


def tell(**facts: object) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


def noise(seconds: float) -> SpeechAudio:
    """Low noise in syllables, so that no stretch of it is like another one."""
    generator = np.random.default_rng(7)
    samples = np.cumsum(generator.normal(size=round(seconds * 48_000)))
    samples -= np.convolve(samples, np.ones(480) / 480, "same")
    return SpeechAudio((samples / np.abs(samples).max() * 12_000).astype(np.int16), 48_000)


async def obey(microphone: LiveMicrophone, player: ReopeningPlayer) -> None:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line == "play\n":
            try:
                await player.play(noise(5.0))
                await player.drain()
            except DeviceUnavailable as error:
                player.stop()
                tell(unheard=str(error))
            else:
                tell(played=True)
        else:
            tell(level=round(rms_dbfs(microphone.recent()[0])))


async def main(device: str, zeros: str) -> None:
    microphone = microphone_of(EarsSettings(device=device, zeros_are_dead=float(zeros)))
    player = ReopeningPlayer(SounddeviceOutput("speaker"), "speaker")
    await player.start()
    hotplug = system_hotplug()

    def changed(fault: Fault | None) -> None:
        tell(microphone=fault.value if fault else "back")

    supervision = MicrophoneSupervision(microphone, changed, hotplug.wait, player.output.played)
    try:
        SOUND_THREAD.call(partial(find_device, device, "input"), 5.0)
    except DeviceUnavailable as error:
        supervision.absent(str(error))
        tell(microphone="missing")
    player.output.observe(lambda is_there: tell(loudspeaker="back" if is_there else "gone"))

    async def listen() -> None:
        async for _ in microphone.chunks():
            if not supervision.first_heard.is_set():
                tell(microphone="open")
            supervision.chunk()

    async with running(hotplug.loops()), asyncio.TaskGroup() as group:
        group.create_task(supervision.keep(listen, lambda: None))
        group.create_task(supervision.watch())
        group.create_task(player.output.run(hotplug.wait))
        group.create_task(obey(microphone, player))


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    asyncio.run(main(*sys.argv[1:]))
