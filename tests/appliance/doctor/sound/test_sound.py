"""The doctor on ears and mouth: real programs that misbehave, real recognizers, a real virtual sound card."""

import asyncio
import ctypes.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from appliance.config.load import Config, load
from appliance.config.sections import EarsSettings
from appliance.doctor.examine import Line, Verdict, examine, told_by_service
from appliance.doctor.sound import sound as checks_sound
from appliance.doctor.sound.devices import SoundDevices
from appliance.doctor.sound.level import SETTLING, SoundLevel, level_of, listen
from appliance.doctor.sound.sound import judge_canceller, judge_devices, judge_level, judge_microphone
from appliance.input.whisper import check as checks_whisper
from appliance.input.whisper.check import judge_speed
from appliance.input.whisper.choice import whisper_settings
from appliance.input.whisper.speed import RecognizerSpeed, measure
from audio.capture.health import LevelWatch
from audio.capture.input import InputFormat, Taker
from audio.capture.live import LiveMicrophone
from audio.echo.canceller import has_canceller
from audio.echo.duplex import NOT_MEASURED, Duplex, Leak, Mode
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, QUIETEST_DBFS
from memory.json_value import Json
from tests.appliance.command import ROOT, environment
from tests.appliance.door_fakes import ScriptedHandler, serving
from tests.room.virtual_sound import VirtualSound, virtual_sound

SPEAKS = 'exec /bin/cat "${0%/*}/sound.wav"'
"""A program that prints the sound beside it."""

SAMPLE = ROOT / "audio" / "recognizer" / "models" / "sample.wav"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


PROGRAM = """
import json, os, sys
from appliance.config.load import load
from appliance.doctor.sound.sound import level, sound
from appliance.output.check import voices

for line in sys.stdin:
    check, variables = json.loads(line)
    os.environ.clear()
    os.environ.update(variables)
    print(globals()[check](load()).to_json(), flush=True)
"""


class Doctor:
    """Runs a check at a time, in a process of its own, each with variables of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._asked, self._told = process.stdin, process.stdout

    def line_of(self, check: str, home: Path, **more: str) -> Line:
        """Return the doctor's line of one check, run with these variables."""
        print(json.dumps([check, environment(home, **more)]), file=self._asked, flush=True)
        told = json.loads(self._told.readline())
        return Line(told["name"], Verdict[told["state"].upper()], told["what"], told["fix"])


@pytest.fixture(scope="module")
def doctor() -> Iterator[Doctor]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield Doctor(process)


def seen(line: Line) -> tuple[Verdict, str]:
    return line.verdict, line.what


def test_the_recognizer_that_would_listen_is_named(config: Config, tmp_path: Path) -> None:
    line = checks_whisper.recognizer(replace(config, ears=EarsSettings(download=False)))
    assert line.verdict is Verdict.WARNING
    assert "pocketsphinx understands set phrases only" in line.what
    assert "[ears] download" in line.fix
    (config.state_folder / "models" / "base").mkdir(parents=True)
    for name in ("config.json", "model.bin", "tokenizer.json", "preprocessor_config.json", "vocabulary.json"):
        (config.state_folder / "models" / "base" / name).touch()
    assert checks_whisper.recognizer(config) == Line("recognizer", Verdict.OK, "faster-whisper:base")


def test_a_model_folder_that_is_none_is_a_fault(config: Config, tmp_path: Path) -> None:
    (line,) = examine(replace(config, ears=EarsSettings(model=str(tmp_path))), [checks_whisper.recognizer])
    assert line.verdict is Verdict.FAULT
    assert f"{tmp_path} is no faster-whisper model" in line.what


NAMES = SoundDevices(input=["USB mic", "default"], output=["default"])


