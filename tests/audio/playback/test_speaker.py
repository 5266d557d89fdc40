"""The real PortAudio on a virtual sound card: what its monitor hears."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from audio.devices.listing import SoundDevice
from audio.pcm import SAMPLE_RATE, Samples
from audio.playback.speaker import formats_to_try
from tests.audio.mouth_fakes import read_wav
from tests.room.virtual_sound import VirtualSound, virtual_sound

ROOT = Path(__file__).parents[3]
BACKENDS = [
    "sounddevice",
    pytest.param(
        "pyaudio",
        marks=pytest.mark.skipif(importlib.util.find_spec("pyaudio") is None, reason="PyAudio is not installed"),
    ),
]


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as running:
        yield running


def program(environment: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.audio.player_program", *arguments],
        cwd=ROOT,
        env={**environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def facts(output: IO[str] | None) -> dict[str, Any]:
    assert output is not None
    return dict(json.loads(output.readline()))


def seconds_of(samples: Samples, hertz: float) -> float:
    """How long this tone is the loudest, in windows of 20 ms."""
    windows = samples[: len(samples) // 320 * 320].reshape(-1, 320)
    spectra = np.abs(np.fft.rfft(windows * np.hanning(320), axis=1))
    loudest = np.argmax(spectra, axis=1) * SAMPLE_RATE / 320
    return float(np.sum((np.abs(loudest - hertz) < 60) & (np.abs(windows).max(axis=1) > 1000))) * 0.02


def test_what_most_hardware_has_is_tried_before_what_is_converted_for_it() -> None:
    """A device that is converted for ended the process in an underrun: alsa-lib counts what it converts, and aborts."""
    tried = formats_to_try(SoundDevice(0, "a USB loudspeaker", 0, 2, 44_100.0, False, True))
    assert tried == [(48_000, 2), (48_000, 1), (44_100, 2), (44_100, 1)]


@pytest.mark.sound
@pytest.mark.shows("V1", "V2")
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_played_comes_out_and_what_is_stopped_does_not(
    backend: str, card: VirtualSound, tmp_path: Path
) -> None:
    recording = tmp_path / "heard.wav"

    with card.recording(recording), program(card.environment, backend, "tones", "speaker") as player:
        told = facts(player.stdout)

    samples, rate = read_wav(recording)
    assert rate == SAMPLE_RATE
    assert seconds_of(samples, 440) == pytest.approx(0.5, abs=0.08)
    assert seconds_of(samples, 880) == pytest.approx(3.0 - told["dropped"], abs=0.2)
    assert 0.0 < told["dropped"] < 1.2
    assert told["first_sound"] > 0.0
    assert told["drained"] > 0.3 + told["first_sound"]
    assert told["busy"] <= 0.0


@pytest.mark.sound
@pytest.mark.shows("V3")
@pytest.mark.parametrize("fault", [signal.SIGSTOP, signal.SIGKILL])
def test_a_sound_server_that_is_frozen_or_gone_is_noticed_while_speaking(fault: signal.Signals) -> None:
    """By each backend that is installed, on one card: they speak at once, and wait at once."""
    backends = [name for name in ("sounddevice", "pyaudio") if importlib.util.find_spec(name)]
    with virtual_sound() as card, ExitStack() as stack:
        players = {
            name: stack.enter_context(program(card.environment, name, "endless", "speaker")) for name in backends
        }
        for player in players.values():
            facts(player.stdout)
        card.server.send_signal(fault)
        told = {name: facts(player.stdout) for name, player in players.items()}
        card.server.send_signal(signal.SIGCONT)
        for player in players.values():
            player.kill()

    for name, each in told.items():
        assert "takes no more sound" in each["error"], name
        assert each["seconds"] < 8.0, name


@pytest.mark.sound
@pytest.mark.shows("V2")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loudspeaker_that_is_not_there_is_named_with_those_that_are(backend: str, card: VirtualSound) -> None:
    with program(card.environment, backend, "tones", "kitchen") as player:
        told = facts(player.stdout)

    assert told["error"].startswith("no loudspeaker is called 'kitchen'; there are: ")
    assert "speaker" in told["error"].partition("there are")[2]


def test_without_portaudio_the_mend_is_told(tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")

    with program({**os.environ, "PYTHONPATH": str(tmp_path)}, "sounddevice", "tones") as player:
        told = facts(player.stdout)

    assert told == {"error": "there is no PortAudio (PortAudio library not found); apt-get install libportaudio2"}
