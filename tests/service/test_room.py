"""The real thing on a sound card made of software: a question played into the microphone, the answer recorded."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agent.openai_server import OpenAiServer, reply
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.service.process import Household, speak

ORDERS = "Turn on the kitchen light. Set a timer for five minutes. What is the weather today?"


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


def heard_in(home: Household, recording: Path) -> list[str]:
    """What a recording says, recognized again by the same ears."""
    done = home.run("hear", str(recording))
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["text"] for line in done.stdout.splitlines()]


@contextmanager
def coming_back(card: VirtualSound) -> Iterator[None]:
    """Let the loudspeaker's sound come back into the microphone, as in a room, while the block lasts."""
    loopback = ("load-module", "module-loopback", "source=speaker.monitor", "sink=mic_in", "latency_msec=40")
    module = card.run("pactl", *loopback).strip()
    try:
        yield
    finally:
        card.run("pactl", "unload-module", module)


@pytest.mark.sound
@pytest.mark.shows("V1", "V2", "V4", "G18")
async def test_a_question_into_the_microphone_is_answered_from_the_loudspeaker_and_it_never_answers_itself(
    card: VirtualSound, tmp_path: Path
) -> None:
    quiet = tmp_path / "quiet.wav"
    silence = ["sox", "-n", "-r", "16000", "-c", "1", str(quiet), "trim", "0", "2.5"]
    await asyncio.to_thread(subprocess.run, silence, check=True)
    async with OpenAiServer() as server:
        server.enqueue(reply("Good morning."), reply(ORDERS))
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
        with home.running("run", environment={**os.environ, **card.environment}) as service:
            await asyncio.to_thread(service.until, "recognizer_ready")
            with card.recording(tmp_path / "answer.wav"):
                await asyncio.to_thread(card.say, question)
                await asyncio.to_thread(service.until, "run_finished")
            assert home.spoken() == ["Good morning."]
            with coming_back(card):  # what it says would be orders to it
                await asyncio.to_thread(card.say, question)
                await asyncio.to_thread(service.until, "run_finished")
                await asyncio.to_thread(card.say, quiet)
                told = json.loads((await asyncio.to_thread(home.run, "status", "--json")).stdout)
            assert await asyncio.to_thread(service.stop) == 0
        assert len(server.requests) == 2
        assert "Hello there." in server.requests[0].messages[-1]["content"]
    assert await asyncio.to_thread(heard_in, home, tmp_path / "answer.wav") == ["Good morning."]
    # How many pieces were cut is a matter of real time: where the machine is too busy to cancel the echo, its sentences
    # are recognized, and dismissed as its own. tests/room/test_own_voice.py counts them, on its own clock.
    assert home.states() == ["completed", "completed"], "nothing of its own became an order"
    assert told["ears"]["utterances"] >= 2
    assert told["ears"]["gated_chunks"] > 60, "two seconds of its own voice at least, counted and not recognized"
    assert len(home.spoken()) == 1 + 3
