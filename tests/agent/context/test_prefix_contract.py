"""The prefix contract through the real loop: what a server that caches exact prefixes can take from its cache."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from agent.context.carried import ContextLimits
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.prompts import compose
from tests.agent.mind import TestMind, a_mind, spoken
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, call, calls, reply
from tests.agent.openai_server import text as text_answer

EVENTS = 40
"""Of a day; the benchmark takes 200."""

KEPT = 4
"""Requests the server remembers: one conversation's."""


class Day:
    """Answers as a model does through a day: mostly a reply, sometimes a look at things first, sometimes a summary."""

    def __init__(self, server: OpenAiServer, seed: int, kept: int = KEPT) -> None:
        self._server = server
        self._kept = kept
        self._chance = random.Random(seed)
        self._left = 0
        self.bodies: list[Recorded] = []
        server.default = self.answer

    def answer(self, request: Recorded) -> Scripted:
        self.bodies.append(request)
        del self._server.requests[: -self._kept]
        if request.json["messages"][-1]["role"] == "user":
            self._left = self._chance.choice([0, 0, 1, 2, 3])
        if self._left:
            self._left -= 1
            return calls(call("check_mailbox", {}), said="Let me see. " * self._chance.randrange(3))
        if self._chance.random() < 0.05:
            self._left = 0
            return text_answer("All is well.")
        return reply("It is as you said. " * self._chance.randrange(1, 6))


async def live(mind: TestMind, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(count):
        await mind.handle(spoken(f"Question {number}: {'how is it there? ' * chance.randrange(1, 8)}"))


async def shares(mind: TestMind) -> tuple[float, float]:
    """Return the cached shares of calls 2..n of an event, and of its first call within an epoch, over all tokens."""
    later, first = [0, 0], [0, 0]
    asked: dict[str, str] = {}
    seen: set[str] = set()
    epochs: set[str] = set()
    for entry in await mind.journal.entries(topic=("llm.requests", "llm.results")):
        if entry.topic == "llm.requests":
            asked[entry.event_id] = str(entry.body["epoch"])
            continue
        epoch = asked[entry.event_id]
        is_later, is_opening = entry.event_id in seen, epoch not in epochs
        seen.add(entry.event_id)
        epochs.add(epoch)
        if is_opening and not is_later:
            continue  # nothing can be in the cache of an epoch's first call but the system prompt
        share = later if is_later else first
        share[0] += int(str(entry.body["cached_tokens"]))
        share[1] += int(str(entry.body["prompt_tokens"]))
    return later[0] / later[1], first[0] / first[1]


@pytest.mark.shows("D11", "D6")
async def test_a_day_of_events_comes_out_of_the_cache(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        Day(server, 5)
        model = OpenAiCompatibleModel(server.url, "m")
        limits = ContextLimits(compress_above_tokens=6_000)
        async with a_mind(tmp_path, [model], limits=limits, system=compose()) as mind:
            await live(mind, EVENTS, 7)
            later, first = await shares(mind)
            epochs = await mind.journal.entries(topic="context.epoch")
        await model.aclose()
    assert len(epochs) > 1, "the day should be long enough for a compression"
    assert later >= 0.9
    assert first >= 0.8


@pytest.mark.shows("D6", "B15")
async def test_within_an_epoch_each_request_begins_with_the_one_before(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        day = Day(server, 11)
        model = OpenAiCompatibleModel(server.url, "m")
        async with a_mind(tmp_path, [model], system=compose()) as mind:
            await live(mind, 10, 13)
        await model.aclose()
    assert len(day.bodies) > 10
    for earlier, later in pairwise(day.bodies):
        assert later.raw_messages.startswith(earlier.raw_messages)
        assert later.json["tools"] == earlier.json["tools"]
