"""Lists the sound devices as JSON, in a process of its own that may hang or abort; the doctor starts it."""

import json
import sys
from typing import get_args

from msgspec import Struct
from msgspec.structs import asdict

from audio.devices.listing import Kind, find_device, list_devices, sounddevice
from audio.errors import DeviceUnavailable


class SoundDevices(Struct, frozen=True):
    """What there is, and what is wrong with it."""

    missing: str = ""
    """Why there is no PortAudio; empty where it is."""
    input: list[str] = []
    """Names of microphones, in PortAudio's order."""
    output: list[str] = []
    """Names of loudspeakers."""
    wrong: list[str] = []
    """A sentence for each device that is configured by name and not there."""
    chosen: list[str] = []
    """Names of the microphone and the loudspeaker that the configuration chooses, "" where there is none."""


def look(microphone: str, loudspeaker: str) -> SoundDevices:
    """Return what PortAudio finds; the names are those of the configuration, "" for the default."""
    try:
        sounddevice()
    except DeviceUnavailable as error:
        return SoundDevices(missing=str(error))
    wrong, chosen = [], []
    for name, kind in zip((microphone, loudspeaker), get_args(Kind), strict=True):
        try:
            chosen.append(find_device(name, kind).name)
        except DeviceUnavailable as error:
            chosen.append("")
            wrong += [str(error)] if name else []
    devices = list_devices()
    microphones, loudspeakers = ([each.name for each in devices if each.can(kind)] for kind in get_args(Kind))
    return SoundDevices("", microphones, loudspeakers, wrong, chosen)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(look(*sys.argv[1:3]))))
