"""While nothing goes on chunks come some at a time; not one is lost by it, and speech ends it at once."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from audio.capture.health import DeviceFault, Fault
from audio.capture.live import LiveMicrophone
from audio.capture.recording import RecordingSource
from audio.pcm import AT_REST_CHUNKS, CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples
from audio.turns.endpointer import LEAST_SPEECH_SECONDS, Endpointer
from audio.turns.listener import Listener, Surroundings
from audio.turns.turn import SOFT_END_SECONDS
from audio.turns.vad import load_detector
from benchmarks.sound import write_wav
from tests.audio.capture.test_microphone import ScriptedCard, begun, pcm, step
from tests.audio.ears_fakes import Intake, ScriptedRecognizer
from tests.audio.spoken import said


async def lost(chunks: AsyncIterator[AudioChunk]) -> Fault:
    """Return with which fault the microphone ends."""
    with pytest.raises(DeviceFault) as caught:
        await anext(chunks)
    return caught.value.fault


def room(seconds: float) -> Samples:
    """Return a quiet room, int16 at 16 kHz."""
    return np.random.default_rng(7).normal(0, 30, round(seconds * SAMPLE_RATE)).astype(np.int16)


async def chunks_of(source: RecordingSource, *, rests: bool) -> list[AudioChunk]:
    return [chunk async for chunk in source.chunks(lambda: rests)]


@pytest.mark.shows("V1")
@pytest.mark.parametrize("count", [1, 2, 7, 8])
async def test_a_recording_gives_every_chunk_at_rest_as_awake(tmp_path: Path, count: int) -> None:
    path = write_wav(tmp_path / "room.wav", room(count * CHUNK_SAMPLES / SAMPLE_RATE))
    awake, resting = RecordingSource(path, fast=True), RecordingSource(path, fast=True)
    one, two = await chunks_of(awake, rests=False), await chunks_of(resting, rests=True)
    assert np.array_equal([chunk.samples for chunk in one], [chunk.samples for chunk in two])
    assert [chunk.started_at - one[0].started_at for chunk in one] == pytest.approx(
        [chunk.started_at - two[0].started_at for chunk in two]
    )


@pytest.mark.shows("V1", "H9")
async def test_a_microphone_at_rest_wakes_the_loop_once_for_several_blocks() -> None:
    card = ScriptedCard()
    microphone = LiveMicrophone(card, "a script")
    chunks = microphone.chunks(lambda: True)
    assert isinstance(chunks, AsyncGenerator)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(step(chunks))
        await begun(card)
        assert card.take is not None
        for number in range(1, AT_REST_CHUNKS):
            card.take(pcm(number), 0.032, False)
            await asyncio.sleep(0)
            assert not microphone._arrived.is_set()
        card.take(pcm(AT_REST_CHUNKS), 0.032, False)
    rest = [await step(chunks) for _ in range(1, AT_REST_CHUNKS)]
    assert [int(chunk.samples[0]) for chunk in [first.result(), *rest]] == [*range(1, AT_REST_CHUNKS + 1)]
    await chunks.aclose()


@pytest.mark.shows("V3", "H9")
async def test_a_stream_that_the_card_ends_at_rest_is_noticed_at_once() -> None:
    """Not with the next dozen blocks, which never come: then only a device that stalls is noticed, seconds later."""
    card = ScriptedCard()
    microphone = LiveMicrophone(card, "a script")
    chunks = microphone.chunks(lambda: True)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(lost(chunks))
        await begun(card)
        assert card.take is not None
        card.take(pcm(1), 0.032, False)
        card.take(b"", 0.0, False)
    assert first.result() is Fault.GONE


@pytest.mark.shows("V5", "H9")
def test_an_onset_is_seen_before_the_shortest_turn_could_have_its_first_pause() -> None:
    """So neither a recognition ahead of the end nor the end of a turn is later than without the rest."""
    shortest = LEAST_SPEECH_SECONDS + SOFT_END_SECONDS
    assert shortest > (AT_REST_CHUNKS - 1) * CHUNK_SECONDS


@pytest.mark.shows("V5", "H9")
async def test_the_ears_rest_in_a_quiet_room_and_wake_when_somebody_speaks(tmp_path: Path) -> None:
    words = said("what time is it", "slt", tmp_path)
    path = write_wav(tmp_path / "evening.wav", np.concatenate([room(6.0), words, room(6.0)]))
    intake = Intake()
    source = RecordingSource(path, fast=True)
    listener = Listener(
        source,
        load_detector(),
        Endpointer(),
        ScriptedRecognizer(["what time is it"] * 3),
        intake,
        Surroundings(may_rest=lambda: True),
    )
    resting: list[bool] = []
    listener.watch(lambda chunk, probability, covered: resting.append(listener.is_at_rest))
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())
    speech = slice(round(6.3 / 0.032), round((5.9 + len(words) / SAMPLE_RATE) / 0.032))
    assert not any(resting[speech])
    assert sum(resting[: round(6 / 0.032)]) > 100
    assert sum(resting[speech.stop :]) > 60
    assert len(intake.heard) == 1
