"""The simulated card carries sound as a real one does: both ways, on time, whatever the loop is busy with."""

import asyncio
from contextlib import aclosing

import numpy as np
import pytest

from audio.capture.live import LiveMicrophone
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SECONDS, SAMPLE_RATE, AudioChunk
from audio.playback.live import LivePlayer
from audio.speech import SpeechAudio
from tests.room.acoustics import Loudspeaker
from tests.room.card import SimulatedCard, beside
from tests.room.virtual_time import EPOCH, passed, run_virtually

TONE = (8000 * np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)).astype(np.int16)


async def recorded(card: SimulatedCard, seconds: float) -> list[AudioChunk]:
    """Return what the microphone hands over in so much time."""
    loop = asyncio.get_running_loop()
    chunks: list[AudioChunk] = []
    async with aclosing(LiveMicrophone(card.input, "room", clock=loop.time).chunks()) as stream:
        async for chunk in stream:
            chunks.append(chunk)
            if len(chunks) * CHUNK_SECONDS >= seconds:
                return chunks
    return chunks


def test_chunks_come_without_a_gap_and_with_their_true_times() -> None:
    async def listen() -> list[AudioChunk]:
        card = SimulatedCard(asyncio.get_running_loop())
        return await beside(card, recorded(card, 60.0))

    chunks = run_virtually(listen())
    starts = np.array([chunk.started_at for chunk in chunks])
    assert starts[0] == pytest.approx(EPOCH, abs=1e-6)
    assert np.allclose(np.diff(starts), CHUNK_SECONDS, atol=1e-6)


def test_what_it_says_is_heard_when_the_player_says_so() -> None:
    async def speak() -> tuple[float, list[AudioChunk]]:
        loop = asyncio.get_running_loop()
        card = SimulatedCard(loop, Loudspeaker(hidden_delay=0.0, decay_seconds=0.01))
        player = LivePlayer(card.output, "room", clock=loop.time)

        async def play() -> float:
            await player.start()
            await passed(1)
            await player.play(SpeechAudio(TONE, 16000))
            begins = player.busy_until - 1.0
            await player.drain()
            await player.aclose()
            return begins

        async def both() -> tuple[float, list[AudioChunk]]:
            async with asyncio.TaskGroup() as group:
                playing = group.create_task(play())
                listening = group.create_task(recorded(card, 3.0))
            return playing.result(), listening.result()

        return await beside(card, both())

    begins, chunks = run_virtually(speak())
    heard = np.concatenate([chunk.samples for chunk in chunks])
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert chunks[0].started_at + loud[0] / SAMPLE_RATE == pytest.approx(begins, abs=0.025)
    assert (loud[-1] - loud[0]) / SAMPLE_RATE == pytest.approx(1.0, abs=0.02)


def test_the_room_is_heard_where_and_when_it_sounds() -> None:
    async def listen() -> list[AudioChunk]:
        loop = asyncio.get_running_loop()
        card = SimulatedCard(loop)
        ends = card.room.put((TONE / 32768).astype(np.float32), loop.time() + 0.5)
        assert ends == pytest.approx(loop.time() + 1.5)
        return await beside(card, recorded(card, 2.0))

    heard = np.concatenate([chunk.samples for chunk in run_virtually(listen())])
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert loud[0] / SAMPLE_RATE == pytest.approx(0.5, abs=0.002)
    assert loud[-1] / SAMPLE_RATE == pytest.approx(1.5, abs=0.002)


def test_a_microphone_that_is_pulled_out_is_missed() -> None:
    async def listen() -> None:
        card = SimulatedCard(asyncio.get_running_loop())
        asyncio.get_running_loop().call_later(1, lambda: setattr(card.input, "is_there", False))
        await beside(card, recorded(card, 60.0))

    with pytest.raises(ExceptionGroup) as raised:
        run_virtually(listen())
    assert raised.value.subgroup(DeviceUnavailable) is not None
