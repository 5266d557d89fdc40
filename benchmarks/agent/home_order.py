"""From an order in words to the call that leaves for Home Assistant, without a model; against hassil's matching alone.

The server stands in for Home Assistant: what that takes to understand the order itself is not in the figure.
"""

import asyncio
from collections.abc import Sequence
from time import perf_counter

from agent.context.block import Block, render
from agent.home.asking import Sentences
from agent.home.consent import Consent
from agent.home.home import Home
from agent.intents.model import OfflineModel
from agent.intents.reading.understanding import Understanding
from agent.model.interface import Answer
from agent.model.messages import Message
from agent.tools.tool import tool
from benchmarks.figure import Figure, milliseconds, run
from memory.json_value import Json
from tests.agent.home_server import small_home

ORDERS = ("turn on the bed light", "打开床头灯")

ROUNDS = 60


def measure(*, quick: bool = False) -> Figure:
    """Return milliseconds from the words to the call, after what it may open was found out."""
    ours, against = asyncio.run(_measured(3 if quick else ROUNDS))
    return Figure(
        "Order to the call that leaves, without a model",
        milliseconds("words to the call to Home Assistant, with what needs a yes found out first", ours),
        milliseconds("hassil's matching of the same words, alone", against),
        ("The server answers at once; a real Home Assistant adds what it takes to understand the order.",),
    )


async def _measured(rounds: int) -> tuple[Sequence[float], Sequence[float]]:
    model, understanding = OfflineModel(), Understanding()
    ours, against = list[float](), list[float]()
    async with small_home() as server, asyncio.TaskGroup() as group:
        home = Home(server.url, server.token)
        running = group.create_task(home.run())
        await home.until("connected")
        left = server.was_asked["conversation/process"]
        sentences = Sentences(home, Consent(home, "en"), "en")
        await model.warm()
        for number in range(rounds):
            order = ORDERS[number % len(ORDERS)]
            began = perf_counter()
            understanding(order)
            against.append(perf_counter() - began)
            began = perf_counter()
            left.clear()
            async with asyncio.TaskGroup() as both:
                both.create_task(_ordered(model, sentences, order))
                await left.wait()
                ours.append(perf_counter() - began)
        running.cancel()
    return ours, against


async def _ordered(model: OfflineModel, sentences: Sentences, order: str) -> None:
    """Do what the loop does with an order: ask the model, ask what the call opens, carry it out."""

    async def home_say(sentence: str) -> Json:
        """Say it."""
        return await sentences.carry_out(sentence)

    block = Block("e", "asr_transcript", "mic", order, is_human=True, budget=10)
    messages = [Message("system", "You are nakari."), Message("user", render(block))]
    async for item in model.stream(messages, [tool(home_say).spec]):
        if isinstance(item, Answer):
            assert [call.name for call in item.message.tool_calls] == ["home_say"]
    assert await sentences.asks_first(order) == ""
    await sentences.carry_out(order)


if __name__ == "__main__":
    run(measure)
