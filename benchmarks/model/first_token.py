"""The time to the first word through an adapter and through plain httpx, of the same questions to the same server."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from time import perf_counter
from typing import Final

import httpx

from agent.model.interface import ChatModel, TextDelta
from agent.model.messages import Message
from benchmarks.figure import Figure, milliseconds, short
from benchmarks.model_server import model_server

FEW: Final = 11
MANY: Final = 201
"""Messages in the list: a question early in the day, and one late in it."""

SENTENCE: Final = (
    "This is about as much as people and machines say to each other at a time, in a kitchen or elsewhere. "
)


def compared(name: str, what: str, connect: Callable[[str], ChatModel], *, quick: bool) -> Figure:
    """Return the figure of an adapter, which `connect` makes for a base URL; `FEW` is in its note."""
    with model_server() as url:
        return asyncio.run(_compared(name, what, (connect(url), url), 2 if quick else 60))


async def _compared(name: str, what: str, where: tuple[ChatModel, str], count: int) -> Figure:
    model, url = where
    await model.warm()
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        times = {length: await _in_turn(model, client, length, count) for length in (FEW, MANY)}
    await model.aclose()
    ours, plain = (milliseconds("", seconds) for seconds in zip(*times[FEW], strict=True))
    few = f"with {FEW} messages {ours} against {plain}: {short(ours.median / plain.median)} ×"
    many = [[ours for ours, _ in times[MANY]], [plain for _, plain in times[MANY]]]
    ours, plain = milliseconds(f"{what}, {MANY} messages", many[0]), milliseconds("plain httpx, the same", many[1])
    return Figure(name, ours, plain, (few, f"with {MANY} messages it adds {short(ours.median - plain.median)} ms"))


async def _in_turn(model: ChatModel, client: httpx.AsyncClient, length: int, count: int) -> list[tuple[float, float]]:
    """Return pairs of seconds. Each question continues a list that was sent just before, as in a conversation."""
    pairs = []
    messages = _conversation(length)
    for _ in range(count):
        await _through(model, messages[:-2])
        ours = await _through(model, messages)
        await _plainly(client, messages[:-2])
        pairs.append((ours, await _plainly(client, messages)))
    return pairs


def _conversation(length: int) -> list[Message]:
    """Return an epoch of so many messages, an odd number: system prompt, summary, and turns; a person's comes last."""
    turns = [Message("assistant" if number % 2 else "user", f"{number}. {SENTENCE * 2}") for number in range(2, length)]
    return [Message("system", SENTENCE * 40), Message("user", SENTENCE * 10), *turns]


async def _through(model: ChatModel, messages: Sequence[Message]) -> float:
    """Return the seconds to the first text, having read the whole answer."""
    began, first = perf_counter(), 0.0
    async with aclosing(model.stream(messages, [])) as items:
        async for item in items:
            if isinstance(item, TextDelta) and not first:
                first = perf_counter() - began
    return first


async def _plainly(client: httpx.AsyncClient, messages: Sequence[Message]) -> float:
    began, first = perf_counter(), 0.0
    options = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    body = {**options, "messages": [message.to_json() for message in messages]}
    async with client.stream("POST", "/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if not first and line.startswith("data: {") and _has_text(line):
                first = perf_counter() - began
    return first


def _has_text(line: str) -> bool:
    return any(choice["delta"].get("content") for choice in json.loads(line.removeprefix("data: "))["choices"])
