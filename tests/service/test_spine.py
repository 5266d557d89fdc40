"""The spine against a real server of the model's protocol: one call, sound before the end, a prefix that holds."""

import asyncio
import wave
from pathlib import Path

import numpy as np
import pytest

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.output.voice import FIRST_SOUND
from appliance.service import conversation_over, serve
from appliance.wiring.box import Box, open_box
from tests.agent.openai_server import Gate, OpenAiServer, reply
from tests.service.process import Household, speak

TWO = "Here is the first sentence of it. And here is a second one, which comes much later."


def home_of(tmp_path: Path, server: OpenAiServer, adapter: str) -> Household:
    name = "m" if adapter == "openai" else "openai/m"
    model = {"provider": adapter, "base_url": server.url, "name": name, "api_key_env": "TEST_KEY"}
    return Household(tmp_path, {"model": dict(model)})


async def converse(home: Household, question: Path, answer: Path) -> None:
    config = load(home.write(), {"HOME": str(home.folder), "TEST_KEY": "sk-test"})
    async with open_box(config, RunOptions(input=question, output=answer, fast=True)) as box:
        await serve(box, lambda: conversation_over(box))


def sound_seconds(samples: "np.ndarray[tuple[int], np.dtype[np.int16]]", rate: int) -> float:
    return float(np.count_nonzero(np.abs(samples) > 100) / rate)


@pytest.mark.shows("F4", "V21")
@pytest.mark.parametrize("adapter", ["openai", "litellm"])
async def test_it_is_heard_before_the_server_has_finished_sending(tmp_path: Path, adapter: str) -> None:
    gate = Gate()
    heard_while_held: list[bool] = []

    async def open_when_heard(box: Box) -> None:
        async for _ in box.household.bus.observe(FIRST_SOUND):
            heard_while_held.append(gate.reached.is_set())
            gate.open()
            return

    async with OpenAiServer() as server:
        server.enqueue(reply(TWO[:40], gate, TWO[40:]))
        home = home_of(tmp_path, server, adapter)
        question = await asyncio.to_thread(speak, "What time is it?", tmp_path / "question.wav")
        config = load(home.write(), {"HOME": str(home.folder), "TEST_KEY": "sk-test"})
        async with open_box(config, RunOptions(input=question, output=tmp_path / "a.wav")) as box:

            async def until_over() -> None:
                async with asyncio.timeout(120), asyncio.TaskGroup() as group:
                    group.create_task(open_when_heard(box))
                    group.create_task(conversation_over(box))

            await serve(box, until_over)
    assert heard_while_held == [True]
    assert home.states() == ["completed"]


@pytest.mark.shows("F1", "B3", "D6", "D11")
@pytest.mark.parametrize("adapter", ["openai", "litellm"])
async def test_a_spoken_question_costs_one_call_and_the_second_starts_with_the_first_byte_for_byte(
    tmp_path: Path, adapter: str
) -> None:
    async with OpenAiServer() as server:
        server.enqueue(reply(TWO), reply("You are very welcome, my friend."))
        home = home_of(tmp_path, server, adapter)
        for number, words in enumerate(("What time is it?", "Thank you."), start=1):
            question = await asyncio.to_thread(speak, words, tmp_path / f"question-{number}.wav")
            await converse(home, question, tmp_path / f"answer-{number}.wav")
            assert len(server.requests) == number, "one call each"
        first, second = server.requests
        assert "What time is it?" in first.messages[-1]["content"]
        assert home.states() == ["completed", "completed"]
        assert home.spoken()[:2] == [TWO[:33], TWO[34:]]
        assert second.raw_messages.startswith(first.raw_messages)
        assert len(second.messages) == len(first.messages) + 3
        assert second.json["tools"] == first.json["tools"]
    with wave.open(str(tmp_path / "answer-1.wav")) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16)
    assert sound_seconds(samples, 24_000) > 3
