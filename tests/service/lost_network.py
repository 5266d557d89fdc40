"""Speaks while the network goes away and comes back; run in a namespace whose loopback is its network.

`python -m tests.service.lost_network STATE RECORDING` prints what was heard of each sentence, where it is in the
recording (seconds from its first sample), and what the service was asked to say.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from appliance.config.load import load
from appliance.output.voices import choose_voice, speech_settings
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from audio.playback.wav import WavPlayer
from tests.audio.edge_server import EdgeServer, Fault, edge_server, spoken
from tests.audio.mouth_fakes import Clock, Following
from tests.loops import together

SENTENCES = (
    "Remember that the plumber comes on Friday.",
    "Remember that the spare key is under the mat.",
    "Add tomatoes to the shopping list.",
)
"""The network goes while the first is said, is away during the second, and is back for the third."""

STALL_SECONDS = 2.0
"""What the voice over the network is given to go on (`EdgeSynthesizer`)."""


async def main(state: Path, recording: Path) -> None:
    """Say all three, one after the other."""
    for sentence in SENTENCES:
        spoken(sentence)
    clock, player, heard, places = Clock(), WavPlayer(recording, realtime=True), [], []
    async with edge_server(Fault.STALL) as server:
        file = state / "nakari.toml"
        file.write_text(f'[voice]\nengine = "auto"\nedge_url = "{server.url}"\n[state]\nfolder = "{state}"\n')
        config = load(file, {"HOME": str(state)})
        mouth = SpeechOutput(choose_voice(speech_settings(config), config.state_folder, clock), player)
        mouth.observe(Following(ended=lambda part, whole: heard.append((part, whole))))
        await player.start()
        opened = time.monotonic()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(together(mouth.loops()))
            for number, sentence in enumerate(SENTENCES):
                begin = time.monotonic() - opened
                await _say(mouth, number, sentence, server, clock)
                places.append((begin, time.monotonic() - opened))
            running.cancel()
        await player.aclose()
    asked = [request.text for request in server.requests]
    print(json.dumps({"heard": heard, "places": places, "asked": asked}))  # noqa: T201


async def _say(mouth: SpeechOutput, number: int, sentence: str, server: EdgeServer, clock: Clock) -> None:
    sounding = asyncio.Event()
    mouth.observe(Following(first=lambda sentence, at: sounding.set()))
    if number == 2:
        await _network("up")
        clock.now += 11.0  # the voice is left alone for ten seconds after its first failure
    await mouth.say(SpokenSentence("reply", number, sentence, "en"))
    if number == 0:
        await sounding.wait()
        await _network("down")
        server.go_on.set()  # what the service sends now is lost
    await mouth.quiet()


async def _network(state: str) -> None:
    process = await asyncio.create_subprocess_exec("ip", "link", "set", "lo", state)
    assert await process.wait() == 0


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
