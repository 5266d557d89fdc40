"""When pipecat, livekit and Home Assistant end the turns of recordings, by their defaults; runs where they are.

pipecat: its `SileroVADAnalyzer`, a turn ends when it turns QUIET (stop_secs). livekit: its Silero plugin's stream, a
turn ends at END_OF_SPEECH, or when its minimum delay since the last speech has passed if later. Home Assistant: its
`VoiceCommandSegmenter` over the same Silero at 0.5, because its own detector needs its whole core.
"""

# mypy: ignore-errors
# Standing alone: nothing of nakari's is installed where this runs.

import asyncio
import importlib.util
import json
import sys
import types
import wave
from pathlib import Path

import numpy as np

CHUNK = 512
RATE = 16_000
LIVEKIT_MIN_DELAY = 0.5
"""Seconds: `EndpointingOptions` of livekit.agents.voice.turn without a turn detector."""


def samples_of(file):
    """Return a WAV's samples, int16."""
    with wave.open(file) as sound:
        return np.frombuffer(sound.readframes(sound.getnframes()), np.int16)


def chunks_of(samples):
    """Return whole chunks of 512."""
    return [samples[at : at + CHUNK] for at in range(0, len(samples) - CHUNK + 1, CHUNK)]


async def pipecat_ends(samples):
    """Return when pipecat's analyzer fell quiet, in seconds."""
    from pipecat.audio.vad.silero import SileroVADAnalyzer
    from pipecat.audio.vad.vad_analyzer import VADState

    analyzer = SileroVADAnalyzer(sample_rate=RATE)
    analyzer.set_sample_rate(RATE)
    ends, speaking = [], False
    for number, chunk in enumerate(chunks_of(samples), 1):
        state = await analyzer.analyze_audio(chunk.tobytes())
        if state == VADState.SPEAKING:
            speaking = True
        elif state == VADState.QUIET and speaking:
            speaking = False
            ends.append(number * CHUNK / RATE)
    await analyzer.cleanup()
    return ends


async def livekit_ends(samples, vad):
    """Return when livekit's rule ended turns, in seconds."""
    from livekit import rtc
    from livekit.agents.vad import VADEventType

    stream = vad.stream()
    for chunk in chunks_of(samples):
        stream.push_frame(rtc.AudioFrame(chunk.tobytes(), RATE, 1, len(chunk)))
    stream.end_input()
    ends, ended = [], None
    async for event in stream:
        if event.type == VADEventType.START_OF_SPEECH:
            ended = None
        elif event.type == VADEventType.END_OF_SPEECH:
            ended = event.timestamp + max(0.0, LIVEKIT_MIN_DELAY - event.silence_duration)
        if ended is not None and event.timestamp >= ended:
            ends.append(ended)
            ended = None
    return ends


def segmenter_class():
    """Return Home Assistant's class; its module needs nothing but three numbers of the module beside it."""
    folder = Path(sys.prefix) / "home-assistant" / "homeassistant" / "components" / "assist_pipeline"
    package = types.ModuleType("assist_pipeline")
    package.__path__ = [str(folder)]
    sys.modules["assist_pipeline"] = package
    numbers = types.ModuleType("assist_pipeline.const")
    numbers.SAMPLE_RATE, numbers.SAMPLE_WIDTH, numbers.SAMPLE_CHANNELS = RATE, 2, 1
    sys.modules["assist_pipeline.const"] = numbers
    spec = importlib.util.spec_from_file_location("assist_pipeline.vad", folder / "vad.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["assist_pipeline.vad"] = module
    spec.loader.exec_module(module)
    return module.VoiceCommandSegmenter


def home_assistant_ends(samples, segmenter, model):
    """Return when the segmenter finished commands, in seconds."""
    model.reset_states()
    ends, began = [], False
    for number, chunk in enumerate(chunks_of(samples), 1):
        speech = float(np.asarray(model(chunk.astype(np.float32) / 32768.0, RATE)).squeeze()) > 0.5
        going_on = segmenter.process(CHUNK / RATE, speech)
        began = began or segmenter.in_command
        if not going_on:
            if began:
                ends.append(number * CHUNK / RATE)
            began = False
    return ends


async def main(files):
    """Print one line of JSON: for each peer the ends in each file."""
    from livekit.plugins import silero
    from pipecat.audio.vad.silero import SileroVADAnalyzer

    vad, segmenter = silero.VAD.load(), segmenter_class()
    model = SileroVADAnalyzer(sample_rate=RATE)._model
    found = {"pipecat": [], "livekit": [], "Home Assistant": []}
    for file in files:
        samples = samples_of(file)
        found["pipecat"].append(await pipecat_ends(samples))
        found["livekit"].append(await livekit_ends(samples, vad))
        found["Home Assistant"].append(home_assistant_ends(samples, segmenter(), model))
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
