"""Devices by a part of their name; and a machine without PortAudio, or without any device."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from audio.devices import SoundDevice, choose
from audio.errors import DeviceUnavailable
from tests.room.virtual_sound import virtual_sound

ROOT = Path(__file__).parents[2]


def device(index: int, name: str, inputs: int = 0, outputs: int = 0, *, default: bool = False) -> SoundDevice:
    return SoundDevice(index, name, "ALSA", inputs, outputs, 48000.0, default and inputs > 0, default and outputs > 0)


ROOM = (
    device(0, "HDMI 0", outputs=8),
    device(1, "USB Speakerphone: Audio (hw:1,0)", inputs=1, outputs=2),
    device(2, "Webcam C920", inputs=2),
    device(3, "webcam", inputs=2),
    device(4, "default", inputs=32, outputs=32, default=True),
)


@pytest.mark.shows("V2")
def test_a_part_of_the_name_is_enough_in_any_case() -> None:
    assert choose(ROOM, "speakerphone", "input").index == 1
    assert choose(ROOM, "speakerphone", "output").index == 1
    assert choose(ROOM, "c920", "input").index == 2


@pytest.mark.shows("V2")
def test_an_equal_name_comes_before_a_part_of_one() -> None:
    assert choose(ROOM, "Webcam", "input").index == 3


def test_no_name_is_the_default_or_the_first_that_can() -> None:
    assert choose(ROOM, "", "input").index == 4
    assert choose(ROOM[:4], "", "input").index == 1
    assert choose(ROOM[:4], "", "output").index == 0


def test_a_name_that_nothing_has_is_told_with_those_that_can() -> None:
    with pytest.raises(DeviceUnavailable) as raised:
        choose(ROOM, "HDMI", "input")
    assert str(raised.value) == (
        "no microphone is called 'HDMI'; there are: USB Speakerphone: Audio (hw:1,0), Webcam C920, webcam, default"
    )


@pytest.mark.shows("V2")
def test_a_machine_with_nothing_but_microphones_has_no_loudspeaker() -> None:
    with pytest.raises(DeviceUnavailable, match="there is no loudspeaker on this machine"):
        choose(ROOM[2:4], "", "output")
    with pytest.raises(DeviceUnavailable, match="no loudspeaker is called 'C920'; there are: HDMI 0, "):
        choose(ROOM, "C920", "output")


def test_a_machine_without_any_is_told() -> None:
    with pytest.raises(DeviceUnavailable, match="there is no loudspeaker on this machine; plug one in"):
        choose((), "", "output")


LOOK = """
import json
from audio.devices import find_device, list_devices
from audio.errors import DeviceUnavailable
found = {"names": [device.name for device in list_devices()]}
for kind in ("input", "output"):
    try:
        found[kind] = find_device("", kind).name
    except DeviceUnavailable as error:
        found[kind] = str(error)
print(json.dumps(found))
"""


def look(prelude: str = "", **environment: str) -> dict[str, str | list[str]]:
    """Look for devices in a child process: PortAudio reads its surroundings once."""
    done = subprocess.run(
        [sys.executable, "-c", prelude + LOOK], env=os.environ | environment, cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=True,
    )  # fmt: skip
    found: dict[str, str | list[str]] = json.loads(done.stdout)
    return found


def test_without_portaudio_there_is_no_device_and_the_mend_is_told() -> None:
    # As on a machine where the library is missing: sounddevice asks ctypes for it and raises OSError.
    found = look("import ctypes.util; ctypes.util.find_library = lambda name: None\n")
    assert found["names"] == []
    assert "there is no PortAudio" in found["input"]
    assert "apt-get install libportaudio2" in found["output"]


@pytest.mark.sound
@pytest.mark.shows("V2")
def test_the_devices_of_a_sound_server_are_listed() -> None:
    with virtual_sound() as card:
        found = look(**card.environment)
    assert {"mic", "speaker", "default"} <= set(found["names"])
    assert (found["input"], found["output"]) == ("default", "default")
