"""Microphones with several channels: the best one is heard, and the card's loopback is the reference of its echo."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from numpy.typing import NDArray

from appliance.config.sections import EarsSettings
from appliance.input.devices.source import microphone_of
from audio.capture.channels import ChannelPicker, Channels, ChannelSplit
from audio.capture.input import Block, ChunkCutter, InputFormat, negotiated
from audio.devices.listing import SoundDevice
from audio.echo.canceller import WebRtcCanceller, has_canceller
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples, rms_dbfs
from tests.audio.echo_room import EchoPath, at_level
from tests.audio.spoken import said
from tests.room.virtual_sound import VirtualSound, virtual_sound

Signal = NDArray[np.float64]


def story(pattern: str, seed: int = 3) -> Signal:
    """Return a character for each quarter of a second: `#` a voice (noise in its syllables), `.` nothing."""
    random = np.random.default_rng(seed)
    quarter = SAMPLE_RATE // 4
    swell = np.abs(np.sin(np.arange(quarter) / quarter * 2 * np.pi))
    return np.concatenate([random.normal(0, 2000 * (each == "#"), quarter) * swell for each in pattern])


def recorded(*channels: Signal) -> NDArray[np.int16]:
    return np.clip(np.stack(channels, axis=1), -32768, 32767).astype(np.int16)


def hiss(like: Signal, rms: float, seed: int) -> Signal:
    return np.random.default_rng(seed).normal(0, rms, len(like))


def picked(frames: NDArray[np.int16]) -> list[int]:
    """Return which channel each block came from."""
    picker = ChannelPicker(frames.shape[1])
    chosen = []
    for start in range(0, len(frames) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES):
        block = frames[start : start + CHUNK_SAMPLES]
        assert np.array_equal(picker.pick(block), block[:, picker.chosen])
        chosen.append(picker.chosen)
    return chosen


EVENING = "......####......####......"


@pytest.mark.shows("V2")
def test_the_noisy_channel_is_left_after_the_first_turn() -> None:
    voice = story(EVENING)
    chosen = picked(recorded(voice + hiss(voice, 500, 1), voice + hiss(voice, 30, 2)))
    turns = [round(2.5 / CHUNK_SECONDS), round(4.0 / CHUNK_SECONDS)]
    assert chosen[turns[0]] == 0
    assert chosen[turns[1] :] == [1] * len(chosen[turns[1] :])


@pytest.mark.shows("V2")
@pytest.mark.parametrize("dead", [0.0, 20.0])
def test_a_dead_channel_is_left_within_the_first_word(dead: float) -> None:
    voice = story(EVENING)
    chosen = picked(recorded(hiss(voice, dead, 1), voice + hiss(voice, 30, 2)))
    assert chosen[round(2.0 / CHUNK_SECONDS)] == 1


@pytest.mark.shows("V2")
def test_the_channel_that_clips_is_left() -> None:
    voice = story(EVENING)
    good = voice + hiss(voice, 30, 2)
    assert picked(recorded(good * 40, good))[-1] == 1


@pytest.mark.shows("V2")
def test_channels_that_are_alike_are_not_changed() -> None:
    voice = story(EVENING * 3)
    far = 0.8 * np.roll(voice, 9)
    assert set(picked(recorded(voice + hiss(voice, 30, 1), far + hiss(voice, 30, 2)))) == {0}


@pytest.mark.shows("V2")
def test_no_channel_is_changed_within_a_turn() -> None:
    voice = story("......" + "#" * 40 + "......")
    better = np.where(np.arange(len(voice)) > 4 * SAMPLE_RATE, 4.0, 0.1)
    chosen = picked(recorded(voice + hiss(voice, 60, 1), voice * better + hiss(voice, 20, 2)))
    assert set(chosen[: round(11.5 / CHUNK_SECONDS)]) == {0}


@pytest.mark.shows("V2")
def test_two_channels_are_no_comb_filter() -> None:
    """A tone of 1 kHz that comes to one microphone half a period later is gone in their mean."""
    times = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    tone = 8000 * np.sin(2 * np.pi * 1000 * times)
    frames = recorded(tone, np.roll(tone, 8))
    cutter = ChunkCutter(InputFormat("", SAMPLE_RATE, 2))
    chunks = cutter.cut(Block(frames.tobytes(), 0.0))
    assert rms_dbfs(frames.mean(axis=1).astype(np.int16)) < -60
    assert rms_dbfs(np.concatenate([chunk.samples for chunk in chunks])) > -16


def test_the_channels_that_a_device_has_are_asked_for_first() -> None:
    assert Channels().to_try(1) == [1]
    assert Channels().to_try(2) == [2, 1]
    assert Channels().to_try(6) == [6, 1, 2]
    assert Channels().to_try(32) == [1, 2]
    assert Channels(count=4).to_try(32) == [4, 1, 2]
    assert Channels(reference=6).to_try(6) == [6]
    assert Channels(reference=7).to_try(6) == []


def test_a_loopback_that_the_device_has_not_is_told() -> None:
    device = SoundDevice(0, "an array", 6, 0, 16_000.0, True, False)
    with pytest.raises(DeviceUnavailable, match=r"an array.*it has no channel 7"):
        negotiated(device, Channels(reference=7), lambda rate, channels: "")
    opened = negotiated(device, Channels(reference=6), lambda rate, channels: "" if rate == 16_000 else "no")
    assert opened == InputFormat("an array", 16_000, 6, 6)


def test_the_loopback_is_told_before_the_chunks_and_is_no_microphone() -> None:
    told: list[tuple[Samples, int, float]] = []
    heard, played = hiss(np.zeros(4096), 900, 1), hiss(np.zeros(4096), 300, 2)
    frames = recorded(heard, played)
    cutter = ChunkCutter(InputFormat("", SAMPLE_RATE, 2, 2), (lambda *buffer: told.append(buffer),))
    chunks: list[AudioChunk] = []
    for number in range(8):
        chunks += cutter.cut(Block(frames[number * 512 :][:512].tobytes(), 10.0 + number * CHUNK_SECONDS))
        assert len(chunks) == number, "one chunk behind the reference"
    assert np.array_equal(np.concatenate([chunk.samples for chunk in chunks]), frames[: 7 * 512, 0])
    assert [chunk.started_at for chunk in chunks] == pytest.approx([10.0 + n * CHUNK_SECONDS for n in range(7)])
    assert np.array_equal(np.concatenate([samples for samples, _, _ in told]), frames[:, 1])
    assert [(rate, at) for _, rate, at in told[:2]] == [(SAMPLE_RATE, 10.0), (SAMPLE_RATE, 10.0 + CHUNK_SECONDS)]


def test_what_a_converter_adds_to_a_silent_loopback_is_silence() -> None:
    split = ChannelSplit(2, reference=1)
    _, played = split.take(recorded(hiss(np.zeros(512), 1.5, 1), np.zeros(512)).reshape(-1))
    assert played is not None
    assert not played.any()


@pytest.mark.shows("V4")
@pytest.mark.skipif(not has_canceller(), reason="not installed: livekit (nakari's extra `echo`)")
def test_its_echo_is_cancelled_by_the_cards_loopback() -> None:
    with TemporaryDirectory() as folder:
        played = at_level(said("The weather tomorrow will be mostly sunny, with wind.", "slt", Path(folder)), -20.0)
    echo = np.clip(EchoPath(gain_db=-6, delay=0.003).recorded(played), -1, 1)[: len(played)] * 32767
    frames = recorded(echo, played.astype(np.float64))
    reference = PlayedReference()
    guard = CancellingGuard(reference, HalfDuplex(lambda: 0.0), WebRtcCanceller())
    cutter = ChunkCutter(InputFormat("", SAMPLE_RATE, 2, 2), (reference.take,))
    left: list[Samples] = []
    for start in range(0, len(frames) - 511, 512):
        block = Block(frames[start : start + 512].tobytes(), 50.0 + start / SAMPLE_RATE)
        left += [guard.clean(chunk).samples for chunk in cutter.cut(block)]
    warm = round(1.5 / CHUNK_SECONDS)
    before = rms_dbfs(frames[warm * CHUNK_SAMPLES :, 0])
    assert rms_dbfs(np.concatenate(left[warm:])) < before - 25


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        shape = ["rate=16000", "channels=4", "channel_map=front-left,front-right,rear-left,rear-right"]
        card.load("module-null-sink", "sink_name=array", "norewinds=1", "format=s16le", *shape)
        card.run("pactl", "set-default-source", "array.monitor")
        yield card


async def _levels(device: str, count: int) -> dict[str, object]:
    """Listen through the real PortAudio, in a process of its own, for 4 s from a line on."""
    microphone = microphone_of(EarsSettings(device=device, channels=count))
    chunks = microphone.chunks()
    await anext(chunks)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    playing = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    while not playing.done():
        await anext(chunks)
    loudest = rms_dbfs((await anext(chunks)).samples)
    for _ in range(round(4.0 / CHUNK_SECONDS)):
        loudest = max(loudest, rms_dbfs((await anext(chunks)).samples))
    await chunks.aclose()
    return {"loudest": loudest, "dropped": microphone.dropped_chunks}


@pytest.mark.sound
@pytest.mark.shows("V2")
def test_a_microphone_of_four_channels_is_heard_through_one(card: VirtualSound, tmp_path: Path) -> None:
    """Two channels in opposite phase: what a sound server mixes them to, for whoever wants one (0), is silence."""
    times = np.arange(12 * SAMPLE_RATE) / SAMPLE_RATE
    tone = (8000 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)
    sound = tmp_path / "array.raw"
    sound.write_bytes(np.stack([tone, -tone, tone, -tone], axis=1).tobytes())
    command = [sys.executable, "-m", "tests.audio.capture.test_channels", "default"]
    raw = ["--raw", "--rate=16000", "--channels=4", "--format=s16le"]
    mapped = "--channel-map=front-left,front-right,rear-left,rear-right"
    play = ["paplay", "--device=array", *raw, mapped, str(sound)]
    environment, pipe = os.environ | card.environment, subprocess.PIPE
    with ExitStack() as stack:
        children = {
            count: stack.enter_context(
                subprocess.Popen([*command, str(count)], env=environment, stdin=pipe, stdout=pipe, text=True)
            )
            for count in (4, 0)
        }
        assert [child.stdout.readline() for child in children.values() if child.stdout] == ["listening\n"] * 2
        speech = stack.enter_context(subprocess.Popen(play, env=card.environment))
        for child in children.values():
            assert child.stdin
            child.stdin.write("\n")
            child.stdin.flush()
        heard = {count: json.loads(child.stdout.readline()) for count, child in children.items() if child.stdout}
        speech.terminate()
    assert -20.0 < heard[4]["loudest"] < -10.0
    assert -130.0 < heard[0]["loudest"] < -60.0
    assert [each["dropped"] for each in heard.values()] == [0, 0]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_levels(sys.argv[1], int(sys.argv[2])))) + "\n")