@pytest.mark.shows("V2", "H6")
@pytest.mark.parametrize(
    ("found", "is_named", "verdict", "said"),
    [
        (NAMES, True, Verdict.OK, "microphones: USB mic, default; loudspeakers: default"),
        (replace(NAMES, input=[]), False, Verdict.WARNING, "microphones: none; loudspeakers: default"),
        (SoundDevices(), False, Verdict.WARNING, "microphones: none; loudspeakers: none"),
        (replace(NAMES, wrong=["no microphone is called 'x'"]), True, Verdict.FAULT, "no microphone is called 'x'"),
        (SoundDevices("there is no PortAudio"), False, Verdict.WARNING, "there is no PortAudio"),
        (SoundDevices("there is no PortAudio"), True, Verdict.FAULT, "there is no PortAudio"),
    ],
)
def test_sound_devices_are_judged(found: SoundDevices, is_named: bool, verdict: Verdict, said: str) -> None:
    line = judge_devices(found, is_named)
    assert seen(line) == (verdict, said)
    assert line.fix or verdict is Verdict.OK or found.missing


@pytest.mark.shows("V2", "H5")
def test_a_device_that_is_named_and_not_there_is_a_fault(config: Config) -> None:
    line = checks_sound.sound(replace(config, ears=EarsSettings(device="no such microphone")))
    assert line.verdict is Verdict.FAULT
    assert "no such microphone" in line.what or "there is no" in line.what


@pytest.mark.skipif(ctypes.util.find_library("portaudio") is None, reason="not installed: libportaudio2")
def test_a_portaudio_that_aborts_takes_no_doctor_with_it(doctor: Doctor, tmp_path: Path) -> None:
    """Without ALSA's stock configuration PortAudio aborts the process."""
    for check in ("sound", "level"):
        line = doctor.line_of(check, tmp_path, ALSA_CONFIG_PATH="/nonexistent")
        assert line.what == "PortAudio broke down (SIGABRT)"
        if check == "sound":
            assert line.verdict is Verdict.FAULT
            assert "libasound2-data" in line.fix


def a_program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("espeak", "flite", "said"),
    [
        (SPEAKS, "exit 0", "ok      voices     espeak-ng speaks after N s; flite for the demo"),
        (
            SPEAKS,
            None,
            "warning voices     espeak-ng speaks after N s; no flite for the demo; apt install flite",
        ),
        (
            "echo 'no voice data' >&2; exit 2",
            "exit 0",
            "fault   voices     espeak-ng failed with 2: no voice data; reinstall espeak-ng and its data",
        ),
        (
            "exit 0",
            "exit 0",
            "fault   voices     espeak-ng made no sound; reinstall espeak-ng and its data",
        ),
        (
            None,
            "exit 0",
            "fault   voices     espeak-ng cannot be started (No such file or directory); "
            "install it with `sudo apt install espeak-ng`",
        ),
    ],
)
def test_the_local_voice_is_let_speak(
    doctor: Doctor, tmp_path: Path, espeak: str | None, flite: str | None, said: str
) -> None:
    shutil.copy(SAMPLE, tmp_path / "sound.wav")
    for name, script in (("espeak-ng", espeak), ("flite", flite)):
        if script is not None:
            a_program(tmp_path, name, script)
    told = str(doctor.line_of("voices", tmp_path, PATH=str(tmp_path)))
    assert re.sub(r"after \d+\.\d s", "after N s", told) == said


@pytest.mark.parametrize(
    ("peak", "dbfs", "clipped", "verdict", "said"),
    [
        (0, -120.0, 0.0, Verdict.FAULT, "nothing but zeros"),
        (9, -82.4, 0.0, Verdict.WARNING, "-82 dBFS during one second: too quiet even for an empty room"),
        (300, -55.0, 0.0, Verdict.OK, "-55 dBFS during one second"),
        (32767, -20.0, 0.0005, Verdict.OK, "-20 dBFS during one second"),
        (32767, -3.0, 0.0213, Verdict.WARNING, "-3 dBFS during one second, 2.1% of it cut off at full scale"),
    ],
)
def test_a_level_is_judged(peak: int, dbfs: float, clipped: float, verdict: Verdict, said: str) -> None:
    line = judge_level(peak, dbfs, clipped)
    assert line.verdict is verdict
    assert said in line.what
    assert bool(line.fix) is (verdict is not Verdict.OK)


def test_a_level_is_measured() -> None:
    assert level_of(np.zeros(100, np.int16)).peak == 0
    assert level_of(np.zeros(100, np.int16)).dbfs == QUIETEST_DBFS
    square = level_of(np.array([-32768, 32767, 0, 0], np.int16))
    assert (square.peak, square.clipped, square.dbfs) == (32768, 0.5, -3.0)


