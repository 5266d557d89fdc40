"""The microphone: cutting and times by hand-made blocks, then both backends on a virtual sound card."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from audio.capture.input import Block, ChunkCutter, InputFormat, Taker, age_of, formats_to_try
from audio.capture.live import LiveMicrophone
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk
from tests.room.virtual_sound import VirtualSound, virtual_sound

ROOT = Path(__file__).parents[3]

BACKENDS = [
    "sounddevice",
    pytest.param(
        "pyaudio",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("pyaudio") is None, reason="PyAudio is an extra, and it is not installed"
        ),
    ),
]


class ScriptedCard:
    """An `Input` that hands over what the test gives it, from the test's own thread of time."""

    def __init__(self, opened: InputFormat | None = None) -> None:
        self.opened = opened or InputFormat("a card", 16000, 1)
        self.take: Taker | None = None
        self.begun = threading.Event()
        self.log: list[str] = []

    def open(self) -> InputFormat:
        self.log.append("open")
        return self.opened

    def begin(self, take: Taker) -> None:
        self.log.append("begin")
        self.take = take
        self.begun.set()

    def close(self) -> None:
        self.log.append("close")

    def hand_over(self, *blocks: bytes, age: float = CHUNK_SECONDS) -> None:
        assert self.take is not None
        for pcm in blocks:
            self.take(pcm, age, overflowed=False)


def pcm(value: int, frames: int = CHUNK_SAMPLES) -> bytes:
    return np.full(frames, value, np.int16).tobytes()


def tone(hertz: float, rate: int, channels: int, seconds: float) -> np.ndarray[tuple[int, int], np.dtype[np.int16]]:
    wave = 8000 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)
    return np.repeat(wave.astype(np.int16)[:, None], channels, axis=1)


class TestChunkCutter:
    def test_a_block_of_a_chunks_length_is_the_chunk(self) -> None:
        (chunk,) = ChunkCutter(InputFormat("", 16000, 1)).cut(Block(pcm(7), 100.0))
        assert chunk.started_at == 100.0
        assert chunk.samples.tobytes() == pcm(7)

    def test_blocks_of_other_lengths_lose_nothing_and_keep_the_cards_time(self) -> None:
        cutter = ChunkCutter(InputFormat("", 16000, 1))
        ramp = np.arange(3000, dtype=np.int16)
        chunks: list[AudioChunk] = []
        for start in range(0, 3000, 300):
            chunks += cutter.cut(Block(ramp[start : start + 300].tobytes(), 5.0 + start / 16000))
        assert np.concatenate([chunk.samples for chunk in chunks]).tolist() == list(range(5 * CHUNK_SAMPLES))
        assert [chunk.started_at for chunk in chunks] == pytest.approx([5.0 + n * CHUNK_SECONDS for n in range(5)])

    def test_after_a_gap_times_follow_the_card(self) -> None:
        cutter = ChunkCutter(InputFormat("", 16000, 1))
        cutter.cut(Block(pcm(1), 0.0))
        (late,) = cutter.cut(Block(pcm(2), 9.0))
        assert late.started_at == 9.0

    @pytest.mark.shows("V2")
    @pytest.mark.parametrize(("rate", "channels"), [(44100, 2), (48000, 1), (8000, 1), (96000, 2)])
    def test_any_rate_becomes_16_khz_mono(self, rate: int, channels: int) -> None:
        cutter = ChunkCutter(InputFormat("", rate, channels))
        sound, frames = tone(1000, rate, channels, 1.0), round(rate * CHUNK_SECONDS)
        chunks: list[AudioChunk] = []
        for start in range(0, len(sound), frames):
            chunks += cutter.cut(Block(sound[start : start + frames].tobytes(), start / rate))
        samples = np.concatenate([chunk.samples for chunk in chunks])
        spectrum = np.abs(np.fft.rfft(samples.astype(np.float64)))
        assert np.argmax(spectrum) * 16000 / len(samples) == pytest.approx(1000, abs=2)
        assert len(samples) / 16000 == pytest.approx(1.0, abs=0.05)
        assert chunks[-1].ended_at == pytest.approx(len(samples) / 16000, abs=0.01)


def test_a_cards_age_is_believed_when_it_can_be() -> None:
    assert age_of(10.0, 9.9, 0.032) == pytest.approx(0.1)
    assert age_of(10.0, 10.0, 0.032) == 0.032
    assert age_of(10.0, 0.0, 0.032) == 0.032
    assert age_of(0.0, 10.0, 0.032) == 0.032


def test_the_format_that_needs_no_conversion_is_tried_first() -> None:
    assert formats_to_try(44100.0, [2, 1]) == [(16000, 2), (44100, 2), (16000, 1), (44100, 1)]
    assert formats_to_try(16000.0, [1]) == [(16000, 1)]


async def step(chunks: AsyncGenerator[AudioChunk, None]) -> AudioChunk:
    return await anext(chunks)


