"""The first second: what is said while it starts is heard."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.openai_server import OpenAiServer, reply
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.service.process import SECONDS, Household, Running, speak


@pytest.fixture
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


def until_recording(card: VirtualSound, service: Running, streams: int) -> None:
    """Return when somebody records who did not before."""
    give_up_at = time.monotonic() + SECONDS
    while card.streams() <= streams:  # each look starts a program, which leaves the processor to others meanwhile
        assert service.process.poll() is None, service.lines
        assert time.monotonic() < give_up_at, service.lines


@pytest.mark.sound
@pytest.mark.shows("H9", "V1")
async def test_what_is_said_while_it_starts_is_answered(card: VirtualSound, tmp_path: Path) -> None:
    question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
    async with OpenAiServer() as server:
        server.enqueue(reply("Good morning."))
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        streams = card.streams()
        with home.running("run", environment={**os.environ, **card.environment}) as service:
            await asyncio.to_thread(until_recording, card, service, streams)
            started = [line["event"] for line in service.log]
            await asyncio.to_thread(card.say, question)
            await asyncio.to_thread(service.until, "run_finished")
            assert await asyncio.to_thread(service.stop) == 0
    assert "service_started" not in started
    assert "Hello there." in server.requests[0].messages[-1]["content"]
    assert home.states() == ["completed"]
