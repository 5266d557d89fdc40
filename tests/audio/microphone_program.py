"""A child process that listens: PortAudio reads its surroundings once, so each card needs a process of its own.

Arguments: backend (sounddevice or pyaudio), device name, number of chunks. Prints `listening`; after a line on its
standard input it goes on for that many chunks and prints what came as one JSON object.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import msgspec
import numpy as np

from appliance.config.sections import EarsSettings
from appliance.input.devices.source import microphone_of
from audio.capture.live import LiveMicrophone
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SECONDS, SAMPLE_RATE, AudioChunk


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def report(chunks: list[AudioChunk], microphone: LiveMicrophone) -> dict[str, object]:
    samples = np.concatenate([chunk.samples for chunk in chunks])
    spectrum = np.abs(np.fft.rfft(samples.astype(np.float64)))
    steps = np.diff([chunk.started_at for chunk in chunks])
    loud = [chunk.started_at for chunk in chunks if np.abs(chunk.samples).max() > 2000]
    return {
        "name": microphone.name,
        "sizes": sorted({len(chunk.samples) for chunk in chunks}),
        "hertz": float(np.argmax(spectrum)) * SAMPLE_RATE / len(samples),
        "loud_seconds": len(loud) * CHUNK_SECONDS,
        "step": float(np.mean(steps)),
        "drift": float(chunks[-1].started_at - chunks[0].started_at - (len(chunks) - 1) * CHUNK_SECONDS),
        "dropped": microphone.dropped_chunks,
    }


async def listen(microphone: LiveMicrophone, wanted: int) -> dict[str, object]:
    chunks: AsyncIterator[AudioChunk] = microphone.chunks()
    await anext(chunks)
    tell("listening")
    go_on = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    while not go_on.done():
        await anext(chunks)
    kept = [await anext(chunks) for _ in range(wanted)]
    return report(kept, microphone)


async def main() -> None:
    backend, device, wanted = sys.argv[1:]
    ears = msgspec.convert({"backend": backend, "device": device}, EarsSettings)
    try:
        result = await listen(microphone_of(ears), int(wanted))
    except DeviceUnavailable as error:
        result = {"unavailable": str(error)}
    tell(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main())
