"""`nakari devices`: the list, the chosen ones, a tone and a level, on the virtual sound card and without one."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from appliance.doctor.examine import Line, Verdict
from appliance.doctor.sound.devices import SoundDevices
from appliance.doctor.sound.sound import Tried, lines
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.service.process import Household


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


def environment(card: VirtualSound) -> dict[str, str]:
    return {name: card.environment[name] for name in ("PULSE_SERVER", "ALSA_CONFIG_PATH", "PATH")}


TWO = SoundDevices("", ["default", "USB mic"], ["HDMI"], [], ["USB mic", "HDMI"])


@pytest.mark.shows("V2")
def test_a_star_marks_what_the_configuration_chooses() -> None:
    told = Tried(TWO, [Line("level", Verdict.OK, "-60 dBFS during one second")])
    assert list(lines(told)) == [
        "microphones:",
        "    default",
        "  * USB mic",
        "loudspeakers:",
        "  * HDMI",
        "ok      level      -60 dBFS during one second",
    ]
    assert not told.has_fault


def test_where_there_is_none_that_is_said() -> None:
    told = Tried(replace(TWO, input=[], chosen=["", "HDMI"]), [Line("sound", Verdict.FAULT, "no microphone", "plug")])
    assert next(lines(told)) == "microphones: none"
    assert told.has_fault


@pytest.mark.sound
@pytest.mark.shows("V2")
def test_one_command_lists_plays_and_measures(card: VirtualSound, tmp_path: Path) -> None:
    home = Household(tmp_path, {"ears": {"device": "MIC"}, "voice": {"device": "speak"}})
    with card.murmur(), card.recording(tmp_path / "bell.wav"):
        done = home.run("devices", "--test", "--json", **environment(card))
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["chosen"] == ["mic", "speaker"]
    assert {"mic", "default"} <= set(told["input"])
    assert [(each["name"], each["state"]) for each in told["found"]] == [("tone", "ok"), ("level", "ok")]
    assert (tmp_path / "bell.wav").stat().st_size > 16_000


@pytest.mark.sound
@pytest.mark.shows("V2")
def test_a_microphone_of_zeros_is_a_fault(card: VirtualSound, tmp_path: Path) -> None:
    done = Household(tmp_path).run("devices", "--test", **environment(card))
    assert done.returncode == 1
    assert "nothing but zeros" in done.stdout


def test_without_a_sound_card_the_list_is_empty_and_says_what_to_do(tmp_path: Path) -> None:
    done = Household(tmp_path).run("devices", "--test")
    assert done.returncode == 0
    assert "microphones: none" in done.stdout
