"""Samples that come over a network: in chunks, in their own time, off the event loop, and never more than fits."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from appliance.remote.microphone import BUFFER_SECONDS, CHUNK_BYTES, DRIFT_SECONDS, RemoteMicrophone
from audio.interfaces import VoiceDetector
from audio.pcm import AT_REST_CHUNKS, CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from tests.audio.mouth_fakes import Clock


class Numbering(VoiceDetector):
    """A `VoiceDetector` whose probability is the chunk's first sample, in hundredths; it keeps who asked."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def probability(self, samples: Samples) -> float:
        self.threads.add(threading.current_thread().name)
        return int(samples[0]) / 100

    def reset(self) -> None:
        """Nothing is kept."""


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "detecting") as pool:
        yield pool


def numbered(*numbers: int) -> bytes:
    """Return chunks that begin with their numbers."""
    return b"".join(np.full(CHUNK_SAMPLES, number, "<i2").tobytes() for number in numbers)


async def taken(microphone: RemoteMicrophone, *, at_rest: bool = False) -> list[tuple[AudioChunk, float]]:
    """Return all chunks to the end, each with its probability."""
    return [(chunk, microphone.probability(chunk.samples)) async for chunk in microphone.chunks(lambda: at_rest)]


async def test_bytes_of_any_length_become_chunks_with_their_probability(thread: ThreadPoolExecutor) -> None:
    detector, clock = Numbering(), Clock()
    microphone = RemoteMicrophone("a page", detector, thread, clock)
    sound = numbered(*range(20))
    for at in range(0, len(sound), 777):
        microphone.feed(sound[at : at + 777])
    microphone.feed(b"\0" * 100)
    microphone.end()
    found = await taken(microphone)
    assert [int(chunk.samples[0]) for chunk, _ in found] == [*range(20)]
    assert [probability for _, probability in found] == [number / 100 for number in range(20)]
    assert np.allclose(np.diff([chunk.started_at for chunk, _ in found]), CHUNK_SECONDS)
    assert detector.threads == {"detecting_0"}, "the event loop detects nothing"


async def test_a_network_that_stutters_changes_no_times_while_somebody_speaks(thread: ThreadPoolExecutor) -> None:
    clock = Clock()
    microphone = RemoteMicrophone("a page", Numbering(), thread, clock)
    chunks = microphone.chunks(lambda: False)
    microphone.feed(numbered(0))
    first = await anext(chunks)
    clock.now += 3.0
    microphone.feed(numbered(1))
    assert (await anext(chunks)).started_at == pytest.approx(first.ended_at)


async def test_after_a_sleep_in_silence_the_time_is_the_clocks_again(thread: ThreadPoolExecutor) -> None:
    clock = Clock()
    microphone = RemoteMicrophone("a page", Numbering(), thread, clock)
    chunks = microphone.chunks(lambda: True)
    microphone.feed(numbered(*[0] * AT_REST_CHUNKS))
    for _ in range(AT_REST_CHUNKS):
        await anext(chunks)
    clock.now += 60.0
    microphone.feed(numbered(*[0] * AT_REST_CHUNKS))
    assert clock.now - (await anext(chunks)).started_at < AT_REST_CHUNKS * CHUNK_SECONDS + DRIFT_SECONDS


async def test_a_flood_is_dropped_and_counted(thread: ThreadPoolExecutor) -> None:
    clock = Clock()
    microphone = RemoteMicrophone("a page", Numbering(), thread, clock)
    for _ in range(1000):
        microphone.feed(numbered(*[0] * 31))
    assert microphone.dropped_chunks >= 31_000 - BUFFER_SECONDS / CHUNK_SECONDS - 31
    microphone.end()
    assert len(await taken(microphone)) * CHUNK_SECONDS <= BUFFER_SECONDS


async def test_nobody_is_woken_for_less_than_is_wanted(thread: ThreadPoolExecutor) -> None:
    microphone = RemoteMicrophone("a page", Numbering(), thread, Clock())
    came = asyncio.Event()

    async def wait() -> None:
        await anext(microphone.chunks(lambda: True))
        came.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(wait())
        for _ in range(AT_REST_CHUNKS - 1):
            microphone.feed(numbered(0))
            await asyncio.sleep(0)
        assert not came.is_set()
        microphone.feed(numbered(0)[:CHUNK_BYTES])
