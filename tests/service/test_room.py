"""The real thing on a sound card made of software: a question played into the microphone, the answer recorded."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.sound import write_wav
from tests.agent.openai_server import OpenAiServer, reply
from tests.audio.spoken import silence, word_errors
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.service.process import LOST, Household, recorded, speak


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        yield card


@pytest.mark.sound
@pytest.mark.shows("V1", "V2", "G18")
async def test_a_question_into_the_microphone_is_answered_from_the_loudspeaker(
    card: VirtualSound, tmp_path: Path
) -> None:
    async with OpenAiServer() as server:
        server.enqueue(reply("Good morning."))
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
        with home.running("run", environment=card.environment) as service:
            await asyncio.to_thread(service.until, "recognizer_ready")
            with card.recording(tmp_path / "answer.wav"):
                await asyncio.to_thread(card.say, question)
                await asyncio.to_thread(service.until, "run_finished")
            assert await asyncio.to_thread(service.stop) == 0
        (heard,) = home.words()
        assert word_errors("Hello there.", heard) <= LOST
        assert heard in server.requests[0].messages[-1]["content"]
    assert home.spoken() == ["Good morning."]
    assert home.states() == ["completed"], "it did not answer itself"
    (answer,) = await asyncio.to_thread(recorded, home, tmp_path / "answer.wav")
    assert word_errors("Good morning.", answer) <= LOST


SAID = (
    "Turn on the kitchen light. Set a timer for five minutes. What is the weather today? "
    "I would take an umbrella, for there may be rain. The bus leaves at ten past nine, so there is time for breakfast."
)
"""Orders to itself, if it heard them."""


@pytest.mark.sound
@pytest.mark.shows("V4")
@pytest.mark.parametrize("stalls", [0, 5])
async def test_it_never_answers_itself(card: VirtualSound, tmp_path: Path, stalls: int) -> None:
    """The loudspeaker's sound comes back into the microphone, as in a room; also where the machine stands still."""
    loopback = ("load-module", "module-loopback", "source=speaker.monitor", "sink=mic_in", "latency_msec=40")
    module = card.run("pactl", *loopback).strip()
    quiet, between, stall = (write_wav(tmp_path / f"{each}.wav", silence(each)) for each in (2.5, 0.9, 0.8))
    try:
        async with OpenAiServer() as server:
            server.enqueue(reply(SAID))
            home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
            question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
            with home.running("run", environment=card.environment) as service:
                await asyncio.to_thread(service.until, "recognizer_ready")
                await asyncio.to_thread(card.say, question)
                await asyncio.to_thread(service.until, "sentence_started")
                for _ in range(stalls):
                    await asyncio.to_thread(card.say, between)
                    service.process.send_signal(signal.SIGSTOP)
                    await asyncio.to_thread(card.say, stall)
                    service.process.send_signal(signal.SIGCONT)
                await asyncio.to_thread(service.until, "run_finished")
                await asyncio.to_thread(card.say, quiet)
                told = json.loads((await asyncio.to_thread(home.run, "status", "--json")).stdout)
                assert await asyncio.to_thread(service.stop) == 0
            assert len(server.requests) == 1
    finally:
        card.run("pactl", "unload-module", module)
    # How many pieces were cut is a matter of real time: where the machine is too busy to cancel the echo, its sentences
    # are recognized, and dismissed as its own. tests/room/test_own_voice.py counts them, on its own clock.
    assert home.states() == ["completed"], "nothing of its own became an order"
    assert told["ears"]["utterances"] >= 1
    assert told["ears"]["gated_chunks"] > 60, "two seconds of its own voice at least, counted and not recognized"
    assert len(home.spoken()) == 5
