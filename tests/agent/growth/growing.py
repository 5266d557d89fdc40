"""A mind that grows: a scripted model on a real mailbox, journal and graph, and a clock that a test moves."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from msgspec import Struct

from agent.context import block
from agent.event import Event
from agent.growth import cursor
from agent.growth.evidence import Evidence
from agent.growth.occasions import Nights, Occasion, Occasions, Reflections
from agent.growth.said import Said
from agent.mailbox import Mailbox
from agent.mailbox.mail import Purse
from agent.model.messages import Message
from agent.time.quiet import QuietHours
from agent.tools.growth import night_tools, reflection_tools
from agent.tools.memory import memory_tools
from agent.tools.tool import Tool
from memory.graph.graph import Graph
from memory.graph.name_usage import NameUsage
from memory.history.audit import AuditLog
from memory.history.schedule import save_unsaved
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.state.journal import Journal
from memory.vectors.embedding import Handles, NoEmbedder
from tests.agent.clock import Clock
from tests.agent.mind import Start, TestMind, a_mind
from tests.fakes import ScriptedModel, calls

DONE = calls(("complete_event", '{"summary": "looked back"}'), prefix="done")


@dataclass
class Growing:
    """What a test looks at."""

    mind: TestMind
    clock: Clock
    occasions: Occasions
    model: ScriptedModel
    hours: QuietHours
    """Six hours from the start, for three."""
    writer: Writer | None = None

    async def night(self) -> datetime | None:
        """Go into the next night, and look."""
        self.clock.advance((self.hours.next(self.clock()) - self.clock()).total_seconds() + 60)
        return await self.occasions.look()

    async def silence(self, seconds: float = 121.0) -> datetime | None:
        """Let so much time pass without a word, and look as the loop would then.

        The journal's times are the machine's: where that was slow, the clock comes up to it first.
        """
        self.clock.advance(max(0.0, (datetime.now(UTC) - self.clock()).total_seconds()) + seconds)
        return await self.occasions.look()

    async def waiting(self, kind: str = "reflection") -> list[Event]:
        return await self.mind.mailbox.waiting(kind, None)

    async def since(self, kind: str = "reflection", owner: str = "household") -> int:
        return await self.mind.journal.database.read(lambda c: cursor.since(c, owner, kind))


AMPLE = Purse(100_000, 1.0)


class Setup(Struct, frozen=True):
    """How it begins."""

    graph: Graph | None = None
    most_tokens: int = 8_000
    """Of what one look is shown."""
    tools: Sequence[Tool] = ()
    may_reflect: Callable[[str], bool] = lambda owner: True
    clock: Clock | None = None
    purse: Purse = AMPLE
    """Of a night."""
    has_model: Callable[[], bool] = lambda: True


@asynccontextmanager
async def growing(folder: Path, model: ScriptedModel, setup: Setup | None = None) -> AsyncIterator[Growing]:
    """Open the state in `folder`, as after a start of the machine; looks begin with the first one."""
    setup = setup or Setup()
    clock, writer = setup.clock or Clock(datetime.now(UTC)), None
    names, begins = NameUsage(), datetime.now(UTC) + timedelta(hours=6)
    hours = QuietHours(begins.time(), (begins + timedelta(hours=3)).time(), UTC)
    if setup.graph is not None:
        audit = AuditLog(folder / "audit")
        writer = Writer(setup.graph, audit, Snapshots(folder / "snapshots", audit))

    def own(journal: Journal, mailbox: Mailbox) -> list[Tool]:
        memory = memory_tools(writer, Handles(NoEmbedder()), names) if writer else []
        at_night = night_tools(evidence_of(journal)) if writer else []
        return [*memory, *at_night, *reflection_tools(Said(journal, lambda: setup.most_tokens)), *setup.tools]

    def evidence_of(journal: Journal) -> Evidence:
        assert writer is not None
        return Evidence(writer.graph, names, journal, UTC, clock)

    async with a_mind(folder, [model], own, start=Start(now=clock)) as mind:
        database = mind.journal.database
        wanted: list[Occasion] = [Reflections(mind.mailbox, database, setup.may_reflect, setup.has_model)]
        if writer is not None:
            counts, save = evidence_of(mind.journal).counts, partial(save_unsaved, writer)
            wanted.append(Nights(mind.mailbox, database, hours, setup.purse, setup.has_model, counts, save))
        looks = Occasions(mind.mailbox, database, wanted, lambda: False, clock.wait)
        mind.mailbox.observe_arrivals(looks.arrived)
        await database.write(cursor.begin)
        yield Growing(mind, clock, looks, model, hours, writer)


def replied(text: str, prefix: str = "r") -> Message:
    """An answer that replies, and no more."""
    return calls(("reply", json.dumps({"text": text})), prefix=prefix)


def listed(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return what the last result lists as said."""
    found = json.loads(messages[-1].content)
    return list(found["said"])


def event_in(messages: Sequence[Message]) -> block.Block:
    """Return the block of the event in hand."""
    found = [parsed for m in messages if m.role == "user" and (parsed := block.parse(m.content)) is not None]
    return found[-1]
