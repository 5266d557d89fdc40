"""A model that never stops making events, on virtual time: what stops the runaway, and when people are answered."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.context import block
from agent.context.carried import ContextLimits
from agent.context.summary import REQUEST
from agent.event import Event
from agent.mailbox import Allowance, Mailbox
from agent.model.interface import StreamItem
from agent.model.messages import Message, ToolSpec
from agent.tools.timers import timer_tools
from tests.agent.mind import NOON, Start, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import EPOCH, VirtualTimeLoop, passed

THOUGHT: Final = 0.1
"""Seconds that a call of this model takes."""

BEGINNING: Final = NOON.replace(hour=23, minute=59)

LIMITS: Final = ContextLimits(10, 1_000, 3_000)
"""A small context, so that it is begun anew often."""

QUESTION: Final = "what time is it"


@dataclass
class Runaway:
    """What became of a model that makes children, timers and series in each turn, as many as it can at a time."""

    allowance: Allowance
    own_calls: dict[str, int] = field(default_factory=dict)
    """Model calls of its own work, by day, as they are told in the status."""
    calls: int = 0
    """Model calls for all that is no person's."""
    waits: list[float] = field(default_factory=list)
    """Virtual seconds from each question of a person to the end of its answer."""
    calls_meanwhile: list[int] = field(default_factory=list)
    """Model calls for anything else in that time."""
    deepest: int = 0
    made: list[datetime] = field(default_factory=list)
    """When each event was made that no person asked for, in order."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Results of the calls that were refused, by their beginning."""

    @property
    def most_per_minute(self) -> int:
        """The most events made in any minute."""
        minute = timedelta(minutes=1)
        return max((sum(at - minute < each <= at for each in self.made) for at in self.made), default=0)


class Now(Struct, frozen=True):
    """The time of day by a virtual clock, on any thread; it begins a minute before midnight."""

    loop: asyncio.AbstractEventLoop

    def __call__(self) -> datetime:
        return BEGINNING + timedelta(seconds=self.loop.time() - EPOCH)

    async def wait(self, changed: asyncio.Event, until: datetime | None) -> None:
        """Wait for a change or the moment; a `Wait`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if until is None else max(0.0, (until - self()).total_seconds())):
                await changed.wait()


class RunawayModel(ScriptedModel):
    """Makes more events whatever it is asked, but for a person who asks the time."""

    def __init__(self, told: Runaway, now: Now) -> None:
        super().__init__(name="runaway")
        self._now = now
        self._told = told
        self.others = 0
        """Calls for anything but the question of the time."""

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        event = newest_event(messages)
        is_question = event is not None and event.words == QUESTION
        self.others += not is_question
        if event is not None and not event.is_human and messages[-1] is not REQUEST:
            self._told.calls += 1
        self._told.refusals.update(m.content[:24] for m in messages[-5:] if m.role == "tool" and "error:" in m.content)
        await passed(THOUGHT)
        prefix = f"c{len(self.requests)}"
        self.script.append(calls(("reply", '{"text": "It is noon."}'), prefix=prefix) if is_question else _more(prefix))
        async for item in super().stream(messages, tools):
            yield item


def newest_event(messages: Sequence[Message]) -> block.Block | None:
    """Return the event in hand as the messages tell it."""
    blocks = (block.parse(message.content) for message in reversed(messages) if message.role == "user")
    return next((found for found in blocks if found is not None), None)


def _more(prefix: str) -> Message:
    """Return calls whose words differ each time, so that none is refused for being the same one again."""
    return calls(
        ("create_event", f'{{"content": "do {prefix}", "budget": 1000, "priority": 9}}'),
        ("create_event", f'{{"content": "think of {prefix}", "type": "reflection"}}'),
        ("set_timer", f'{{"seconds": 5, "label": "{prefix}"}}'),
        ("set_timer", f'{{"seconds": 15, "label": "again {prefix}", "repeat": true}}'),
        ("create_event", f'{{"content": "and {prefix}"}}'),
        prefix=prefix,
    )


async def run_away(folder: Path, told: Runaway, seconds: float, questions: Sequence[float]) -> None:
    """Let a person's words begin it, and others ask the time at these seconds, for so many seconds in all."""
    now = Now(asyncio.get_running_loop())
    model = RunawayModel(told, now)
    start = Start(mailbox=lambda database: Mailbox(database, now, now.wait, told.allowance))
    began = now.loop.time()
    async with a_mind(folder, [model], lambda _, box: timer_tools(box, now), LIMITS, start=start) as mind:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(mind.loop.run()), group.create_task(mind.loop.watch())]
            await mind.mailbox.enqueue(spoken("plan the holidays"))
            for moment in questions:
                await passed(began + moment - now.loop.time())
                await _ask(mind, model, told)
            await passed(began + seconds - now.loop.time())
            for task in running:
                task.cancel()
        await mind.journal.database.read(lambda connection: _look(connection, told))


async def _ask(mind: TestMind, model: RunawayModel, told: Runaway) -> None:
    """Ask the time, and wait until that event is put away."""
    event: Event = spoken(QUESTION)
    loop, others, changed = asyncio.get_running_loop(), model.others, asyncio.Event()
    mind.mailbox.observe_changes(changed.set)
    asked_at = loop.time()
    await mind.mailbox.enqueue(event)
    while await mind.state_of(event) != "completed":
        changed.clear()
        await changed.wait()
    told.waits.append(loop.time() - asked_at)
    told.calls_meanwhile.append(model.others - others)


def _look(connection: sqlite3.Connection, told: Runaway) -> None:
    rows = connection.execute("SELECT depth, made_at FROM own_work WHERE depth > 0 ORDER BY made_at").fetchall()
    told.deepest = max(row["depth"] for row in rows)
    spent = connection.execute("SELECT day, model_calls FROM own_spending").fetchall()
    told.own_calls = {row["day"]: row["model_calls"] for row in spent}
    told.made = [datetime.fromisoformat(row["made_at"]) for row in rows if row["made_at"]]


def runaway(folder: Path, allowance: Allowance, seconds: float, questions: Sequence[float]) -> Runaway:
    """Return what became of it in so many seconds of virtual time."""
    told = Runaway(allowance)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run_away(folder, told, seconds, questions))
    return told