async def begun(card: ScriptedCard) -> None:
    assert await asyncio.to_thread(card.begun.wait, 10)


@pytest.mark.shows("V1")
async def test_chunks_come_in_order_and_the_card_is_closed_with_the_iterator() -> None:
    card = ScriptedCard()
    microphone = LiveMicrophone(card, "any")
    chunks = microphone.chunks()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(step(chunks))
        await begun(card)
        await asyncio.to_thread(card.hand_over, pcm(1), pcm(2), pcm(3))
    got = [first.result(), await anext(chunks), await anext(chunks)]
    assert [int(chunk.samples[0]) for chunk in got] == [1, 2, 3]
    assert microphone.name == "a card"
    assert card.log == ["open", "begin"]
    await chunks.aclose()
    assert card.log == ["open", "begin", "close"]


@pytest.mark.shows("V1")
async def test_a_late_reader_loses_the_oldest_and_the_loss_is_counted() -> None:
    card = ScriptedCard()
    microphone = LiveMicrophone(card, "any")
    chunks = microphone.chunks()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(step(chunks))
        await begun(card)
        card.hand_over(*[pcm(n) for n in range(320)])  # on the loop's own thread: no reader runs meanwhile
    assert microphone.dropped_chunks == 320 - 312
    assert int(first.result().samples[0]) == 8
    await chunks.aclose()


async def test_an_overflow_that_the_card_reports_is_counted() -> None:
    card = ScriptedCard()
    microphone = LiveMicrophone(card, "any")
    chunks = microphone.chunks()
    async with asyncio.TaskGroup() as group:
        group.create_task(step(chunks))
        await begun(card)
        assert card.take
        card.take(pcm(0), CHUNK_SECONDS, overflowed=True)
    assert microphone.dropped_chunks == 1
    await chunks.aclose()


@pytest.mark.shows("V3")
async def test_a_card_that_falls_silent_is_an_error_and_is_closed() -> None:
    card = ScriptedCard()
    with pytest.raises(DeviceUnavailable, match="'a card' hands over no sound; plug it in"):
        await anext(LiveMicrophone(card, "any", dead_seconds=0.05).chunks())
    assert card.log == ["open", "begin", "close"]


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


@contextmanager
def listening(backend: str, device: str, chunks: int, card: VirtualSound) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.audio.microphone_program", backend, device, str(chunks)]
    with subprocess.Popen(
        command, env=os.environ | card.environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as child:  # fmt: skip
        try:
            yield child
        finally:
            child.kill()


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout
    return child.stdout.readline()


@contextmanager
def all_listening(chunks: int, card: VirtualSound) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Let each backend that is installed listen to the same microphone at once."""
    backends = [name for name in ("sounddevice", "pyaudio") if importlib.util.find_spec(name)]
    with ExitStack() as stack:
        children = {name: stack.enter_context(listening(name, "MIC", chunks, card)) for name in backends}
        assert {name: line(child) for name, child in children.items()} == dict.fromkeys(backends, "listening\n")
        yield children


@pytest.mark.sound
@pytest.mark.shows("V1", "V2", "H11")
def test_a_microphone_hears_what_is_said(card: VirtualSound, tmp_path: Path) -> None:
    sound = tmp_path / "tone.wav"
    subprocess.run(
        ["sox", "-n", "-r", "16000", "-b", "16", "-c", "1", sound, "synth", "12", "sine", "440", "gain", "-6"],
        check=True,
    )
    play = ["paplay", "--device=mic_in", str(sound)]
    with all_listening(60, card) as children, subprocess.Popen(play, env=card.environment) as speech:
        for child in children.values():
            assert child.stdin
            child.stdin.write("\n")
            child.stdin.flush()
        told = {backend: json.loads(line(child)) for backend, child in children.items()}
        speech.terminate()
    for backend, heard in told.items():
        assert heard["name"] == "mic", backend
        assert heard["sizes"] == [CHUNK_SAMPLES], backend
        assert heard["hertz"] == pytest.approx(440, abs=3), backend
        assert heard["step"] == pytest.approx(CHUNK_SECONDS, abs=0.005), backend
        assert abs(heard["drift"]) < 0.2, backend
        assert heard["dropped"] == 0, backend


@pytest.mark.sound
@pytest.mark.shows("V3")
def test_a_sound_server_that_dies_is_noticed() -> None:
    with virtual_sound() as card, all_listening(10_000, card) as children:
        card.server.kill()
        for backend, child in children.items():
            unavailable = json.loads(line(child))["unavailable"]
            assert "plug it in again, or restart the sound server" in unavailable, backend


@pytest.mark.sound
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrong_name_is_told_with_the_right_ones(backend: str, card: VirtualSound) -> None:
    with listening(backend, "nowhere", 1, card) as child:
        result = json.loads(line(child))
    assert "no microphone is called 'nowhere'; there are: " in result["unavailable"]
    assert "mic" in result["unavailable"]
