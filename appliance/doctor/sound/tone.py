"""Plays a test tone on a loudspeaker and prints what became of it as JSON, in a process of its own."""

import asyncio
import json
import sys

from msgspec import Struct
from msgspec.structs import asdict

from audio.errors import DeviceUnavailable
from audio.playback.earcons import bell
from audio.playback.live import LivePlayer
from audio.playback.speaker import SpeakerPlayer


class Tone(Struct, frozen=True):
    """How the tone went."""

    name: str = ""
    """Of the loudspeaker."""
    missing: str = ""
    """Why it cannot have been heard; empty where it was played."""


async def play(loudspeaker: LivePlayer) -> Tone:
    """Play a bell to its end."""
    try:
        await loudspeaker.start()
        await loudspeaker.play(bell())
        await loudspeaker.drain()
    except DeviceUnavailable as error:
        return Tone(loudspeaker.name, str(error))
    finally:
        await loudspeaker.aclose()
    return Tone(loudspeaker.name)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(asyncio.run(play(SpeakerPlayer(sys.argv[1]))))))