class Card:
    """An `Input` that begins with zeros and then hands over the same level again and again."""

    def __init__(self, zeros: int, blocks: int) -> None:
        self.blocks = [0] * zeros + [1000] * blocks
        self.closed = False

    def open(self) -> InputFormat:
        return InputFormat("a card", 16_000, 1)

    def begin(self, take: Taker) -> None:
        for value in self.blocks:
            swing = np.tile(np.array([value, -value], np.int16), CHUNK_SAMPLES // 2)
            take(swing.tobytes(), CHUNK_SECONDS, overflowed=False)

    def close(self) -> None:
        self.closed = True


async def nobody_knows() -> None:
    """There is no sound server to ask."""


async def test_how_a_card_begins_does_not_count() -> None:
    card = Card(SETTLING, 5)
    found = await listen(LiveMicrophone(card, "any"), 5 * CHUNK_SECONDS, nobody_knows)
    assert (found.missing, found.peak, found.dbfs) == ("", 1000, -30.3)
    assert card.closed


async def test_a_card_that_hands_over_nothing_more_is_told() -> None:
    found = await listen(LiveMicrophone(Card(0, 2), "any", dead_seconds=0.05), 1.0)
    assert "hands over no sound" in found.missing


@pytest.mark.shows("H5")
def test_without_a_microphone_the_level_is_not_measured(config: Config) -> None:
    line = checks_sound.level(replace(config, ears=EarsSettings(device="no such microphone")))
    assert line.verdict is Verdict.WARNING
    assert line.what.startswith("not measured: ")


@dataclass
class Listening(ScriptedHandler):
    """A running service with this microphone."""

    source: str = ""
    microphone: Mapping[str, Json] = field(default_factory=lambda: {"state": "open", "times_lost": 0})

    level: Mapping[str, Json] = field(default_factory=dict)
    duplex: str = ""

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        ears: dict[str, Json] = {"source": self.source, "microphone": {**self.microphone}, "level": {**self.level}}
        return {"ears": ears | ({"duplex": self.duplex} if self.duplex else {})}


NOT_HEARD = SoundLevel("no microphone is called 'x'")
"""What the doctor's own process tells where it cannot listen."""


async def judged(config: Config, service: Listening) -> Line:
    """Return the line of a microphone that could not be heard, beside this service."""
    async with serving(config.socket, service):
        told = await asyncio.to_thread(told_by_service, config.sockets, "ears")
    return judge_microphone(NOT_HEARD, told)


async def test_the_running_service_is_asked_about_a_microphone_that_could_not_be_heard(config: Config) -> None:
    deaf = replace(config, ears=EarsSettings(device="no such microphone"))
    async with serving(config.socket, Listening(source="USB mic")):
        line = await asyncio.to_thread(checks_sound.level, deaf)
    assert seen(line) == (Verdict.OK, "not measured: the running service has the microphone")


@pytest.mark.parametrize(("source", "verdict"), [("USB mic", Verdict.OK), ("none", Verdict.WARNING)])
async def test_a_microphone_that_the_service_holds_is_left_to_it(config: Config, source: str, verdict: Verdict) -> None:
    line = await judged(config, Listening(source=source))
    assert line.verdict is verdict
    assert line.what.startswith("not measured: ")
    assert line.what.endswith("the running service has the microphone") is (verdict is Verdict.OK)


@pytest.mark.shows("V3", "H5")
@pytest.mark.parametrize(("state", "is_told"), [("monitor", True), ("zeros", True), ("open", False), ("gone", False)])
async def test_what_the_service_knows_of_its_microphone_is_told(config: Config, state: str, is_told: bool) -> None:
    why = "the microphone default is the loudspeaker's monitor and no microphone; plug the microphone in again"
    service = Listening(source="default", microphone={"state": state, "times_lost": 1, "reason": why})
    line = await judged(config, service)
    assert (line.verdict is Verdict.FAULT) is is_told
    assert (why in line.what) is is_told


@pytest.mark.parametrize(("told", "is_monitor"), [(True, True), (False, False), (None, False)])
async def test_whose_sound_it_is_is_asked_while_it_is_open(told: bool | None, is_monitor: bool) -> None:
    card = Card(SETTLING, 5)
    open_then: list[bool] = []

    async def server() -> bool | None:
        open_then.append(not card.closed)
        return told

    found = await listen(LiveMicrophone(card, "any"), 5 * CHUNK_SECONDS, server)
    assert (found.is_monitor, open_then) == (is_monitor, [True])


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


@contextmanager
def playing(card: VirtualSound, sound: Path, gain: str) -> Iterator[None]:
    """Play a noise of this gain into the microphone while the block runs."""
    subprocess.run(
        ["sox", "-n", "-r", "16000", "-b", "16", "-c", "1", sound, "synth", "60", "whitenoise", "gain", gain],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    with subprocess.Popen(["paplay", "--device=mic_in", str(sound)], env=card.environment) as player:
        try:
            while not card.run("pactl", "list", "short", "sink-inputs"):
                assert player.poll() is None
            yield
        finally:
            player.terminate()


@pytest.mark.sound
@pytest.mark.shows("H5", "V2")
def test_a_microphone_that_is_muted_is_a_fault(doctor: Doctor, card: VirtualSound, tmp_path: Path) -> None:
    line = doctor.line_of("level", tmp_path, **card.environment)
    assert line.verdict is Verdict.FAULT
    assert line.what.startswith("the microphone gives nothing but zeros")
    assert "unmute it" in line.fix


@pytest.mark.sound
@pytest.mark.shows("H5", "V2")
@pytest.mark.parametrize(
    ("gain", "verdict", "said"),
    [
        ("-75", Verdict.WARNING, "too quiet"),
        ("-30", Verdict.OK, "dBFS during one second"),
        ("30", Verdict.WARNING, "cut off at full scale"),
    ],
)
def test_the_level_of_a_microphone(
    doctor: Doctor, card: VirtualSound, tmp_path: Path, gain: str, verdict: Verdict, said: str
) -> None:
    with playing(card, tmp_path / "noise.wav", gain):
        line = doctor.line_of("level", tmp_path, **card.environment)
    assert line.verdict is verdict, line
    assert said in line.what


@pytest.mark.sound
@pytest.mark.shows("H5", "V3")
def test_a_microphone_that_is_the_loudspeaker_s_monitor_is_a_fault(doctor: Doctor, tmp_path: Path) -> None:
    with virtual_sound() as card:
        card.run("pactl", "set-default-source", "speaker.monitor")
        line = doctor.line_of("level", tmp_path, **card.environment)
    assert line.verdict is Verdict.FAULT
    assert line.what == "the microphone is the loudspeaker's monitor: nakari hears itself"
    assert "[ears] device" in line.fix


@pytest.mark.sound
@pytest.mark.shows("H5", "V3")
def test_a_sound_server_that_is_gone_does_not_hold_the_doctor(doctor: Doctor, tmp_path: Path) -> None:
    with virtual_sound() as card:
        card.server.kill()
        card.server.wait()
        line = doctor.line_of("level", tmp_path, **card.environment)
    assert line.verdict is not Verdict.OK


@pytest.mark.shows("H5")
def test_the_recognizer_s_speed_is_measured_on_real_speech(config: Config) -> None:
    mine = replace(config, ears=EarsSettings(download=False))
    line = judge_speed(measure(whisper_settings(mine)))  # without the limit of a check
    assert line.what.startswith("pocketsphinx needs ")
    assert " s of the processor for 3 s of speech (" in line.what


def test_a_damaged_model_is_a_fault_of_its_speed(config: Config) -> None:
    (config.state_folder / "models" / "base").mkdir(parents=True)
    for name in ("config.json", "model.bin", "tokenizer.json", "preprocessor_config.json", "vocabulary.json"):
        (config.state_folder / "models" / "base" / name).touch()
    (line,) = examine(config, [checks_whisper.speed])
    assert line.verdict is Verdict.FAULT
    assert line.name == "speed"


@pytest.mark.parametrize(
    ("found", "verdict", "said"),
    [
        (RecognizerSpeed("", "x", 0.4, 0.31, 1, 3.0), Verdict.OK, "x needs 0.31 s of the processor for 3 s of speech"),
        (RecognizerSpeed("", "x", 3.1, 3.0, 1, 3.0), Verdict.OK, "(1.00 of real time)"),
        (RecognizerSpeed("", "x", 4.6, 4.5, 1, 3.0), Verdict.WARNING, "(1.50 of real time)"),
        (
            RecognizerSpeed("", "x", 1.5, 6.0, 4, 3.0),
            Verdict.OK,
            "x needs 1.50 s of the processor on 4 threads for 3 s",
        ),
    ],
)
def test_a_speed_is_judged(found: RecognizerSpeed, verdict: Verdict, said: str) -> None:
    line = judge_speed(found)
    assert line.verdict is verdict
    assert said in line.what
    assert bool(line.fix) is (verdict is Verdict.WARNING)


@pytest.mark.shows("H5")
def test_a_busy_machine_is_no_fault_of_the_recognizer() -> None:
    line = judge_speed(RecognizerSpeed("", "pocketsphinx", 9.0, 0.8, 1, 3.0))
    assert line.verdict is Verdict.OK
    assert line.what.endswith("; it had to wait for other programs and took 9.0 s: the machine is busy")
    assert line.fix == ""


@pytest.mark.shows("H5")
@pytest.mark.parametrize(
    ("peak", "verdict", "said"),
    [
        (3000, Verdict.OK, "and heard at most -21 dBFS in the last half minute"),
        (32767, Verdict.WARNING, "hears 25% of its sound cut off at full scale"),
        (-32768, Verdict.WARNING, "hears 25% of its sound cut off at full scale"),
    ],
)
async def test_what_the_running_service_hears_cut_off_is_told(
    config: Config, peak: int, verdict: Verdict, said: str
) -> None:
    watch = LevelWatch()
    assert watch.describe() == {}
    for number in range(40):
        chunk = np.zeros(CHUNK_SAMPLES, np.int16)
        chunk[7] = peak if number % 4 == 0 else 1000
        watch.hear(chunk)
    line = await judged(config, Listening(source="USB mic", level={**watch.describe()}))
    assert line.verdict is verdict
    assert said in line.what
    assert ("gain down" in line.fix) is (verdict is Verdict.WARNING)


@pytest.mark.shows("H5", "V14")
@pytest.mark.parametrize(
    ("duplex", "verdict", "said", "fix"),
    [
        (Duplex(Mode.FULL, Leak(-40.0, -12.0), 0.08), Verdict.OK, "-40 dB is left of it", ""),
        (Duplex(Mode.DUCKED, Leak(-25.0, -3.0)), Verdict.OK, "interrupted by a raised voice", ""),
        (Duplex(Mode.HALF, Leak(-12.0, -3.0)), Verdict.WARNING, "-12 dB is left of it", "away from the loudspeaker"),
        (Duplex(Mode.HALF, reason=NOT_MEASURED), Verdict.WARNING, "(not measured yet)", "run `nakari calibrate`"),
        (Duplex(Mode.HALF, reason="it cannot be loaded"), Verdict.WARNING, "(it cannot be loaded)", "scripts/setup"),
    ],
)
async def test_the_echo_is_told_as_the_running_service_measured_it(
    config: Config, duplex: Duplex, verdict: Verdict, said: str, fix: str
) -> None:
    async with serving(config.socket, Listening(source="USB mic", duplex=duplex.describe())):
        line = await asyncio.to_thread(checks_sound.echo, config)
    assert line.verdict is verdict
    assert said in line.what
    assert fix in line.fix
    assert bool(line.fix) is (verdict is Verdict.WARNING)


@pytest.mark.shows("H5", "V14")
def test_without_a_service_the_echo_line_says_what_would_be(config: Config) -> None:
    assert checks_sound.echo(config).what.startswith("there is a canceller" if has_canceller() else "no echo")
    unwanted = checks_sound.echo(replace(config, ears=EarsSettings(cancel_echo=False)))
    assert unwanted.verdict is Verdict.OK
    assert "by [ears] cancel_echo" in unwanted.what
    missing = judge_canceller(is_there=False)
    assert missing is not None
    assert missing.verdict is Verdict.WARNING
    assert missing.what.startswith("no echo cancellation: ")
    assert "run scripts/setup" in missing.fix
