"""Devices by a part of their name; and a machine without PortAudio, or without any device."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from audio.devices.listing import SoundDevice, choose
from audio.errors import DeviceUnavailable
from tests.room.virtual_sound import virtual_sound

ROOT = Path(__file__).parents[3]


def device(index: int, name: str, inputs: int = 0, outputs: int = 0, *, default: bool = False) -> SoundDevice:
    return SoundDevice(index, name, inputs, outputs, 48000.0, default and inputs > 0, default and outputs > 0)


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
from audio.devices.listing import find_device, list_devices
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
    found: dict[str, str | list[str]] = json.loads(printed(prelude + LOOK, **environment))
    return found


def printed(program: str, **environment: str) -> str:
    """Return what a child process prints that runs a program."""
    return subprocess.run(
        [sys.executable, "-c", program], env=os.environ | environment, cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=True,
    ).stdout  # fmt: skip


def test_without_portaudio_there_is_no_device_and_the_mend_is_told() -> None:
    # As on a machine where the library is missing: sounddevice asks ctypes for it and raises OSError.
    found = look("import ctypes.util; ctypes.util.find_library = lambda name: None\n")
    assert found["names"] == []
    assert "there is no PortAudio" in found["input"]
    assert "apt-get install libportaudio2" in found["output"]


REFUSING = """
class PortAudioError(Exception):
    pass
raise PortAudioError("Error initializing PortAudio: Unanticipated host error")
"""


@pytest.mark.shows("V3")
def test_a_sound_system_that_cannot_be_opened_is_no_device_and_the_mend_is_told(tmp_path: Path) -> None:
    # sounddevice opens PortAudio when it is imported, and raises its own error there.
    (tmp_path / "sounddevice.py").write_text(REFUSING)
    found = look(PYTHONPATH=str(tmp_path))
    assert found["names"] == []
    told = "the sound system cannot be opened (Error initializing PortAudio: Unanticipated host error)"
    assert found["input"] == found["output"] == f"{told}; restart the sound server"


COUNTING = """
class PortAudioError(Exception):
    pass
class default:
    device = (-1, -1)
def _initialize():
    print("read")
def _terminate():
    pass
def query_hostapis():
    return ()
_initialize()
"""


@pytest.mark.shows("H9")
def test_whoever_looks_first_reads_the_list_once_by_the_import(tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text(COUNTING)
    told = printed(ASKING.format(ask=LOOKING_ANEW), PYTHONPATH=str(tmp_path))
    assert told.startswith("read\nDeviceUnavailable there is no microphone on this machine")


LOOKING_ANEW = """
from audio.devices.listing import find_device_anew
def ask():
    find_device_anew("", "input")
"""

ASKING = """
{ask}
try:
    ask()
except Exception as error:
    print(type(error).__name__, error)
"""

REFUSING_PYAUDIO = """
class PyAudio:
    def __init__(self):
        raise OSError(-9999, "Unanticipated host error")
"""


def test_nor_by_the_other_backend(tmp_path: Path) -> None:
    (tmp_path / "pyaudio.py").write_text(REFUSING_PYAUDIO)
    told = printed(
        ASKING.format(ask="from audio.pyaudio_backend import open_portaudio as ask"), PYTHONPATH=str(tmp_path)
    )
    assert told.startswith("DeviceUnavailable the sound system cannot be opened (")


REFUSING_FOR_ONCE = """
import sounddevice
from audio.devices.listing import find_device_anew
opens = sounddevice._initialize
def ask():
    sounddevice._initialize = refuse
    find_device_anew("", "input")
def refuse():
    sounddevice._initialize = opens
    raise sounddevice.PortAudioError("Unanticipated host error")
"""


def test_nor_when_the_list_of_devices_is_read_anew() -> None:
    told = printed(ASKING.format(ask=REFUSING_FOR_ONCE))
    assert told.startswith("DeviceUnavailable the sound system cannot be opened (Unanticipated host error)")


@pytest.mark.sound
@pytest.mark.shows("V2")
def test_a_name_that_was_cut_within_a_character_hides_no_other_device(tmp_path: Path) -> None:
    # The kernel cuts the name of a card after 31 bytes.
    shown = b'{ type null hint { show on description "a device" } }\n'
    (tmp_path / "asound.conf").write_bytes(b"pcm.whole " + shown + 'pcm."Mikrof\u00f6'.encode()[:-1] + b'" ' + shown)
    found = look(ALSA_CONFIG_PATH=f"/usr/share/alsa/alsa.conf:{tmp_path}/asound.conf")
    assert "whole" in found["names"]


@pytest.mark.sound
@pytest.mark.shows("V2")
def test_the_devices_of_a_sound_server_are_listed() -> None:
    with virtual_sound() as card:
        found = look(**card.environment)
    assert {"mic", "speaker", "default"} <= set(found["names"])
    assert (found["input"], found["output"]) == ("default", "default")
