"""The virtual sound card carries sound: through PulseAudio's own tools, and through PortAudio in a child process."""

import json
import os
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.room.virtual_sound import NoSound, VirtualSound, virtual_sound

RATE = 16000
THROUGH_PORTAUDIO = """
import json, sys, threading
import numpy as np
import sounddevice

heard, statuses, done = [], [], threading.Event()
tone = (8000 * np.sin(2 * np.pi * 1250 * np.arange(16000) / 16000)).astype(np.int16)
position = 0

def capture(indata, frames, time, status):
    statuses.append(str(status)) if status else None
    heard.append(bytes(indata))
    if len(heard) == 64:
        done.set()

def play(outdata, frames, time, status):
    global position
    part = tone[position : position + frames]
    outdata[: len(part) * 2] = part.tobytes()
    outdata[len(part) * 2 :] = bytes(2 * (frames - len(part)))
    position += frames

microphone = sounddevice.RawInputStream(16000, 512, "mic", 1, "int16", callback=capture)
loudspeaker = sounddevice.RawOutputStream(16000, 512, "speaker", 1, "int16", callback=play)
with microphone, loudspeaker:
    print("listening", flush=True)
    sys.stdin.readline()
    heard.clear()
    done.clear()
    assert done.wait(20)
samples = np.frombuffer(b"".join(heard[:64]), np.int16)
spectrum = np.abs(np.fft.rfft(samples.astype(float)))
hertz = float(np.argmax(spectrum) * 16000 / len(samples))
print(json.dumps({"hertz": hertz, "frames": len(samples), "faults": statuses}))
"""


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


def make_tone(file: Path, hertz: int, seconds: float) -> Path:
    subprocess.run(
        [
            "sox",
            "-n",
            "-r",
            str(RATE),
            "-b",
            "16",
            "-c",
            "1",
            file,
            "synth",
            str(seconds),
            "sine",
            str(hertz),
            "gain",
            "-6",
        ],
        check=True,
    )
    return file


def read(file: Path) -> NDArray[np.int16]:
    with wave.open(str(file)) as recording:
        assert (recording.getframerate(), recording.getnchannels(), recording.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(recording.readframes(recording.getnframes()), np.int16)


def loudest_hertz(samples: NDArray[np.int16]) -> float:
    spectrum = np.abs(np.fft.rfft(samples.astype(np.float64)))
    return float(np.argmax(spectrum)) * RATE / len(samples)


def sounding(samples: NDArray[np.int16]) -> float:
    """Seconds in which something sounds, by 10 ms: on a busy machine a real-time card puts holes in between."""
    frames = samples[: len(samples) // 160 * 160].reshape(-1, 160)
    return float(np.count_nonzero(np.abs(frames).max(axis=1) > 1000)) * 0.01


@pytest.mark.sound
def test_what_is_played_into_the_microphone_is_heard(card: VirtualSound, tmp_path: Path) -> None:
    tone = make_tone(tmp_path / "tone.wav", 440, 0.5)
    with card.recording(tmp_path / "heard.wav", source="mic"):
        card.say(tone)
    heard = read(tmp_path / "heard.wav")
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert loudest_hertz(heard[loud[0] : loud[-1]]) == pytest.approx(440, abs=3)
    assert sounding(heard) == pytest.approx(0.5, abs=0.09)


@pytest.mark.sound
def test_what_the_loudspeaker_plays_is_recorded_whole(card: VirtualSound, tmp_path: Path) -> None:
    tone = make_tone(tmp_path / "tone.wav", 1000, 0.5)
    with card.recording(tmp_path / "heard.wav"):
        card.run("paplay", "--device=speaker", str(tone))
    heard = read(tmp_path / "heard.wav")
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert loudest_hertz(heard[loud[0] : loud[-1]]) == pytest.approx(1000, abs=3)
    assert sounding(heard) == pytest.approx(0.5, abs=0.09)


@pytest.mark.sound
def test_portaudio_listens_and_plays_in_a_child_process(card: VirtualSound, tmp_path: Path) -> None:
    tone = make_tone(tmp_path / "tone.wav", 440, 4)
    command = [sys.executable, "-c", THROUGH_PORTAUDIO]
    with (
        card.recording(tmp_path / "heard.wav"),
        subprocess.Popen(
            command, env=os.environ | card.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child,
    ):
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline() == "listening\n"
        with subprocess.Popen(["paplay", "--device=mic_in", str(tone)], env=card.environment) as speech:
            child.stdin.write("\n")
            child.stdin.flush()
            result = json.loads(child.stdout.readline())
            speech.terminate()
        assert child.wait(10) == 0
    assert result["frames"] == 64 * 512
    assert result["hertz"] == pytest.approx(440, abs=3)
    played = read(tmp_path / "heard.wav")
    loud = np.flatnonzero(np.abs(played) > 1000)
    assert loudest_hertz(played[loud[0] : loud[-1]]) == pytest.approx(1250, abs=3)


@pytest.mark.sound
def test_a_server_that_dies_is_told(tmp_path: Path) -> None:
    with virtual_sound() as card:
        card.server.kill()
        card.server.wait()
        with pytest.raises(NoSound, match="pactl"):
            card.run("pactl", "info")
    assert not card.folder.exists()


@pytest.mark.sound
def test_a_recording_of_what_is_not_there_fails_at_once(card: VirtualSound, tmp_path: Path) -> None:
    with pytest.raises(NoSound, match="ended"), card.recording(tmp_path / "heard.wav", source="nowhere"):
        pass
