"""How much of a day's prompts comes out of the cache of a server that caches exact prefixes."""

import asyncio
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.event import ASR_TRANSCRIPT, SELF_CREATED, TIMER, USER_TEXT, Event
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.prompts import compose
from benchmarks.figure import Figure, Series, run
from tests.agent.context.test_prefix_contract import Day, shares
from tests.agent.mind import a_mind, spoken, typed
from tests.agent.openai_server import OpenAiServer

SHOWS = ("D11",)

LATER: Final = 0.9
FIRST: Final = 0.8
"""The contract: the cached share of calls 2..n of an event, and of the first call of an event within an epoch."""

EVENTS: Final = 200

KEPT: Final = 16
"""Requests the server remembers: of two conversations, and of summaries between them."""


def measure(*, quick: bool = False) -> Figure:
    """Live a day of mixed events through the real loop, with compression, and reckon from the journal."""
    return asyncio.run(_measure(30 if quick else EVENTS))


async def _measure(count: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        async with OpenAiServer() as server:
            Day(server, 5, KEPT)
            model = OpenAiCompatibleModel(server.url, "m")
            limits = ContextLimits(compress_above_tokens=6_000)
            async with a_mind(Path(name), [model], limits=limits, system=compose()) as mind:
                for event in mixed(count, 7):
                    await mind.handle(event)
                later, first = await shares(mind)
                epochs = len(await mind.journal.entries(topic=EPOCH))
                calls = len(await mind.journal.entries(topic="llm.results"))
            await model.aclose()
    ours = Series("of the prompt tokens of calls 2..n of an event came out of the cache", "%", (100 * later,))
    least = Series("what the contract asks for", "%", (100 * LATER,))
    across = f"of an event's first call within an epoch {100 * first:.1f} % (asked for: {100 * FIRST:.0f} %)"
    lived = f"{count} events (spoken, typed, timers, its own), {calls} calls, {epochs} epochs in two sessions"
    remembers = f"the server remembers the last {KEPT} requests, byte for byte"
    return Figure("A day's prompts out of the cache", ours, least, (across, lived, remembers))


def mixed(count: int, seed: int) -> Sequence[Event]:
    """Return a day's events: most of them spoken, some typed at one terminal, timers, and its own work."""
    chance = random.Random(seed)
    return [_event(number, chance) for number in range(count)]


def _event(number: int, chance: random.Random) -> Event:
    words = f"Question {number}: {'how is it there? ' * chance.randrange(1, 8)}"
    kind = chance.choices((ASR_TRANSCRIPT, USER_TEXT, TIMER, SELF_CREATED), (5, 2, 2, 1))[0]
    if kind == ASR_TRANSCRIPT:
        return spoken(words)
    if kind == USER_TEXT:
        return typed(words)
    return Event(kind, words, source="timer" if kind == TIMER else "self", priority=20 if kind == TIMER else 0)


if __name__ == "__main__":
    run(measure)
