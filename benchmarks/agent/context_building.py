"""What it takes to build a context with 20,000 journal entries behind it, against 200: it should be the same."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from time import perf_counter
from typing import Final

from agent.context.carried import ContextLimits
from agent.context.epoch import Prefix
from agent.context.epochs import Contexts
from agent.context.tokens import TokenCounter
from agent.model.interface import StreamItem
from agent.model.messages import Message, ToolSpec
from benchmarks.figure import Figure, milliseconds, run, short
from memory.json_value import Json
from memory.state.journal import Entry
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

FEW: Final = 200
MANY: Final = 20_000
"""Entries: of an hour, and of weeks."""

TURNS: Final = 20
"""Of the conversation that is built again."""

TOPICS: Final = ("context.message", "llm.requests", "llm.results", "speech.sentence_started", "run.state")
REPLY: Final = ("reply", '{"text": "It is as you said, and it will stay so for a while."}')


class Clocked(ScriptedModel):
    """Replies, and notes when it was asked."""

    asked_at = 0.0

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield a reply."""
        self.asked_at = perf_counter()
        self.script.append(calls(REPLY, prefix=f"c{len(messages)}"))
        async with aclosing(super().stream(messages, tools)) as items:
            async for item in items:
                yield item


def measure(*, quick: bool = False) -> Figure:
    """Build the context of a conversation anew from the journal, as after a restart; and go on to the first request."""
    return asyncio.run(_measure(MANY // 20 if quick else MANY, 2 if quick else 40))


async def _measure(many: int, count: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folders = {entries: Path(name) / str(entries) for entries in (FEW, many)}
        for entries, folder in folders.items():
            await asyncio.to_thread(folder.mkdir)
            await _lived(folder, entries)
        built: dict[int, list[float]] = {entries: [] for entries in folders}
        asked: dict[int, list[float]] = {entries: [] for entries in folders}
        for _ in range(count):
            for entries, folder in folders.items():
                seconds = await _after_a_restart(folder)
                built[entries].append(seconds[0])
                asked[entries].append(seconds[1])
    few, lots = (milliseconds("", asked[entries]) for entries in folders)
    request = f"event to first request, after a restart: {lots} against {few}, {short(lots.median / few.median)} ×"
    ours = milliseconds(f"a context read back, {many:,} journal entries behind it", built[many])
    against = milliseconds(f"the same, {FEW} entries behind it", built[FEW])
    return Figure("Building the context", ours, against, (request,))


async def _lived(folder: Path, entries: int) -> None:
    """Write so many entries of the same session, then hold a conversation."""
    async with a_mind(folder, [Clocked()]) as mind:
        event = spoken("long ago")
        for first in range(0, entries, 1000):
            numbers = range(first, min(first + 1000, entries))
            await mind.journal.append(*(_entry(number, event.owner_key, event.session_id) for number in numbers))
        for number in range(TURNS):
            await mind.handle(spoken(f"Question {number}: how is it there?"))


def _entry(number: int, owner: str, session: str) -> Entry:
    body: dict[str, Json] = {
        "epoch": f"old{number // 500}",
        "message": Message("user", f"{number}. " + "words " * 20).to_json(),
    }
    topic = TOPICS[number % len(TOPICS)]
    return Entry(topic, body, event_id=f"e{number // 10}", owner_key=owner, session_id=session)


async def _after_a_restart(folder: Path) -> tuple[float, float]:
    """Return the seconds until the context is there, and those from an event to the first request; not both at once."""
    model = Clocked()
    async with a_mind(folder, [model]) as mind:
        built = await _built(mind)
        began = perf_counter()
        await mind.handle(spoken("And now?"))
    return built, model.asked_at - began


async def _built(mind: TestMind) -> float:
    contexts = Contexts(mind.journal, mind.mind.bus, ContextLimits, TokenCounter())
    event = spoken("And now?")
    opened = await contexts.opened(event)
    assert opened is not None
    fresh = Contexts(mind.journal, mind.mind.bus, ContextLimits, TokenCounter())
    began = perf_counter()
    epoch = await fresh.current(event, "", Prefix(opened.system, opened.tools, opened.model))
    seconds = perf_counter() - began
    assert epoch.id == opened.id
    return seconds


if __name__ == "__main__":
    run(measure)
